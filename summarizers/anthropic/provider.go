// Package anthropic asks models by the Anthropic Messages API.
package anthropic

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers/internal/wire"
	"github.com/compactord/compactord/summarizers/llm"
)

// DefaultBaseURL is Anthropic's own server.
const DefaultBaseURL = "https://api.anthropic.com"

// apiVersion is the version of the API that is spoken.
const apiVersion = "2023-06-01"

// Options are how a model is asked. No environment variable is looked at.
type Options struct {
	// Model is the model as the server names it.
	Model string
	// BaseURL is the address that `/v1/messages` follows; it may end in `/v1`, too. Empty: DefaultBaseURL.
	BaseURL string
	// APIKey is sent as `x-api-key`; empty: none is sent, for proxies that have it.
	APIKey string
	// HTTPClient sends the requests; nil: one with limits on connecting, but none on a whole request. Its redirects are not
	// followed.
	HTTPClient *http.Client
	// IdleTimeout is how long an answer may be silent before the request is given up, as a ProviderError of code
	// `idle_timeout` that can be tried again; 0: a minute. A slow answer is fine.
	IdleTimeout time.Duration
	// MaxAnswerBytes is how long an answer may be, thinking included; what is longer is ended there, and its Answer says
	// that it is cut off. 0: 8 MiB.
	MaxAnswerBytes int64
	// Overflow says whether an error is that of a request too long for the model; nil: none is. What it gets may quote the
	// conversation.
	Overflow func(status int, code, message string) bool
}

// Provider asks a model. It is safe for concurrent use.
//
// An effort is Anthropic's word for it (`low` to `max`), or a number: the budget of thinking in tokens, for the models that
// take one; 0 turns thinking off. It is not sent with a view: the messages that are in the cache are those that were sent
// with the same settings of thinking, and the agent's are most likely those that hold by themselves.
type Provider struct {
	options Options
	wire    *wire.Client
	dialect dialect.Dialect
}

var _ llm.Provider = (*Provider)(nil)

// New returns a provider. It makes no request.
func New(o Options) (*Provider, error) {
	if o.Model == "" {
		return nil, errors.New("anthropic: a model is required")
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	o.BaseURL = strings.TrimSuffix(strings.TrimSuffix(o.BaseURL, "/"), "/v1")
	if _, err := wire.ParseBaseURL("anthropic", o.BaseURL); err != nil {
		return nil, err
	}
	return &Provider{options: o, dialect: anthropic.New(), wire: wire.New(wire.Options{
		HTTPClient: o.HTTPClient, IdleTimeout: o.IdleTimeout, MaxAnswerBytes: o.MaxAnswerBytes, Overflow: o.Overflow,
	})}, nil
}

// Dialect implements llm.Provider.
func (p *Provider) Dialect() compactordv1.Dialect { return p.dialect.Kind() }

// Complete implements llm.Provider.
func (p *Provider) Complete(ctx context.Context, c *llm.Completion, text func(delta string)) (*llm.Answer, error) {
	return p.wire.Complete(ctx, p.call(c), c, text)
}

// call says where and how the model is asked.
func (p *Provider) call(c *llm.Completion) *wire.Call {
	header := http.Header{"Accept": {"application/json"}, "Anthropic-Version": {apiVersion}}
	if p.options.APIKey != "" {
		header.Set("X-Api-Key", p.options.APIKey)
	}
	options := dialect.RequestOptions{Model: p.options.Model, MaxOutputTokens: c.MaxOutputTokens}
	if c.View == nil {
		options.Effort = c.Effort
	}
	return &wire.Call{
		Dialect: p.dialect, URL: p.options.BaseURL + "/v1/messages", Header: header, Options: options,
	}
}
