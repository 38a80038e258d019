package openai_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/internal/wire/wiretest"
	"github.com/compactord/compactord/summarizers/llm"
	"github.com/compactord/compactord/summarizers/openai"
)

// unsupported answers like a server that does not accept these parameters.
func unsupported(names ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		for _, name := range names {
			if strings.Contains(string(body), `"`+name+`"`) {
				wiretest.Answer(400, "application/json", `{"error":{"message":"m","type":"invalid_request_error","param":"`+name+
					`","code":"unsupported_parameter"}}`)(w, r)
				return
			}
		}
		wiretest.Stream(chatWhole)(w, r)
	}
}

// A server that needs the other name of the limit gets it, at once and in later requests. A server that refuses both
// names is not asked a third time.
func TestOtherNameOfTheLimit(t *testing.T) {
	t.Parallel()
	names := []string{openai.MaxTokens, openai.MaxCompletionTokens}
	for i, name := range names {
		server := wiretest.Serve(t, unsupported(name))
		p, err := openai.New(openai.Options{Model: "m", BaseURL: server.URL, HTTPClient: server.Client(), TokenLimit: name})
		require.NoError(t, err)
		for range 2 {
			answer, err := wiretest.Ask(t, p, &llm.Completion{User: "x", MaxOutputTokens: 100})
			require.NoError(t, err)
			require.Equal(t, "Hello, 世界", answer.Text)
		}
		seen := server.Seen()
		require.Len(t, seen, 3)
		require.Contains(t, seen[0].Body, `"`+name+`":100`)
		for _, later := range seen[1:] {
			require.Contains(t, later.Body, `"`+names[1-i]+`":100`)
			require.NotContains(t, later.Body, `"`+name+`"`)
		}
	}

	server := wiretest.Serve(t, unsupported(names...))
	p, err := openai.New(openai.Options{Model: "m", BaseURL: server.URL, HTTPClient: server.Client()})
	require.NoError(t, err)
	for asked := 2; asked <= 3; asked++ {
		_, err = wiretest.Ask(t, p, &llm.Completion{User: "x", MaxOutputTokens: 100})
		var refused *summarizers.ProviderError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, "the provider answered with HTTP status 400 (unsupported_parameter: max_completion_tokens)", err.Error())
		require.Len(t, server.Seen(), asked)
	}
}
