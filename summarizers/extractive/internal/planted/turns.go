package planted

import (
	"encoding/json"
	"fmt"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// request adds a user message with a request and so many rules. The request of the newest one is the last request.
func (g *generator) request(rules int) {
	ask := g.phrase(g.fresh(g.words.requests))
	lines := make([]string, 0, rules)
	for range rules {
		lines = append(lines, g.phrase(g.fresh(g.words.rules)))
	}
	text := ask
	switch {
	case rules == 0:
	case rules > 1 || g.rng.IntN(3) == 0:
		text += "\n\n- " + strings.Join(lines, "\n- ")
	case g.rng.IntN(2) == 0:
		text += " " + lines[0]
	default:
		text = lines[0] + " " + ask
	}
	index := g.add(compactordv1.Role_ROLE_USER, textPart(text))
	for _, line := range lines {
		g.plant(Constraint, line, index, compactordv1.Role_ROLE_USER)
	}
	g.drop(LastRequest, func(Fact) bool { return true })
	g.plant(LastRequest, ask, index, compactordv1.Role_ROLE_USER)
}

// instruct adds a developer or system message with a rule in it.
func (g *generator) instruct(role compactordv1.Role) {
	rule := g.phrase(g.fresh(g.words.rules))
	text := g.pick(g.words.instructing) + " " + rule
	if g.rng.IntN(2) == 0 {
		text = "# " + g.pick(modules) + "\n\n" + g.pick(g.words.instructing) + "\n\n* " + rule
	}
	g.plant(Constraint, rule, g.add(role, textPart(text)), role)
}

// decide adds an answer with a decision in it.
func (g *generator) decide() {
	template := g.fresh(g.words.decisions)
	name, reason := g.name(), g.pick(g.words.reasons)
	sentence := fmt.Sprintf(template, name, reason)
	text := g.pick(g.words.remarks) + " " + sentence
	if g.rng.IntN(2) == 0 {
		text += "\n\n" + g.pick(g.words.narrations)
	}
	g.plant(Decision, sentence, g.say(text), compactordv1.Role_ROLE_ASSISTANT)
}

// path plants a path: in a change of the file, in a command, or in a sentence.
func (g *generator) path() {
	path := g.newPath()
	var index uint32
	switch g.rng.IntN(4) {
	case 0:
		index = g.say(fmt.Sprintf(g.pick(g.words.pathLines), path))
	case 1:
		index = g.call(g.pick(g.words.narrations), g.tools.shell, g.tools.shellArgs("cat > "+path+" <<'EOF'\n"+g.source(4)+"\nEOF"), "", false)
	default:
		index = g.call(g.pick(g.words.narrations), g.tools.edit, g.tools.editArgs(path, g.source(6), g.source(7)), g.tools.edited(path), false)
	}
	g.plant(Path, path, index, compactordv1.Role_ROLE_ASSISTANT)
}

// code plants an error code: in a command that fails and is not tried again, or in a sentence.
func (g *generator) code() {
	code := g.newCode()
	if g.rng.IntN(2) == 0 {
		index := g.say(fmt.Sprintf(g.pick(g.words.codeLines), code, g.name()))
		g.plant(Code, code, index, compactordv1.Role_ROLE_ASSISTANT)
		return
	}
	out := g.logLines(g.rng.IntN(40)) + fmt.Sprintf(g.pick([]string{
		"Error: %s: upstream refused the request", "error: %s while opening the pool", "FAILED with %s (see above)", "fatal: %s: lock is held by another run",
		"panic: %s: index out of range", "错误：%s 连接被拒绝",
	}), code) + "\n" + g.logLines(g.rng.IntN(6))
	call := g.call(g.pick(g.words.narrations), g.tools.shell, g.tools.shellArgs(g.pick([]string{"make", "npm run", "cargo run --bin", "python -m"})+" "+g.name()), out, true)
	// The result says it, and so does the line that cites the call.
	g.plant(Code, code, call+1, compactordv1.Role_ROLE_TOOL)
}

// plan writes the to-do list anew: some of the old items done, the others and new ones open.
func (g *generator) plan() {
	type entry struct {
		text string
		done bool
	}
	list := make([]entry, 0, len(g.todos)+g.a.Todos)
	var kept []string
	for _, t := range g.todos {
		done := g.rng.IntN(3) == 0
		list = append(list, entry{t, done})
		if !done {
			kept = append(kept, t)
		}
	}
	added := make([]string, 0, g.a.Todos)
	for range g.a.Todos {
		t := g.phrase(g.fresh(g.words.todos))
		list = append(list, entry{t, false})
		added = append(added, t)
	}
	var index uint32
	switch g.todoStyle {
	case 0:
		todos := make([]map[string]string, 0, len(list))
		for _, e := range list {
			status := "pending"
			if e.done {
				status = "completed"
			}
			todos = append(todos, map[string]string{"content": e.text, "status": status, "activeForm": e.text})
		}
		index = g.call("", "TodoWrite", mustJSON(map[string]any{"todos": todos}), "Todos have been modified successfully.", false)
	case 1:
		steps := make([]map[string]string, 0, len(list))
		for i, e := range list {
			status := "pending"
			if e.done {
				status = "completed"
			} else if i == len(list)-1 {
				status = "in_progress"
			}
			steps = append(steps, map[string]string{"step": e.text, "status": status})
		}
		index = g.call("", "update_plan", mustJSON(map[string]any{"plan": steps}), "Plan updated", false)
	default:
		var b strings.Builder
		b.WriteString(g.pick(g.words.planning) + "\n\n")
		for _, e := range list {
			mark := " "
			if e.done {
				mark = "x"
			}
			b.WriteString("- [" + mark + "] " + e.text + "\n")
		}
		index = g.say(b.String())
	}
	open := map[string]bool{}
	for _, t := range kept {
		open[t] = true
	}
	g.drop(Todo, func(f Fact) bool { return !open[f.Text] })
	for _, t := range added {
		g.plant(Todo, t, index, compactordv1.Role_ROLE_ASSISTANT)
	}
	g.todos = append(kept, added...)
}

// noise adds steps in which nothing is planted.
func (g *generator) noise(steps int) {
	for range steps {
		text := g.pick(g.words.narrations)
		if g.rng.IntN(3) == 0 {
			text = g.pick(g.words.remarks) + " " + text
		}
		size := 1 + g.rng.IntN(max(1, g.a.OutputBytes))
		switch g.rng.IntN(4) {
		case 0:
			g.call(text, g.tools.shell, g.tools.shellArgs(g.pick([]string{"go test ./...", "npm test", "pytest -q", "cargo test"})), g.logLines(size/60)+"ok", false)
		case 1:
			g.call(text, g.tools.shell, g.tools.shellArgs("grep -rn "+g.pick(parts)+" "+g.pick(roots)), g.matches(size/70), false)
		case 2:
			g.say(g.pick(g.words.remarks) + " " + text)
		default:
			g.call(text, g.tools.read, g.tools.readArgs(fmt.Sprintf("%s/%s/%s%s", g.pick(roots), g.pick(modules), g.pick(parts), g.pick(ends))), g.source(size/35), false)
		}
	}
}

// say adds an answer without a call and returns its index.
func (g *generator) say(text string) uint32 {
	return g.add(compactordv1.Role_ROLE_ASSISTANT, textPart(text))
}

// call adds a call with its result, and returns the index of the call.
func (g *generator) call(text, tool, arguments, output string, failed bool) uint32 {
	g.calls++
	id := fmt.Sprintf("call_%d", g.calls)
	var list []*compactordv1.Part
	if text != "" {
		list = append(list, textPart(text))
	}
	list = append(list, &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{
		ToolCall: &compactordv1.ToolCall{Id: id, Name: tool, Arguments: arguments},
	}})
	index := g.add(compactordv1.Role_ROLE_ASSISTANT, list...)
	if failed && g.rng.IntN(2) == 0 {
		output = "Exit code 1\n" + output
	}
	g.add(compactordv1.Role_ROLE_TOOL, &compactordv1.Part{Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
		CallId: id, Name: tool, IsError: failed,
		Parts: []*compactordv1.ResultPart{{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: output}}}},
	}}})
	return index
}

func textPart(text string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}}
}

func mustJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
