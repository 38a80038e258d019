package daemontest

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/overflow"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers/anthropic"
	"github.com/compactord/compactord/summarizers/gemini"
	"github.com/compactord/compactord/summarizers/llm"
	"github.com/compactord/compactord/summarizers/llm/llmtest"
	"github.com/compactord/compactord/summarizers/openai"
)

// Server is the provider's endpoint.
type Server struct {
	// BaseURL is the base URL in the form of the protocol's provider.
	BaseURL, APIKey string
	Client          *http.Client
	// IdleTimeout is how long an answer may be silent; 0 means the provider's default.
	IdleTimeout time.Duration
	// MaxAnswerBytes is the size at which an endless answer is ended; 0 means the provider's default.
	MaxAnswerBytes int64
}

// ModelName is the name of the model in Provider's requests.
const ModelName = "model-1"

// Kind returns the kind of a profile for a protocol.
func Kind(p llmtest.Protocol) string {
	switch p {
	case llmtest.Chat, llmtest.Responses:
		return "openai"
	case llmtest.Messages:
		return "anthropic"
	default:
		return "gemini"
	}
}

// Provider returns a client of a model, made as the program makes it.
func Provider(t testing.TB, p llmtest.Protocol, s Server) llm.Provider {
	t.Helper()
	tooLong := tooLong(t)
	var provider llm.Provider
	var err error
	switch p {
	case llmtest.Chat, llmtest.Responses:
		api := openai.APIChat
		if p == llmtest.Responses {
			api = openai.APIResponses
		}
		provider, err = openai.New(openai.Options{
			Model: ModelName, BaseURL: s.BaseURL, APIKey: s.APIKey, API: api, HTTPClient: s.Client,
			IdleTimeout: s.IdleTimeout, MaxAnswerBytes: s.MaxAnswerBytes, Overflow: tooLong,
		})
	case llmtest.Messages:
		provider, err = anthropic.New(anthropic.Options{
			Model: ModelName, BaseURL: s.BaseURL, APIKey: s.APIKey, HTTPClient: s.Client,
			IdleTimeout: s.IdleTimeout, MaxAnswerBytes: s.MaxAnswerBytes, Overflow: tooLong,
		})
	default:
		provider, err = gemini.New(gemini.Options{
			Model: ModelName, BaseURL: s.BaseURL, APIKey: s.APIKey, HTTPClient: s.Client,
			IdleTimeout: s.IdleTimeout, MaxAnswerBytes: s.MaxAnswerBytes, Overflow: tooLong,
		})
	}
	require.NoError(t, err)
	return provider
}

// tooLong recognizes providers' overflow errors as ClassifyError does.
func tooLong(t testing.TB) func(status int, code, message string) bool {
	t.Helper()
	classifier, err := overflow.New(overflow.Extra{})
	require.NoError(t, err)
	return func(status int, code, message string) bool {
		return classifier.Classify(&compactordv1.ClassifyErrorRequest{
			HttpStatus: uint32(max(0, status)), ErrorText: code + ": " + message,
		}, 0).GetOverflow()
	}
}
