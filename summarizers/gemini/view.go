package gemini

import (
	"encoding/json"
	"slices"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/internal/wire"
)

const roleModel = "model"

// onView puts the agent's own contents before the closing one, and its tools and system instruction beside them. Gemini's
// implicit cache knows a prompt by what it begins with: the system instruction, the tools and then the contents. How much is
// to be thought or written is not part of it.
func onView(closing *dialect.List, view *summarizers.View) (*dialect.List, error) {
	list := *closing
	if len(view.System) > 0 {
		list.System = view.System
	}
	var err error
	list.Messages, err = withClosing(view, closing.Messages)
	return &list, err
}

// withClosing returns the view's contents and the closing one. Since user and model take turns, it is put into the last
// content if that is the user's; but not among the results of functions, behind which the user may go on.
func withClosing(view *summarizers.View, own []json.RawMessage) ([]json.RawMessage, error) {
	if len(view.Messages) == 0 || len(own) == 0 {
		return own, nil
	}
	before, last := view.Messages[:len(view.Messages)-1], view.Messages[len(view.Messages)-1]
	if c := contentOf(last); c.Role == roleModel || c.answers() {
		return slices.Concat(view.Messages, own), nil
	}
	parts, err := wire.Append(contentOf(last).Parts, contentOf(own[0]).elements()...)
	if err != nil {
		return nil, err
	}
	last, err = wire.Set(last, "parts", parts)
	return slices.Concat(before, []json.RawMessage{last}), err
}

// content is what is read of a content.
type content struct {
	Role  string          `json:"role"`
	Parts json.RawMessage `json:"parts"`
}

// contentOf reads what it can. The server refuses what is malformed.
func contentOf(raw json.RawMessage) content {
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
