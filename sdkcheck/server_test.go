package sdkcheck_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	summarizeranthropic "github.com/compactord/compactord/summarizers/anthropic"
	summarizergemini "github.com/compactord/compactord/summarizers/gemini"
	"github.com/compactord/compactord/summarizers/llm"
	summarizeropenai "github.com/compactord/compactord/summarizers/openai"
)

const (
	model = "model-1"
	key   = "key-of-the-test"
)

// request is a request as the server received it, without what an SDK says about itself.
type request struct {
	Method, Path, Query string
	Header              map[string]string
	Body                map[string]json.RawMessage
}

// server answers every request with the same stream, and keeps the last request.
type server struct {
	*httptest.Server
	stream string
	seen   request
}

func serve(t testing.TB) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.seen = request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: make(map[string]string)}
		for _, name := range []string{"Accept", "Content-Type", "Authorization", "X-Api-Key", "Anthropic-Version", "X-Goog-Api-Key"} {
			s.seen.Header[name] = r.Header.Get(name)
		}
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &s.seen.Body); err != nil {
			t.Errorf("the body is no JSON object: %v", err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, s.stream)
	}))
	t.Cleanup(s.Close)
	return s
}

// answer sets the answer to the next request: the events of a stream as the provider writes them.
func (s *server) answer(kind compactordv1.Dialect, events []json.RawMessage) {
	var b strings.Builder
	for _, event := range events {
		var named struct{ Type string }
		if kind == anthropic && json.Unmarshal(event, &named) == nil {
			b.WriteString("event: " + named.Type + "\n")
		}
		b.WriteString("data: " + string(event) + "\n\n")
	}
	if kind == chat {
		b.WriteString("data: [DONE]\n\n")
	}
	s.stream = b.String()
}

// ours makes a provider of package summarizers for a dialect, which sends to the server.
func (s *server) ours(t require.TestingT, kind compactordv1.Dialect) llm.Provider {
	var p llm.Provider
	var err error
	switch kind {
	case anthropic:
		p, err = summarizeranthropic.New(summarizeranthropic.Options{Model: model, BaseURL: s.URL, APIKey: key, HTTPClient: s.Client()})
	case gemini:
		p, err = summarizergemini.New(summarizergemini.Options{Model: model, BaseURL: s.URL, APIKey: key, HTTPClient: s.Client()})
	default:
		api := summarizeropenai.APIChat
		if kind == responses {
			api = summarizeropenai.APIResponses
		}
		p, err = summarizeropenai.New(summarizeropenai.Options{
			Model: model, BaseURL: s.URL + "/v1", APIKey: key, API: api, HTTPClient: s.Client(),
		})
	}
	require.NoError(t, err)
	require.Equal(t, kind, p.Dialect())
	return p
}

// theirs returns a function that sends to the server with the provider's SDK.
func (s *server) theirs(t testing.TB, kind compactordv1.Dialect) func(c *llm.Completion) (*llm.Answer, error) {
	t.Helper()
	switch kind {
	case anthropic:
		return func(c *llm.Completion) (*llm.Answer, error) { return askAnthropic(t.Context(), s, c) }
	case gemini:
		return func(c *llm.Completion) (*llm.Answer, error) { return askGemini(t.Context(), s, c) }
	case responses:
		return func(c *llm.Completion) (*llm.Answer, error) { return askResponses(t.Context(), s, c) }
	default:
		return func(c *llm.Completion) (*llm.Answer, error) { return askChat(t.Context(), s, c) }
	}
}
