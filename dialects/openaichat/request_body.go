package openaichat

import (
	"cmp"
	"encoding/json"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// tokenLimit is the older name of the output limit, which most servers know.
const tokenLimit = "max_tokens"

func prompt(messages []*compactordv1.Message) (*dialect.List, error) {
	return &renderRequest(messages, dialect.RenderOptions{}).List, nil
}

func requestBody(list *dialect.List, opts dialect.RequestOptions) rawjson.Object {
	body := document(list)
	body["model"] = rawjson.Quote(opts.Model)
	body["stream"] = json.RawMessage("true")
	body["stream_options"] = json.RawMessage(`{"include_usage":true}`)
	if opts.MaxOutputTokens > 0 {
		body[cmp.Or(opts.TokenLimit, tokenLimit)] = rawjson.Integer(opts.MaxOutputTokens)
	}
	if opts.Effort != "" {
		body["reasoning_effort"] = rawjson.Quote(opts.Effort)
	}
	if len(opts.Tools) > 0 {
		body["tools"] = opts.Tools
	}
	return body
}
