// Package anthropic asks models by the Anthropic Messages API.
package anthropic

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers/internal/wire"
	"github.com/compactord/compactord/summarizers/llm"
)

// DefaultBaseURL is Anthropic's own server.
const DefaultBaseURL = "https://api.anthropic.com"

// minBudget is the least that the API takes as a budget of thinking.
const minBudget = 1024

// Options are how a model is asked. Environment variables and files that the SDK knows are not looked at.
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
	options  Options
	wire     *wire.Client
	messages anthropic.MessageService
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
	base, err := url.Parse(o.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, errors.New("anthropic: the base URL must begin with http:// or https:// and name a host")
	}
	p := &Provider{options: o, wire: wire.New(wire.Options{
		HTTPClient: o.HTTPClient, IdleTimeout: o.IdleTimeout, MaxAnswerBytes: o.MaxAnswerBytes, Overflow: o.Overflow,
		Named: true,
	})}
	// The service is made without the client around it, which is what reads the environment. Traces could hold content.
	with := []option.RequestOption{
		option.WithBaseURL(o.BaseURL), option.WithHTTPClient(p.wire.HTTP()), option.WithMaxRetries(0),
		option.WithoutOpenTelemetry(),
	}
	if o.APIKey != "" {
		with = append(with, option.WithAPIKey(o.APIKey))
	}
	p.messages = anthropic.NewMessageService(with...)
	return p, nil
}

// Dialect implements llm.Provider.
func (*Provider) Dialect() compactordv1.Dialect { return compactordv1.Dialect_DIALECT_ANTHROPIC }

// Complete implements llm.Provider.
func (p *Provider) Complete(ctx context.Context, c *llm.Completion, text func(delta string)) (*llm.Answer, error) {
	ctx, x := p.wire.Begin(ctx)
	defer x.End()
	if c.View != nil {
		x.Rewrite(func(body []byte) ([]byte, error) { return onView(body, c.View) })
	}
	stream := p.messages.NewStreaming(ctx, p.request(c))
	defer func() { _ = stream.Close() }()
	reading := &reading{x: x, text: x.Text(text), answer: &llm.Answer{Model: p.options.Model}}
	for x.Step(stream.Next) {
		if !reading.take(stream.Current()) {
			break
		}
	}
	return x.Finish(reading.answer, reading.text, reading.finished, stream.Err())
}

func (p *Provider) request(c *llm.Completion) anthropic.MessageNewParams {
	request := anthropic.MessageNewParams{
		Model:     p.options.Model,
		MaxTokens: int64(c.MaxOutputTokens),
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(c.User))},
	}
	if c.System != "" {
		request.System = []anthropic.TextBlockParam{{Text: c.System}}
	}
	if c.View == nil {
		think(&request, c.Effort)
	}
	return request
}

// think says how hard to think.
func think(request *anthropic.MessageNewParams, effort string) {
	budget, err := strconv.ParseInt(effort, 10, 64)
	switch {
	case effort == "":
	case err != nil:
		request.OutputConfig.Effort = anthropic.OutputConfigEffort(effort)
	case min(budget, request.MaxTokens-1) < minBudget:
		request.Thinking.OfDisabled = &anthropic.ThinkingConfigDisabledParam{}
	default:
		// The budget is part of what may be written.
		request.Thinking = anthropic.ThinkingConfigParamOfEnabled(min(budget, request.MaxTokens-1))
	}
}
