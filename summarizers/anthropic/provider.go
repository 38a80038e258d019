// Package anthropic sends requests to models with the Anthropic Messages API.
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

// apiVersion is the version of the API that requests name.
const apiVersion = "2023-06-01"

// Options configure a Provider. It reads no environment variables.
type Options struct {
	// Model is the server's name for the model.
	Model string
	// BaseURL is the address before `/v1/messages`. It may itself end in `/v1`. Empty means DefaultBaseURL.
	BaseURL string
	// APIKey is sent as `x-api-key`. If it is empty, none is sent, for proxies that add it.
	APIKey string
	// Key returns the key of each request in the place of APIKey, where it can change. May be nil.
	Key func() string
	// HTTPClient sends the requests, without following redirects. nil means a client with time limits on connecting,
	// but none on a whole request.
	HTTPClient *http.Client
	// IdleTimeout is how long an answer may be silent before the request is given up, as a retryable ProviderError with
	// code `idle_timeout`. 0 means a minute. It does not limit the whole answer.
	IdleTimeout time.Duration
	// MaxAnswerBytes limits the length of an answer, with its thinking. A longer one is ended there, and its Answer has
	// CutOff set. 0 means 8 MiB.
	MaxAnswerBytes int64
	// Overflow says whether an error means that the request was too long for the model. nil means that none does. Its
	// arguments may quote the conversation.
	Overflow func(status int, code, message string) bool
}

// Provider sends requests to a model. It is safe for concurrent use.
//
// An effort is Anthropic's word for it (`low` to `max`), or a number: a thinking budget in tokens, for models that
// accept one; 0 turns thinking off. No effort is sent with a view. The provider's cache only holds messages that were
// sent with the same thinking settings, and the agent most likely uses the defaults.
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

// call returns the address, header and options of the request.
func (p *Provider) call(c *llm.Completion) *wire.Call {
	header := http.Header{"Accept": {"application/json"}, "Anthropic-Version": {apiVersion}}
	if key := wire.KeyOf(p.options.APIKey, p.options.Key); key != "" {
		header.Set("X-Api-Key", key)
	}
	options := dialect.RequestOptions{Model: p.options.Model, MaxOutputTokens: c.MaxOutputTokens}
	if c.View == nil {
		options.Effort = c.Effort
	}
	return &wire.Call{
		Dialect: p.dialect, URL: p.options.BaseURL + "/v1/messages", Header: header, Options: options,
	}
}
