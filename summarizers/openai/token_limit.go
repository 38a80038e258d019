package openai

import (
	"errors"
	"net/http"

	"github.com/compactord/compactord/summarizers"
)

// tokenLimit is the parameter by which a chat completion is told its limit.
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

// refusesLimit says whether a request failed only since its limit has the other name on this server, which it has from
// now on. Nothing was made of such a request; a server that refuses both names is not asked again.
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
