// Package gemini sends requests to models with the Gemini API.
package gemini

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/gemini"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers/internal/wire"
	"github.com/compactord/compactord/summarizers/llm"
)

// DefaultBaseURL is Google's own server.
const DefaultBaseURL = "https://generativelanguage.googleapis.com"

// Options configure a Provider. It reads no environment variables.
type Options struct {
	// Model is the server's name for the model.
	Model string
	// BaseURL is the address before `/v1beta/models`. If it ends in a version of the API, that one is used. Empty means
	// DefaultBaseURL.
	BaseURL string
	// APIKey is sent as `x-goog-api-key`. The API requires one.
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
// An effort is Gemini's word for it (`minimal` to `high`), or a number: a thinking budget in tokens, for models that
// accept one. With 0 such a model does not think; with -1 it decides itself how much to think.
type Provider struct {
	options Options
	wire    *wire.Client
	dialect dialect.Dialect
	// url is the address of the model.
	url string
}

var _ llm.Provider = (*Provider)(nil)

// New returns a provider. It makes no request.
func New(o Options) (*Provider, error) {
	switch {
	case o.Model == "":
		return nil, errors.New("gemini: a model is required")
	case strings.ContainsAny(o.Model, "?&#") || strings.Contains(o.Model, ".."):
		// The model is a part of the address.
		return nil, errors.New("gemini: the model must not hold ?, &, # or two dots in a row")
	case wire.KeyOf(o.APIKey, o.Key) == "":
		return nil, errors.New("gemini: an API key is required")
	case o.BaseURL == "":
		o.BaseURL = DefaultBaseURL
	}
	if _, err := wire.ParseBaseURL("gemini", o.BaseURL); err != nil {
		return nil, err
	}
	return &Provider{options: o, dialect: gemini.New(), url: address(o), wire: wire.New(wire.Options{
		HTTPClient: o.HTTPClient, IdleTimeout: o.IdleTimeout, MaxAnswerBytes: o.MaxAnswerBytes, Overflow: o.Overflow,
	})}, nil
}

// address returns the address of a model, with the version of the API that the base URL may end in.
func address(o Options) string {
	base, version := strings.TrimRight(o.BaseURL, "/"), "v1beta"
	for _, other := range []string{"v1beta", "v1alpha", "v1"} {
		if before, ok := strings.CutSuffix(base, "/"+other); ok {
			base, version = before, other
			break
		}
	}
	model := o.Model
	if !strings.HasPrefix(model, "models/") && !strings.HasPrefix(model, "tunedModels/") {
		model = "models/" + model
	}
	return base + "/" + version + "/" + model + ":streamGenerateContent?alt=sse"
}

// Dialect implements llm.Provider.
func (p *Provider) Dialect() compactordv1.Dialect { return p.dialect.Kind() }

// Complete implements llm.Provider.
func (p *Provider) Complete(ctx context.Context, c *llm.Completion, text func(delta string)) (*llm.Answer, error) {
	return p.wire.Complete(ctx, p.call(c), c, text)
}

// call returns the address, header and options of the request.
func (p *Provider) call(c *llm.Completion) *wire.Call {
	return &wire.Call{
		Dialect: p.dialect, URL: p.url, Header: http.Header{"X-Goog-Api-Key": {wire.KeyOf(p.options.APIKey, p.options.Key)}},
		Options: dialect.RequestOptions{Model: p.options.Model, MaxOutputTokens: c.MaxOutputTokens, Effort: c.Effort},
	}
}
