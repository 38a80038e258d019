package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage/anystore"
)

// block is a fenced block of a document.
type block struct {
	// info is the text after the fence: `sh`, `sh build`, `sh daemon`, `sh client` or `text`.
	info string
	text string
	// line is the number of its first line.
	line int
}

// blocks returns the fenced blocks of a section of a document, in order.
func blocks(t *testing.T, text, section string) []block {
	t.Helper()
	var found []block
	var open *block
	inside := false
	for i, line := range strings.Split(text, "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && open == nil:
			open = &block{info: fence, line: i + 1}
		case isFence:
			if inside {
				found = append(found, *open)
			}
			open = nil
		case open != nil:
			open.text += line + "\n"
		case strings.HasPrefix(line, "## "):
			inside = line == "## "+section
		}
	}
	require.NotEmpty(t, found, "no blocks below %q", section)
	return found
}

// TestReadmeCommands runs the two commands of the README. The second would run this test again, so only its help and
// the list of this package's tests are checked.
func TestReadmeCommands(t *testing.T) {
	needs(t, "bash")
	found := blocks(t, document(t, "README.md"), "Two commands")
	require.Len(t, found, 3)

	example := exec.CommandContext(t.Context(), "bash", "-c", found[0].text)
	example.Dir = repo
	out, err := example.Output()
	require.NoError(t, err)
	requireShown(t, "README.md", found[1], string(out))
	require.Contains(t, string(out), "Summary")

	tests := strings.TrimSpace(found[2].text)
	require.Equal(t, "go run -C tools ./verify", tests)
	verify := func(args ...string) string {
		words := slices.Concat(strings.Fields(tests), args)
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Dir = repo
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	require.Contains(t, verify("help"), "Without steps: tools, lint, check-generate, test, python, typescript.")
	require.Contains(t, verify("test", "./e2e", "--", "-list", "Readme"), t.Name()+"\n")
	require.True(t, strings.HasSuffix(document(t, ".ci/run"), "\nexec "+tests+"\n"), "CI runs the same")
}

// TestReadmeQuickStart runs the quick start step by step, and compares each output with the README.
func TestReadmeQuickStart(t *testing.T) {
	anystore.NeedsFile(t, "the document's command names a file")
	needs(t, "bash", "seq", "sed", "grep", "cut", "uniq", "head")
	folder := t.TempDir()
	var steps []block
	var shown [][]block
	addr := ""
	for _, b := range blocks(t, document(t, "README.md"), "Quick start: the daemon") {
		switch b.info {
		case "sh build":
			buildAsDocumented(t, folder, b)
		case "sh daemon":
			addr = startDaemon(t, folder, strings.TrimSpace(b.text))
		case "sh client":
			steps = append(steps, b)
			shown = append(shown, nil)
		case "text":
			require.NotEmpty(t, steps)
			shown[len(steps)-1] = append(shown[len(steps)-1], b)
		default:
			t.Fatalf("README.md:%d: a block of kind %q", b.line, b.info)
		}
	}
	require.NotEmpty(t, addr)
	require.GreaterOrEqual(t, len(steps), 8)

	// One shell runs all steps, since later ones use variables of earlier ones. The output of each step goes into a
	// file.
	var script strings.Builder
	script.WriteString("set -eu\n")
	for i, step := range steps {
		fmt.Fprintf(&script, "{\n%s\n} > answer.%d\n", strings.ReplaceAll(step.text, defaultAddress, addr), i)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script.String())
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Empty(t, string(out))

	checked := 0
	for i, expected := range shown {
		answer, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("answer.%d", i)))
		require.NoError(t, err)
		for _, b := range expected {
			requireShown(t, "README.md", b, string(answer))
			checked++
		}
	}
	require.GreaterOrEqual(t, checked, 8)
	summary, err := os.ReadFile(filepath.Join(folder, "events.json"))
	require.NoError(t, err)
	require.Contains(t, string(summary), "Never touch go.mod. [#1]", "the drawing at the top promises this line")
}

// needs skips a test if a program is missing.
func needs(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
}

// buildAsDocumented runs the build commands, with their outputs in a folder instead of the repository. It uses the
// repository's own grpcurl if that is built.
func buildAsDocumented(t *testing.T, folder string, b block) {
	t.Helper()
	for line := range strings.Lines(strings.TrimSpace(b.text)) {
		fields := strings.Fields(line)
		require.Equal(t, "go", fields[0])
		at := slices.Index(fields, "-o") + 1
		require.Positive(t, at)
		output := filepath.Join(folder, strings.TrimPrefix(fields[at], "../"))
		require.NoError(t, os.MkdirAll(filepath.Dir(output), 0o755))
		built := filepath.Join(repo, ".bin", filepath.Base(output))
		if _, err := os.Stat(built); err == nil {
			require.NoError(t, os.Symlink(built, output))
			continue
		}
		fields[at] = output
		cmd := exec.CommandContext(t.Context(), fields[0], fields[1:]...)
		cmd.Dir = repo
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
}
