package planted

import (
	"fmt"
	"strings"
)

// toolset names an agent's tools, with names and arguments that real agents use.
type toolset struct {
	shell, read, edit string
	shellArgs         func(command string) string
	readArgs          func(path string) string
	editArgs          func(path, before, after string) string
	edited            func(path string) string
}

var toolsets = []toolset{
	{
		shell: "Bash", read: "Read", edit: "Edit",
		shellArgs: func(c string) string { return mustJSON(map[string]any{"command": c, "description": "Run it"}) },
		readArgs:  func(p string) string { return mustJSON(map[string]any{"file_path": "/repo/" + p}) },
		editArgs: func(p, before, after string) string {
			return mustJSON(map[string]any{"file_path": p, "old_string": before, "new_string": after})
		},
		edited: func(p string) string { return "The file " + p + " has been updated successfully." },
	},
	{
		shell: "bash", read: "read", edit: "edit",
		shellArgs: func(c string) string { return mustJSON(map[string]any{"command": c}) },
		readArgs:  func(p string) string { return mustJSON(map[string]any{"path": p, "offset": 1}) },
		editArgs: func(p, before, after string) string {
			return mustJSON(map[string]any{"path": p, "oldText": before, "newText": after})
		},
		edited: func(p string) string { return "Successfully replaced text in " + p + "." },
	},
	{
		shell: "exec_command", read: "read_file", edit: "apply_patch",
		shellArgs: func(c string) string { return mustJSON(map[string]any{"cmd": c, "workdir": "/repo"}) },
		readArgs:  func(p string) string { return mustJSON(map[string]any{"file_path": p}) },
		editArgs: func(p, before, after string) string {
			return mustJSON(map[string]any{"input": "*** Begin Patch\n*** Update File: " + p + "\n@@\n-" + before + "\n+" + after + "\n*** End Patch"})
		},
		edited: func(string) string { return "Success. Updated the following files." },
	},
}

// source returns lines of code with words that are common in code.
func (g *generator) source(lines int) string {
	var b strings.Builder
	for i := range max(1, min(lines, 4000)) {
		m, p := g.pick(modules), g.pick(parts)
		switch g.rng.IntN(7) {
		case 0:
			fmt.Fprintf(&b, "%5d\tfunc (s *%s) %s(ctx context.Context, id string) error {\n", i, m, p)
		case 1:
			fmt.Fprintf(&b, "%5d\t\treturn fmt.Errorf(\"%s: must not be empty: %%w\", err)\n", i, m)
		case 2:
			fmt.Fprintf(&b, "%5d\t// %s never returns an error here, see %s.\n", i, m, p)
		case 3:
			fmt.Fprintf(&b, "%5d\t\tif err := s.%s.%s(ctx); err != nil {\n", i, m, p)
		case 4:
			fmt.Fprintf(&b, "%5d\t\t\"error_%s\": \"%s failed\",\n", i, m, p)
		case 5:
			fmt.Fprintf(&b, "%5d\t}\n", i)
		default:
			fmt.Fprintf(&b, "%5d\t\t%s := new%s(%q, %d)\n", i, p, m, p, g.rng.IntN(5000))
		}
	}
	return b.String()
}

// logLines returns harmless lines of a log or of a test run.
func (g *generator) logLines(lines int) string {
	var b strings.Builder
	for range min(lines, 4000) {
		m, p := g.pick(modules), g.pick(parts)
		switch g.rng.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "ok  \texample.test/%s/%s\t0.%03ds\n", m, p, g.rng.IntN(1000))
		case 1:
			fmt.Fprintf(&b, "%s %s: 0 errors, %d warnings\n", m, p, g.rng.IntN(9))
		case 2:
			fmt.Fprintf(&b, "INFO  [%s] %s handled in %d ms\n", m, p, g.rng.IntN(900))
		default:
			fmt.Fprintf(&b, "=== RUN   Test_%s_%s\n", m, p)
		}
	}
	return b.String()
}

// matches returns the output of a search.
func (g *generator) matches(lines int) string {
	var b strings.Builder
	for range min(lines, 4000) {
		fmt.Fprintf(&b, "%s/%s/%s%s:%d:\tdefer s.%s.Close() // error is logged\n", g.pick(roots), g.pick(modules), g.pick(parts), g.pick(ends), g.rng.IntN(900), g.pick(parts))
	}
	return b.String()
}
