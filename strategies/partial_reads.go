package strategies

import (
	"encoding/json"
	"slices"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Calls that read a part of a file. An agent that asks for certain lines needs them.

// rangeArguments give the start or the length of a read: a positive number, or a range that is not empty.
var rangeArguments = []string{
	"offset", "limit", // Claude Code, Pi, opencode, Gemini CLI
	"max_lines",              // xbot
	"line_offset", "n_lines", // kimi-cli
	"start_line", "end_line", // Cline, Roo Code
	"startLine", "endLine", // Copilot
	"StartLine", "EndLine", // Windsurf
	"view_range", "line_range", // OpenHands, Anthropic's
	"start_line_one_indexed", "end_line_one_indexed_inclusive", // Cursor
	"line_start", "line_end", "from_line", "to_line", "num_lines", "lines", "range", "pages",
}

// readsPart says whether a call reads a part of a file. Tools that read and write are included, since the results of
// their writing calls are short anyway.
func readsPart(files *compactordv1.FileTools, call *callFacts) bool {
	return call != nil && slices.ContainsFunc(files.GetTools(), func(t *compactordv1.FileTool) bool {
		return slices.Contains(t.GetNames(), call.tool)
	}) && call.ranged()
}

// asksForPart says whether arguments ask for a part of a file.
func asksForPart(arguments string) bool {
	return slices.ContainsFunc(argumentsOf(arguments), func(a argument) bool {
		return slices.Contains(rangeArguments, a.name) && saysRange(a.value)
	})
}

// saysRange says whether a value is a positive number, perhaps in a string, or a range as a list or a text.
func saysRange(raw json.RawMessage) bool {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	var number float64
	if json.Unmarshal([]byte(text), &number) == nil && strings.TrimSpace(text) != "null" {
		return number > 0
	}
	return strings.ContainsAny(text, "123456789")
}
