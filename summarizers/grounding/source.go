package grounding

import (
	"encoding/json"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// ReadMessage reads all that a message says, with its thinking and the names of tools and media.
func (c *Checker) ReadMessage(m *compactordv1.Message) {
	for _, p := range m.GetParts() {
		c.Read(p.GetText().GetText())
		c.Read(p.GetThinking().GetText())
		if call := p.GetToolCall(); call != nil {
			c.Read(call.GetName())
			c.readJSON(call.GetArguments())
		}
		c.readMedia(p.GetMedia())
		c.readJSON(p.GetOpaque().GetJson())
		c.readResult(p.GetToolResult())
	}
}

func (c *Checker) readResult(r *compactordv1.ToolResult) {
	c.Read(r.GetName())
	for _, part := range r.GetParts() {
		c.Read(part.GetText().GetText())
		c.readMedia(part.GetMedia())
		c.readJSON(part.GetOpaque().GetJson())
	}
	for _, file := range r.GetFiles() {
		c.Read(file.GetPath())
	}
}

func (c *Checker) readMedia(m *compactordv1.MediaPart) {
	c.Read(m.GetName())
	c.Read(m.GetUri())
	c.Read(m.GetFileId())
}

// readJSON reads JSON, also without its escapes. What is no JSON is text.
func (c *Checker) readJSON(text string) {
	c.Read(text)
	if !strings.Contains(text, `\u`) {
		// Read understands the other escapes.
		return
	}
	tokens := json.NewDecoder(strings.NewReader(text))
	for {
		token, err := tokens.Token()
		if err != nil {
			return
		}
		if s, ok := token.(string); ok {
			c.Read(s)
		}
	}
}
