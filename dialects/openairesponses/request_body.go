package openairesponses

import (
	"encoding/json"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Prompt puts the system prompt beside the items, where clients put theirs, and the text of the user into a list of parts.
func (d responses) Prompt(messages []*compactordv1.Message) (*dialect.List, error) {
	noted := make([]*compactordv1.Message, len(messages))
	for i, m := range messages {
		noted[i] = proto.CloneOf(m)
		form := note(noteContent, inParts)
		if m.GetRole() == compactordv1.Role_ROLE_SYSTEM {
			form = note(noteInstructions, "")
		}
		noted[i].Attachments = append(noted[i].Attachments, form)
	}
	r, err := d.Render(noted, dialect.RenderOptions{})
	if err != nil {
		return nil, err
	}
	return &r.List, nil
}

func (responses) RequestBody(list *dialect.List, o dialect.RequestOptions) json.RawMessage {
	body := bodyOf(list)
	body["model"] = rawjson.Quote(o.Model)
	body["stream"] = json.RawMessage("true")
	// What is asked here is nobody's to keep.
	body["store"] = json.RawMessage("false")
	if o.MaxOutputTokens > 0 {
		body["max_output_tokens"] = rawjson.Integer(o.MaxOutputTokens)
	}
	if o.Effort != "" {
		body["reasoning"] = rawjson.Object{"effort": rawjson.Quote(o.Effort)}.Encode()
	}
	if len(o.Tools) > 0 {
		body["tools"] = o.Tools
	}
	return body.Encode()
}
