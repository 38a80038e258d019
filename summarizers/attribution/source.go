package attribution

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// ReadMessage reads a message: its results as a tool's words, all else as others'.
func (c *Checker) ReadMessage(m *compactordv1.Message) {
	for _, p := range m.GetParts() {
		c.ReadOther(p.GetText().GetText())
		c.ReadOther(p.GetToolCall().GetArguments())
		for _, part := range p.GetToolResult().GetParts() {
			c.ReadTool(nameOf(p.GetToolResult()), part.GetText().GetText())
		}
	}
}

// longestName is how many bytes a tool's name has at most that is shown.
const longestName = 64

// nameOf returns a tool's name as a quotation is attributed to it. One that can be a sentence is not shown.
func nameOf(r *compactordv1.ToolResult) string {
	name := r.GetName()
	if len(name) > longestName {
		return ""
	}
	for _, b := range []byte(name) {
		if b != '-' && b != '.' && b != ':' && (b >= 0x80 || !isOfWord(rune(b))) {
			return ""
		}
	}
	return name
}
