package openai

import (
	"errors"
	"net/http"

	"github.com/compactord/compactord/summarizers"
)

// tokenLimit returns the parameter for the output limit in Chat Completions.
func (p *Provider) tokenLimit() string {
	switch {
	case !p.switched.Load():
		return p.options.TokenLimit
	case p.options.TokenLimit == MaxTokens:
		return MaxCompletionTokens
	default:
		return MaxTokens
	}
}

// refusesLimit says whether a request failed only because the server knows the output limit by the other name. It
// remembers that name for later requests. A request refused for this cost nothing, so it can be sent again. After a
// server refused both names, it says no.
func (p *Provider) refusesLimit(err error, sent string) bool {
	var refused *summarizers.ProviderError
	if p.options.API != APIChat || !errors.As(err, &refused) ||
		refused.Status != http.StatusBadRequest || refused.Code != "unsupported_parameter" || refused.Param != sent {
		return false
	}
	if sent == p.options.TokenLimit {
		p.switched.Store(true)
	}
	return p.tokenLimit() != sent
}
