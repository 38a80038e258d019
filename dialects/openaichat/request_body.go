package openaichat

import (
	"cmp"
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// tokenLimit is the older name of the limit, which most servers know.
const tokenLimit = "max_tokens"

func (d chat) Prompt(messages []*compactordv1.Message) (*dialect.List, error) {
	r, err := d.Render(messages, dialect.RenderOptions{})
	if err != nil {
		return nil, err
	}
	return &r.List, nil
}

func (chat) RequestBody(list *dialect.List, o dialect.RequestOptions) json.RawMessage {
	body := bodyOf(list)
	body["model"] = rawjson.Quote(o.Model)
	body["stream"] = json.RawMessage("true")
	body["stream_options"] = json.RawMessage(`{"include_usage":true}`)
	if o.MaxOutputTokens > 0 {
		body[cmp.Or(o.TokenLimit, tokenLimit)] = rawjson.Integer(o.MaxOutputTokens)
	}
	if o.Effort != "" {
		body["reasoning_effort"] = rawjson.Quote(o.Effort)
	}
	if len(o.Tools) > 0 {
		body["tools"] = o.Tools
	}
	return body.Encode()
}
