package openairesponses

import (
	"encoding/json"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// prompt puts the system prompt into the instructions, where clients have theirs, and the text of the user into a list
// of parts.
func prompt(messages []*compactordv1.Message) (*dialect.List, error) {
	marked := make([]*compactordv1.Message, len(messages))
	for i, m := range messages {
		marked[i] = proto.CloneOf(m)
		form := note(noteContent, inParts)
		if m.GetRole() == compactordv1.Role_ROLE_SYSTEM {
			form = note(noteInstructions, "")
		}
		marked[i].Attachments = append(marked[i].Attachments, form)
	}
	return &renderRequest(marked, dialect.RenderOptions{}).List, nil
}

func requestBody(list *dialect.List, opts dialect.RequestOptions) rawjson.Object {
	body := document(list)
	body["model"] = rawjson.Quote(opts.Model)
	body["stream"] = json.RawMessage("true")
	// The provider must not store the request.
	body["store"] = json.RawMessage("false")
	if opts.MaxOutputTokens > 0 {
		body["max_output_tokens"] = rawjson.Integer(opts.MaxOutputTokens)
	}
	if opts.Effort != "" {
		body["reasoning"] = rawjson.Object{"effort": rawjson.Quote(opts.Effort)}.Encode()
	}
	if len(opts.Tools) > 0 {
		body["tools"] = opts.Tools
	}
	return body
}
