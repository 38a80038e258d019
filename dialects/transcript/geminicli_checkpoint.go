package transcript

import (
	"bytes"
	"encoding/json"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// geminiCheckpoint reads a list of Gemini's contents. A content of the model waits for the next one: where calls have
// no ids, only both together show which result answers which call.
type geminiCheckpoint struct {
	texts geminiTexts
	// held is the content of the model that waits, and heldAt its position.
	held   json.RawMessage
	heldAt int
	read   int
}

func newGeminiCheckpoint(r *noteCounter, contents *elements) source {
	c := &geminiCheckpoint{texts: geminiTexts{notes: r}}
	return &elementSource{notes: r, feed: contents, read: c.content, rest: c.flush}
}

func (c *geminiCheckpoint) content(raw json.RawMessage) ([]entry, error) {
	at := c.read
	o, err := rawjson.ParseObject(raw)
	if err != nil {
		return nil, err
	}
	if !o.IsText("role", "model") {
		entries, err := c.parse(at, raw)
		if err == nil {
			c.read++
		}
		return entries, err
	}
	entries, err := c.flush()
	c.held, c.heldAt = bytes.Clone(raw), at
	c.read++
	return entries, err
}

// flush parses the content that waits.
func (c *geminiCheckpoint) flush() ([]entry, error) { return c.parse(c.heldAt) }

// parse parses the waiting content and the contents after it. at is the position of the first.
func (c *geminiCheckpoint) parse(at int, more ...json.RawMessage) ([]entry, error) {
	contents := more
	if c.held != nil {
		contents = append([]json.RawMessage{c.held}, more...)
	}
	if len(contents) == 0 {
		return nil, nil
	}
	messages, positions, err := parseContents(contents, c.texts.notes)
	if err != nil {
		return nil, err
	}
	for i, m := range messages {
		m.SourcePosition = position(at)
		if c.held != nil && positions[i] == 0 {
			m.SourcePosition = position(c.heldAt)
		}
	}
	c.held = nil
	return c.texts.attribute(messages)
}
