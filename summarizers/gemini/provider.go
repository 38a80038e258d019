// Package gemini asks models by the Gemini API.
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

// Options are how a model is asked. No environment variable is looked at.
type Options struct {
	// Model is the model as the server names it.
	Model string
	// BaseURL is the address that `/v1beta/models` follows; it may end in a version, which then is the one that is spoken.
	// Empty: DefaultBaseURL.
	BaseURL string
	// APIKey is sent as `x-goog-api-key`. The API insists on one.
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
// An effort is Gemini's word for it (`minimal` to `high`), or a number: the budget of thinking in tokens, for the models that
// take one. With 0 such a model does not think, with -1 it thinks as long as it wants.
type Provider struct {
	options Options
	wire    *wire.Client
	dialect dialect.Dialect
	// url is where the model is asked.
	url string
}

var _ llm.Provider = (*Provider)(nil)

// New returns a provider. It makes no request.
func New(o Options) (*Provider, error) {
	switch {
	case o.Model == "":
		return nil, errors.New("gemini: a model is required")
	case strings.ContainsAny(o.Model, "?&#") || strings.Contains(o.Model, ".."):
		// It stands in the address.
		return nil, errors.New("gemini: the model must not hold ?, &, # or two dots in a row")
	case o.APIKey == "":
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

// address is where a model is asked, with the version of the API that the base URL may end in.
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

// call says where and how the model is asked.
func (p *Provider) call(c *llm.Completion) *wire.Call {
	return &wire.Call{
		Dialect: p.dialect, URL: p.url, Header: http.Header{"X-Goog-Api-Key": {p.options.APIKey}},
		Options: dialect.RequestOptions{Model: p.options.Model, MaxOutputTokens: c.MaxOutputTokens, Effort: c.Effort},
	}
}
