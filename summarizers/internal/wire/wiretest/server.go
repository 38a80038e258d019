// Package wiretest is shared by the tests of the providers: a server whose answers the test defines, and a suite of
// what can go wrong on the wire, which every provider must pass.
package wiretest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/llm"
)

// Key is the API key of the suite's providers.
const Key = "key-that-nobody-may-see"

// Options are the options that all providers share.
type Options struct {
	BaseURL        string
	HTTPClient     *http.Client
	IdleTimeout    time.Duration
	MaxAnswerBytes int64
	Overflow       func(status int, code, message string) bool
}

// Request is a request that the server received.
type Request struct {
	Method, Path, Query string
	Header              http.Header
	Body                string
}

// Server answers with its handler, and keeps the requests.
type Server struct {
	*httptest.Server
	mu   sync.Mutex
	seen []Request
}

// Serve starts a server that ends with the test.
func Serve(t testing.TB, answer http.HandlerFunc) *Server {
	t.Helper()
	s := &Server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.seen = append(s.seen, Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(), Body: string(body)})
		s.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// Options returns the options for a provider that uses the server.
func (s *Server) Options() Options { return Options{BaseURL: s.URL, HTTPClient: s.Client()} }

// Seen returns the requests so far.
func (s *Server) Seen() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// Stream returns a handler that answers with a stream.
func Stream(body string) http.HandlerFunc { return Answer(http.StatusOK, "text/event-stream", body) }

// Answer returns a handler that always gives this answer.
func Answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// Events returns a stream with these data lines.
func Events(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		b.WriteString("data: " + d + "\n\n")
	}
	return b.String()
}

// Ask sends a request with a provider, and checks that the deltas form the text of the answer. It removes the host
// from an error, since the host differs each time.
func Ask(t testing.TB, p llm.Provider, c *llm.Completion) (*llm.Answer, error) {
	t.Helper()
	var deltas strings.Builder
	answer, err := p.Complete(t.Context(), c, func(delta string) {
		if delta == "" {
			t.Error("an empty delta")
		}
		deltas.WriteString(delta)
	})
	if err != nil {
		if refused := (*summarizers.ProviderError)(nil); errors.As(err, &refused) {
			refused.Host = ""
		}
		if answer != nil {
			require.Empty(t, answer.Text, "an error with a text")
			require.NotNil(t, answer.Usage)
		}
		return answer, err
	}
	require.NotNil(t, answer)
	require.Equal(t, deltas.String(), answer.Text)
	return answer, nil
}

// SameBytes compares bytes: a provider's cache does not recognize the same JSON in other bytes.
func SameBytes(t testing.TB, want, got string) {
	t.Helper()
	require.Equal(t, []byte(want), []byte(got), "%s\n%s", want, got)
}
