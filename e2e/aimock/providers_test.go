package aimock_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/e2e/daemontest"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/llm"
	"github.com/compactord/compactord/summarizers/llm/llmtest"
)

// fixtures are the requests of these tests with their responses. Usage has the field names of all providers; each uses
// its own.
func fixtures() []object {
	usage := object{
		"prompt_tokens": 70, "completion_tokens": 9, "input_tokens": 70, "output_tokens": 9,
		"promptTokenCount": 70, "candidatesTokenCount": 9,
	}
	return []object{
		answering("Say hello.", object{"content": "Hello! 你好! I am a mock, and I write more than one piece of text.", "reasoning": "Hm. Aloud?", "usage": usage}),
		answering("Be cut off.", object{"content": "So far", "finishReason": "length"}),
		answering("Call a tool.", object{"toolCalls": []object{{"name": "ls", "arguments": `{"path":"."}`}}}),
		answering("Be busy.", object{
			"error": object{"message": "I quote: Be busy.", "type": "rate_limit_error", "code": "rate_limit_exceeded"}, "status": 429, "retryAfter": 7,
		}),
		answering("Break down.", object{"error": object{"message": "I quote: Break down.", "type": "api_error"}, "status": 500}),
	}
}

func complete(t *testing.T, provider llm.Provider, user string) (*llm.Answer, string, error) {
	t.Helper()
	var pieces []string
	answer, err := provider.Complete(t.Context(), &llm.Completion{
		System: "You write what you are told.", User: user, MaxOutputTokens: 500,
	}, func(delta string) { pieces = append(pieces, delta) })
	return answer, strings.Join(pieces, "|"), err
}

func TestProvidersCompleteAgainstTheMock(t *testing.T) {
	m := start(t, fixtures()...)
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			before := len(m.journal())
			provider := daemontest.Provider(t, p, m.server(p))
			answer, pieces, err := complete(t, provider, "Say hello.")
			require.NoError(t, err)
			require.Equal(t, "Hello! 你好! I am a mock, and I write more than one piece of text.", answer.Text)
			require.Equal(t, answer.Text, strings.ReplaceAll(pieces, "|", ""))
			require.Contains(t, pieces, "|", "it is a stream")
			require.False(t, answer.CutOff || answer.ToolCall || answer.Refused)
			require.EqualValues(t, 70, answer.Usage.GetInputTokens())
			require.EqualValues(t, 9, answer.Usage.GetOutputTokens())

			asked := m.journal()[before:]
			require.Len(t, asked, 1)
			require.Equal(t, paths[p], strings.TrimSuffix(asked[0].Path, "?alt=sse"))
			require.Equal(t, daemontest.ModelName, asked[0].Body.Model)
			require.Len(t, asked[0].Body.Messages, 2)
			require.Equal(t, "system", asked[0].Body.Messages[0].Role)
			require.Equal(t, "You write what you are told.", asked[0].Body.Messages[0].Content)
			require.Equal(t, "Say hello.", asked[0].Body.Messages[1].Content)
		})
	}
}

func TestProvidersReportHowTheMockEnds(t *testing.T) {
	m := start(t, fixtures()...)
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			provider := daemontest.Provider(t, p, m.server(p))
			answer, _, err := complete(t, provider, "Be cut off.")
			require.NoError(t, err)
			require.True(t, answer.CutOff)
			answer, _, err = complete(t, provider, "Call a tool.")
			require.NoError(t, err)
			require.True(t, answer.ToolCall)

			var failure *summarizers.ProviderError
			_, _, err = complete(t, provider, "Be busy.")
			require.ErrorAs(t, err, &failure)
			require.Equal(t, http.StatusTooManyRequests, failure.Status)
			require.True(t, failure.Retryable)
			require.Equal(t, 7*time.Second, failure.RetryAfter)
			require.Contains(t, failure.Code, "rate_limit")
			_, _, err = complete(t, provider, "Break down.")
			require.ErrorAs(t, err, &failure)
			require.Equal(t, http.StatusInternalServerError, failure.Status)
			require.True(t, failure.Retryable)
			require.NotContains(t, err.Error(), "quote")

			server := m.server(p)
			server.APIKey = "another"
			_, _, err = complete(t, daemontest.Provider(t, p, server), "Say hello.")
			require.ErrorAs(t, err, &failure)
			require.Equal(t, http.StatusUnauthorized, failure.Status)
			require.False(t, failure.Retryable)
			require.NotContains(t, err.Error(), "another")
		})
	}
}
