// Package gemini asks models by the Gemini API.
package gemini

import (
	"context"
	"errors"
	"iter"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genai"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers/internal/wire"
	"github.com/compactord/compactord/summarizers/llm"
)

// DefaultBaseURL is Google's own server.
const DefaultBaseURL = "https://generativelanguage.googleapis.com"

// Options are how a model is asked. Environment variables that the SDK knows are not looked at.
type Options struct {
	// Model is the model as the server names it.
	Model string
	// BaseURL is the address that `/v1beta/models` follows; it may end in a version, which then is the one that is spoken.
	// Empty: DefaultBaseURL.
	BaseURL string
	// APIKey is sent as `x-goog-api-key`. The SDK insists on one.
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
	models  *genai.Models
}

var _ llm.Provider = (*Provider)(nil)

// New returns a provider. It makes no request.
func New(o Options) (*Provider, error) {
	switch {
	case o.Model == "":
		return nil, errors.New("gemini: a model is required")
	case o.APIKey == "":
		return nil, errors.New("gemini: an API key is required")
	case o.BaseURL == "":
		o.BaseURL = DefaultBaseURL
	}
	base, err := url.Parse(o.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, errors.New("gemini: the base URL must begin with http:// or https:// and name a host")
	}
	p := &Provider{options: o, wire: wire.New(wire.Options{
		HTTPClient: o.HTTPClient, IdleTimeout: o.IdleTimeout, MaxAnswerBytes: o.MaxAnswerBytes, Overflow: o.Overflow,
	})}
	address, version := splitVersion(o.BaseURL)
	// The SDK takes from the environment what it is not told: all of this must be.
	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		Backend: genai.BackendGeminiAPI, APIKey: o.APIKey, HTTPClient: p.wire.HTTP(),
		HTTPOptions: genai.HTTPOptions{BaseURL: address, APIVersion: version},
	})
	if err != nil {
		// The SDK's text shows the key.
		return nil, errors.New("gemini: the SDK refused the options")
	}
	p.models = client.Models
	return p, nil
}

// splitVersion tells apart an address and the version of the API that it may end in.
func splitVersion(base string) (address, version string) {
	base = strings.TrimRight(base, "/")
	for _, version := range []string{"v1beta", "v1alpha", "v1"} {
		if address, ok := strings.CutSuffix(base, "/"+version); ok {
			return address, version
		}
	}
	return base, "v1beta"
}

// Dialect implements llm.Provider.
func (*Provider) Dialect() compactordv1.Dialect { return compactordv1.Dialect_DIALECT_GEMINI }

// Complete implements llm.Provider.
func (p *Provider) Complete(ctx context.Context, c *llm.Completion, text func(delta string)) (*llm.Answer, error) {
	ctx, x := p.wire.Begin(ctx)
	defer x.End()
	if c.View != nil {
		x.Rewrite(func(body []byte) ([]byte, error) { return onView(body, c.View) })
	}
	contents := []*genai.Content{genai.NewContentFromText(c.User, genai.RoleUser)}
	next, stop := iter.Pull2(p.models.GenerateContentStream(ctx, p.options.Model, contents, config(c)))
	defer stop()
	reading := &reading{x: x, text: x.Text(text), answer: &llm.Answer{Model: p.options.Model}}
	var response *genai.GenerateContentResponse
	var err error
	step := func() (more bool) {
		response, err, more = next()
		return more && err == nil
	}
	for x.Step(step) {
		if !reading.take(response) {
			break
		}
	}
	return x.Finish(reading.answer, reading.text, reading.finished, err)
}

func config(c *llm.Completion) *genai.GenerateContentConfig {
	config := &genai.GenerateContentConfig{
		MaxOutputTokens: int32(min(c.MaxOutputTokens, math.MaxInt32)),
		ThinkingConfig:  thinking(c.Effort),
		// One request is one request.
		AutomaticContinuation: new(false),
	}
	if c.System != "" {
		config.SystemInstruction = genai.NewContentFromText(c.System, genai.RoleUser)
	}
	return config
}

// thinking says how hard to think.
func thinking(effort string) *genai.ThinkingConfig {
	if effort == "" {
		return nil
	}
	if budget, err := strconv.ParseInt(effort, 10, 32); err == nil {
		return &genai.ThinkingConfig{ThinkingBudget: new(int32(budget))}
	}
	return &genai.ThinkingConfig{ThinkingLevel: genai.ThinkingLevel(strings.ToUpper(effort))}
}
