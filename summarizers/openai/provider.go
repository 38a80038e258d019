// Package openai asks models by the OpenAI API: Chat Completions or Responses, of OpenAI or of any server that speaks one
// of both, such as Ollama, vLLM, LM Studio or OpenRouter.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/openaichat"
	"github.com/compactord/compactord/dialects/openairesponses"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers/internal/wire"
	"github.com/compactord/compactord/summarizers/llm"
)

// API is which of OpenAI's two APIs is spoken.
type API string

// The APIs. The empty one is APIChat, which most servers speak.
const (
	APIChat      API = "chat"
	APIResponses API = "responses"
)

// The names that Options.TokenLimit takes.
const (
	MaxCompletionTokens = "max_completion_tokens"
	MaxTokens           = "max_tokens"
)

// DefaultBaseURL is OpenAI's own server.
const DefaultBaseURL = "https://api.openai.com/v1"

// Options are how a model is asked. No environment variable is looked at.
type Options struct {
	// Model is the model as the server names it.
	Model string
	// BaseURL is the address that the paths of the API follow, with its version; empty: DefaultBaseURL. Ollama's is
	// http://localhost:11434/v1.
	BaseURL string
	// APIKey is sent as the bearer token; empty: none is sent, as local servers want none.
	APIKey string
	// API is which one to speak; empty: APIChat.
	API API
	// TokenLimit is how Chat Completions are told the output limit: MaxCompletionTokens, which OpenAI's newer models insist
	// on, or MaxTokens, the older name, which is all that many others know; empty: by whether the server is OpenAI's. A
	// server that refuses the one gets the other from then on.
	TokenLimit string
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
type Provider struct {
	options Options
	wire    *wire.Client
	dialect dialect.Dialect
	// switched says that the server has refused the TokenLimit of the options, and gets the other one.
	switched atomic.Bool
}

var _ llm.Provider = (*Provider)(nil)

// New returns a provider. It makes no request.
func New(o Options) (*Provider, error) {
	if o.Model == "" {
		return nil, errors.New("openai: a model is required")
	}
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	base, err := wire.ParseBaseURL("openai", o.BaseURL)
	if err != nil {
		return nil, err
	}
	switch o.API {
	case "":
		o.API = APIChat
	case APIChat, APIResponses:
	default:
		return nil, fmt.Errorf("openai: the API must be %q or %q", APIChat, APIResponses)
	}
	switch o.TokenLimit {
	case "":
		o.TokenLimit = MaxTokens
		if host := base.Hostname(); host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com") {
			o.TokenLimit = MaxCompletionTokens
		}
	case MaxCompletionTokens, MaxTokens:
	default:
		return nil, fmt.Errorf("openai: the token limit must be %q or %q", MaxCompletionTokens, MaxTokens)
	}
	o.BaseURL = strings.TrimSuffix(o.BaseURL, "/")
	return &Provider{options: o, dialect: dialectOf(o.API), wire: wire.New(wire.Options{
		HTTPClient: o.HTTPClient, IdleTimeout: o.IdleTimeout, MaxAnswerBytes: o.MaxAnswerBytes, Overflow: o.Overflow,
	})}, nil
}

func dialectOf(api API) dialect.Dialect {
	if api == APIResponses {
		return openairesponses.New()
	}
	return openaichat.New()
}

// Dialect implements llm.Provider.
func (p *Provider) Dialect() compactordv1.Dialect { return p.dialect.Kind() }

// Complete implements llm.Provider.
func (p *Provider) Complete(ctx context.Context, c *llm.Completion, text func(delta string)) (*llm.Answer, error) {
	limit := p.tokenLimit()
	answer, err := p.wire.Complete(ctx, p.call(c, limit), c, text)
	if p.refusesLimit(err, limit) {
		return p.wire.Complete(ctx, p.call(c, p.tokenLimit()), c, text)
	}
	return answer, err
}

// paths are where the APIs are spoken.
var paths = map[API]string{APIChat: "/chat/completions", APIResponses: "/responses"}

// call says where and how the model is asked.
func (p *Provider) call(c *llm.Completion, limit string) *wire.Call {
	header := http.Header{"Accept": {"application/json"}}
	if p.options.APIKey != "" {
		header.Set("Authorization", "Bearer "+p.options.APIKey)
	}
	return &wire.Call{
		Dialect: p.dialect, URL: p.options.BaseURL + paths[p.options.API], Header: header,
		Options: dialect.RequestOptions{
			Model: p.options.Model, MaxOutputTokens: c.MaxOutputTokens, TokenLimit: limit, Effort: c.Effort,
		},
	}
}
