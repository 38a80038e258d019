package openai_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers/internal/wire/wiretest"
	"github.com/compactord/compactord/summarizers/llm"
	"github.com/compactord/compactord/summarizers/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var variables = []string{
	"OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS",
}

// making returns a function that makes providers for one of the APIs.
func making(api openai.API) func(o wiretest.Options) (llm.Provider, error) {
	return func(o wiretest.Options) (llm.Provider, error) {
		return openai.New(openai.Options{
			Model: "m", BaseURL: o.BaseURL + "/v1", APIKey: wiretest.Key, API: api, HTTPClient: o.HTTPClient,
			IdleTimeout: o.IdleTimeout, MaxAnswerBytes: o.MaxAnswerBytes, Overflow: o.Overflow,
		})
	}
}

func errorBody(code string) string {
	return `{"error":{"message":"what it says","type":null,"param":null,"code":"` + code + `"}}`
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]openai.Options{
		"no model":             {},
		"no host":              {Model: "m", BaseURL: "http://"},
		"another scheme":       {Model: "m", BaseURL: "file:///etc"},
		"no address":           {Model: "m", BaseURL: "::"},
		"another API":          {Model: "m", API: "completions"},
		"another name of it":   {Model: "m", TokenLimit: "max_length"},
		"an address by itself": {Model: "m", BaseURL: "localhost:11434"},
	} {
		o.APIKey = wiretest.Key
		_, err := openai.New(o)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), wiretest.Key)
	}
}

func TestDialect(t *testing.T) {
	t.Parallel()
	for api, want := range map[openai.API]compactordv1.Dialect{
		"":                  compactordv1.Dialect_DIALECT_OPENAI_CHAT,
		openai.APIChat:      compactordv1.Dialect_DIALECT_OPENAI_CHAT,
		openai.APIResponses: compactordv1.Dialect_DIALECT_OPENAI_RESPONSES,
	} {
		p, err := openai.New(openai.Options{Model: "m", API: api})
		require.NoError(t, err)
		require.Equal(t, want, p.Dialect())
	}
}
