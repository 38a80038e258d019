package anthropic

import (
	"encoding/json"
	"strconv"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// minBudget is the smallest thinking budget that the API accepts.
const minBudget = 1024

func prompt(messages []*compactordv1.Message) (*dialect.List, error) {
	return &renderRequest(messages, dialect.RenderOptions{}).List, nil
}

func requestBody(list *dialect.List, opts dialect.RequestOptions) rawjson.Object {
	body := document(list)
	body["model"] = rawjson.Quote(opts.Model)
	body["stream"] = json.RawMessage("true")
	body["max_tokens"] = rawjson.Integer(opts.MaxOutputTokens)
	if len(opts.Tools) > 0 {
		body["tools"] = opts.Tools
	}
	think(body, opts)
	return body
}

// think sets the effort of thinking: by a word, or by a budget.
func think(body rawjson.Object, opts dialect.RequestOptions) {
	budget, err := strconv.ParseInt(opts.Effort, 10, 64)
	// The budget is part of the output limit.
	budget = min(budget, int64(opts.MaxOutputTokens)-1)
	switch {
	case opts.Effort == "":
	case err != nil:
		body["output_config"] = rawjson.Object{"effort": rawjson.Quote(opts.Effort)}.Encode()
	case budget < minBudget:
		body["thinking"] = json.RawMessage(`{"type":"disabled"}`)
	default:
		body["thinking"] = rawjson.Object{"type": rawjson.Quote("enabled"), "budget_tokens": rawjson.Integer(budget)}.Encode()
	}
}
