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

// prompt gives the system prompt the role that Google's own clients give it.
func prompt(messages []*compactordv1.Message) (*dialect.List, error) {
	list := &renderRequest(messages, dialect.RenderOptions{}).List
	for i, raw := range list.System {
		system, err := rawjson.ParseObject(raw)
		if err != nil {
			return nil, err
		}
		system["role"] = rawjson.Quote(roleUser)
		list.System[i] = system.Encode()
	}
	return list, nil
}

func requestBody(list *dialect.List, opts dialect.RequestOptions) rawjson.Object {
	body, config := document(list), rawjson.Object{}
	if opts.MaxOutputTokens > 0 {
		config["maxOutputTokens"] = rawjson.Integer(min(opts.MaxOutputTokens, math.MaxInt32))
	}
	if opts.Effort != "" {
		config["thinkingConfig"] = thinkingConfig(opts.Effort)
	}
	body["generationConfig"] = config.Encode()
	if len(opts.Tools) > 0 {
		body["tools"] = opts.Tools
	}
	return body
}

// thinkingConfig sets the effort of thinking: by a budget, or by a word.
func thinkingConfig(effort string) json.RawMessage {
	if budget, err := strconv.ParseInt(effort, 10, 32); err == nil {
		return rawjson.Object{"thinkingBudget": rawjson.Integer(budget)}.Encode()
	}
	return rawjson.Object{"thinkingLevel": rawjson.Quote(strings.ToUpper(effort))}.Encode()
}
