package gemini

import (
	"encoding/json"

	"google.golang.org/genai"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/internal/wire"
)

// onView puts the agent's own contents before the closing one, and its tools and system instruction beside them. Gemini's
// implicit cache knows a prompt by what it begins with: the system instruction, the tools and then the contents. How much is
// to be thought or written is not part of it. The SDK cannot do it: it would write signatures and numbers anew.
func onView(body []byte, view *summarizers.View) ([]byte, error) {
	closing, err := wire.Member(body, "contents")
	if err != nil {
		return nil, err
	}
	contents, err := withClosing(view.Messages, closing)
	if err != nil {
		return nil, err
	}
	if body, err = wire.Set(body, "contents", contents); err != nil {
		return nil, err
	}
	if len(view.System) > 0 {
		if body, err = wire.Set(body, "systemInstruction", view.System[0]); err != nil {
			return nil, err
		}
	}
	if len(view.Tools) == 0 {
		return body, nil
	}
	return wire.Set(body, "tools", view.Tools)
}

// withClosing returns the view's contents and the closing one. Since user and model take turns, it is put into the last
// content if that is the user's; but not among the results of functions, behind which the user may go on.
func withClosing(contents []json.RawMessage, closing json.RawMessage) (json.RawMessage, error) {
	own, err := wire.Elements(closing)
	if err != nil || len(contents) == 0 {
		return closing, err
	}
	all := append([]json.RawMessage{}, contents...)
	last := read(all[len(all)-1])
	if last.Role == genai.RoleModel || last.answers() {
		return wire.Array(append(all, own...)...), nil
	}
	parts, err := wire.Append(last.Parts, read(own[0]).elements()...)
	if err != nil {
		return nil, err
	}
	all[len(all)-1], err = wire.Set(all[len(all)-1], "parts", parts)
	return wire.Array(all...), err
}

// content is what is read of a content.
type content struct {
	Role  string          `json:"role"`
	Parts json.RawMessage `json:"parts"`
}

// read reads what it can. The server refuses what is malformed.
func read(raw json.RawMessage) content {
	var c content
	_ = json.Unmarshal(raw, &c)
	return c
}

func (c content) elements() []json.RawMessage {
	parts, _ := wire.Elements(c.Parts)
	return parts
}

// answers says whether results of functions are among the parts, in either of the spellings that the API takes.
func (c content) answers() bool {
	for _, part := range c.elements() {
		var p map[string]json.RawMessage
		_ = json.Unmarshal(part, &p)
		if p["functionResponse"] != nil || p["function_response"] != nil {
			return true
		}
	}
	return false
}
