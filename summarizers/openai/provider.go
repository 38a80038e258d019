// Package openai sends requests to models with the OpenAI API: Chat Completions or Responses, on OpenAI's own servers
// or on any other with one of these APIs, such as Ollama, vLLM, LM Studio or OpenRouter.
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

// API is one of OpenAI's two APIs.
type API string

// The APIs. An empty API means APIChat, which most servers have.
const (
	APIChat      API = "chat"
	APIResponses API = "responses"
)

// The values of Options.TokenLimit.
const (
	MaxCompletionTokens = "max_completion_tokens"
	MaxTokens           = "max_tokens"
)

// DefaultBaseURL is OpenAI's own server.
const DefaultBaseURL = "https://api.openai.com/v1"

// Options configure a Provider. It reads no environment variables.
type Options struct {
	// Model is the server's name for the model.
	Model string
	// BaseURL is the address before the paths of the API, with the API's version. Empty means DefaultBaseURL. Ollama's
	// is http://localhost:11434/v1.
	BaseURL string
	// APIKey is sent as the bearer token. If it is empty, none is sent, since local servers need none.
	APIKey string
	// Key returns the key of each request in the place of APIKey, where it can change. May be nil.
	Key func() string
	// API is the API to use. Empty means APIChat.
	API API
	// TokenLimit names the parameter for the output limit in Chat Completions. OpenAI's newer models require
	// MaxCompletionTokens. Many other servers only know MaxTokens, the older name. Empty means MaxCompletionTokens on
	// OpenAI's own servers and MaxTokens elsewhere. After a server has refused one name, it gets the other.
	TokenLimit string
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
type Provider struct {
	options Options
	wire    *wire.Client
	dialect dialect.Dialect
	// switched says that the server refused the TokenLimit of the options, so that it gets the other name.
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

// paths are the paths of the APIs.
var paths = map[API]string{APIChat: "/chat/completions", APIResponses: "/responses"}

// call returns the address, header and options of the request.
func (p *Provider) call(c *llm.Completion, limit string) *wire.Call {
	header := http.Header{"Accept": {"application/json"}}
	if key := wire.KeyOf(p.options.APIKey, p.options.Key); key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	return &wire.Call{
		Dialect: p.dialect, URL: p.options.BaseURL + paths[p.options.API], Header: header,
		Options: dialect.RequestOptions{
			Model: p.options.Model, MaxOutputTokens: c.MaxOutputTokens, TokenLimit: limit, Effort: c.Effort,
		},
	}
}
