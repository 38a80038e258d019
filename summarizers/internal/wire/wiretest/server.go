// Package wiretest is what the tests of the providers share: a server that answers as it is told, and a suite of what can
// go wrong on the wire, which every provider passes.
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

// Key is the key that the suite's providers are made with.
const Key = "key-that-nobody-may-see"

// Options are what every provider is made with.
type Options struct {
	BaseURL        string
	HTTPClient     *http.Client
	IdleTimeout    time.Duration
	MaxAnswerBytes int64
	Overflow       func(status int, code, message string) bool
}

// Request is a request as the server saw it.
type Request struct {
	Method, Path, Query string
	Header              http.Header
	Body                string
}

// Server answers as its handler does, and keeps what it was asked.
type Server struct {
	*httptest.Server
	mu   sync.Mutex
	seen []Request
}

// Serve starts a server, which ends with the test.
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

// Options are those to speak to the server with.
func (s *Server) Options() Options { return Options{BaseURL: s.URL, HTTPClient: s.Client()} }

// Seen are the requests so far.
func (s *Server) Seen() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// Stream answers with a stream.
func Stream(body string) http.HandlerFunc { return Answer(http.StatusOK, "text/event-stream", body) }

// Answer answers.
func Answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// Events writes a stream of data lines.
func Events(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		b.WriteString("data: " + d + "\n\n")
	}
	return b.String()
}

// Ask has a provider complete, and checks that the deltas are the text of the answer. Of an error it takes off the host,
// which is another one each time.
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

// SameBytes compares to the byte: for an equal JSON of other bytes a provider's cache has nothing.
func SameBytes(t testing.TB, want, got string) {
	t.Helper()
	require.Equal(t, []byte(want), []byte(got), "%s\n%s", want, got)
}
