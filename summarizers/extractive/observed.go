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
