package llmtest_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/compactord/compactord/summarizers/llm/llmtest"
)

var paths = map[llmtest.Protocol]string{
	llmtest.Chat: "/v1/chat/completions", llmtest.Responses: "/v1/responses", llmtest.Messages: "/v1/messages",
	llmtest.Gemini: "/v1beta/models/m-1:streamGenerateContent?alt=sse",
}

// bodies are requests with the system prompt "Be brief." and the user message "Hello there".
var bodies = map[llmtest.Protocol]string{
	llmtest.Chat: `{"model":"m-1","stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":70,"reasoning_effort":"low",` +
		`"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"Hello "},{"type":"text","text":"there"}]}]}`,
	llmtest.Responses: `{"model":"m-1","stream":true,"max_output_tokens":70,"reasoning":{"effort":"low"},"instructions":"Be brief.",` +
		`"input":[{"role":"user","content":[{"type":"input_text","text":"Hello there"}]}]}`,
	llmtest.Messages: `{"model":"m-1","stream":true,"max_tokens":70,"output_config":{"effort":"low"},"system":[{"type":"text","text":"Be brief."}],` +
		`"messages":[{"role":"user","content":"Hello there"}]}`,
	llmtest.Gemini: `{"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"Hello there"}]}],` +
		`"generationConfig":{"maxOutputTokens":70,"thinkingConfig":{"thinkingLevel":"low"}}}`,
}

// answered is the part of an answer that arrived.
type answered struct {
	status int
	header http.Header
	body   string
	// err says why no more of it arrived. It is nil if the HTTP response is complete.
	err error
}

// ask sends the usual request and reads the answer to its end.
func ask(t testing.TB, s *llmtest.Server, p llmtest.Protocol) answered {
	t.Helper()
	return askWith(t.Context(), t, s, p, bodies[p])
}

func askWith(ctx context.Context, t testing.TB, s *llmtest.Server, p llmtest.Protocol, body string) answered {
	t.Helper()
	answer, err := s.Client().Do(post(ctx, t, s.URL()+paths[p], body))
	if err != nil {
		return answered{err: err}
	}
	defer func() { _ = answer.Body.Close() }()
	read, err := io.ReadAll(answer.Body)
	return answered{answer.StatusCode, answer.Header, string(read), err}
}

func post(ctx context.Context, t testing.TB, url, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
	}
	req.Header.Set("X-Test", "yes")
	return req
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
