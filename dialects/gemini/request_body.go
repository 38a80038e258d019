package gemini

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Prompt gives the system prompt the role that Google's own clients give it.
func (d gemini) Prompt(messages []*compactordv1.Message) (*dialect.List, error) {
	r, err := d.Render(messages, dialect.RenderOptions{})
	if err != nil {
		return nil, err
	}
	for i, raw := range r.System {
		system, err := rawjson.ParseObject(raw)
		if err != nil {
			return nil, err
		}
		system["role"] = rawjson.Quote(roleUser)
		r.System[i] = system.Encode()
	}
	return &r.List, nil
}

func (gemini) RequestBody(list *dialect.List, o dialect.RequestOptions) json.RawMessage {
	body, config := bodyOf(list), rawjson.Object{}
	if o.MaxOutputTokens > 0 {
		config["maxOutputTokens"] = rawjson.Integer(min(o.MaxOutputTokens, math.MaxInt32))
	}
	if o.Effort != "" {
		config["thinkingConfig"] = thinkingConfig(o.Effort)
	}
	body["generationConfig"] = config.Encode()
	if len(o.Tools) > 0 {
		body["tools"] = o.Tools
	}
	return body.Encode()
}

// thinkingConfig says how hard to think: by a budget, or in a word.
func thinkingConfig(effort string) json.RawMessage {
	if budget, err := strconv.ParseInt(effort, 10, 32); err == nil {
		return rawjson.Object{"thinkingBudget": rawjson.Integer(budget)}.Encode()
	}
	return rawjson.Object{"thinkingLevel": rawjson.Quote(strings.ToUpper(effort))}.Encode()
}
