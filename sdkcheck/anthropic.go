package sdkcheck

import (
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go"
)

func anthropicMessage(element json.RawMessage) (json.RawMessage, error) {
	var message anthropic.BetaMessageParam
	if err := json.Unmarshal(element, &message); err != nil {
		return nil, err
	}
	for _, block := range message.Content {
		if variants(block) != 1 {
			return nil, errNoVariant
		}
	}
	return json.Marshal(message)
}

func anthropicSystem(element json.RawMessage) (json.RawMessage, error) {
	return through[anthropic.BetaTextBlockParam](element)
}
