package anthropic

import (
	"encoding/json"
	"strconv"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// minBudget is the least that the API takes as a budget of thinking.
const minBudget = 1024

func (d messagesAPI) Prompt(messages []*compactordv1.Message) (*dialect.List, error) {
	r, err := d.Render(messages, dialect.RenderOptions{})
	if err != nil {
		return nil, err
	}
	return &r.List, nil
}

func (messagesAPI) RequestBody(list *dialect.List, o dialect.RequestOptions) json.RawMessage {
	body := bodyOf(list)
	body["model"] = rawjson.Quote(o.Model)
	body["stream"] = json.RawMessage("true")
	body["max_tokens"] = rawjson.Integer(o.MaxOutputTokens)
	if len(o.Tools) > 0 {
		body["tools"] = o.Tools
	}
	think(body, o)
	return body.Encode()
}

// think says how hard to think: in a word, or by a budget.
func think(body rawjson.Object, o dialect.RequestOptions) {
	budget, err := strconv.ParseInt(o.Effort, 10, 64)
	// The budget is part of what may be written.
	budget = min(budget, int64(o.MaxOutputTokens)-1)
	switch {
	case o.Effort == "":
	case err != nil:
		body["output_config"] = rawjson.Object{"effort": rawjson.Quote(o.Effort)}.Encode()
	case budget < minBudget:
		body["thinking"] = json.RawMessage(`{"type":"disabled"}`)
	default:
		body["thinking"] = rawjson.Object{"type": rawjson.Quote("enabled"), "budget_tokens": rawjson.Integer(budget)}.Encode()
	}
}
