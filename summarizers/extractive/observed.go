package extractive

import (
	"strings"
	"unicode/utf8"
)

// resultLabels begin what a program writes as the user: what came back from a step of an agent without tools.
var resultLabels = []string{
	"observation", "tool result", "tool output", "tool response", "tool_result", "tool_response", "tool_output", "function result", "function response", "function_response",
	"execution result", "execution output", "command output", "command result", "stdout",
}

// maxResultLabel is how many bytes such a label has at most, with what it is about.
const maxResultLabel = 64

// maxFenced is how many bytes a command has at most that an agent without tools writes into a fence.
const maxFenced = 300

// commandIn returns the command of an agent without tools: the only line of the last fence of its message.
func commandIn(said string) string {
	rest, closed := strings.CutSuffix(strings.TrimRight(said, " \t\n"), "```")
	at := strings.LastIndex(rest, "```")
	if !closed || at < 0 {
		return ""
	}
	_, line, _ := strings.Cut(rest[at:], "\n")
	if line = strings.TrimSpace(line); len(line) > maxFenced || strings.Contains(line, "\n") {
		return ""
	}
	return line
}

// workedNow removes the errors that a command shows to be resolved whose output reports none.
func (l *ledger) workedNow(line, output string) {
	if line == "" || len(l.errors) == 0 {
		return
	}
	if cmd := parseCommand(line); !cmd.reads {
		l.succeed(&call{class: classCommand, cmd: &cmd}, output)
	}
}

// opensResult says whether a text begins with such a label: `Observation: ...`, `[Tool result 3] ...`, `<tool_response>`.
func opensResult(text string) bool {
	head := strings.ToLower(clip(strings.TrimLeft(text, "[<*#( "), maxResultLabel))
	for _, label := range resultLabels {
		rest, ok := strings.CutPrefix(head, label)
		if !ok {
			continue
		}
		rest = strings.TrimPrefix(rest, "s")
		if next, _ := utf8.DecodeRuneInString(rest); next == ':' || next == ']' || next == '>' || next == '：' || next == '*' {
			return true
		}
		line, _, _ := strings.Cut(rest, "\n")
		return strings.HasPrefix(line, " ") && strings.ContainsAny(line, ":]>")
	}
	return false
}
