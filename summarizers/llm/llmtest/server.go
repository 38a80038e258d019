// Package llmtest provides a test server that answers like the providers of language models, correctly or with errors,
// over real HTTP.
//
// A test defines the answers, request by request (Script) or with a function (Handle). Afterwards it can examine the
// requests: paths, headers, bodies, texts, and whether the client closed a request before the end of its answer.
// Nothing sleeps: slow answers wait for the test.
package llmtest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Server provides all four protocols. It ends with its test.
type Server struct {
	t      testing.TB
	http   *httptest.Server
	client *http.Client
	// down is closed when the server ends. It ends the answers that wait for the client or the test.
	down chan struct{}

	mu       sync.Mutex
	arrived  *sync.Cond
	requests []*Request
	answer   func(*Request) Reply
	window   uint32
	count    func(string) uint32
	largest  uint32
	open     int
	mostOpen int
}

// New starts a server without answers. A request for which the test has defined no answer fails the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, down: make(chan struct{})}
	s.arrived = sync.NewCond(&s.mu)
	s.Script()
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.client = s.http.Client()
	t.Cleanup(s.close)
	return s
}

func (s *Server) close() {
	close(s.down)
	s.client.CloseIdleConnections()
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL returns the server's root address, without a final slash.
func (s *Server) URL() string { return s.http.URL }

// BaseURL returns the base URL for the protocol's provider.
func (s *Server) BaseURL(p Protocol) string {
	if p == Chat || p == Responses {
		return s.http.URL + "/v1/"
	}
	return s.http.URL
}

// Client returns an HTTP client whose connections end with the server.
func (s *Server) Client() *http.Client { return s.client }

// Script defines the answers to the next requests, in the order in which they arrive. A further request fails the test.
func (s *Server) Script(steps ...Reply) {
	var mu sync.Mutex
	at := 0
	s.Handle(func(req *Request) Reply {
		mu.Lock()
		defer mu.Unlock()
		if at == len(steps) {
			s.t.Errorf("request %d to %s is not in the script of %d", req.Number, req.Path, len(steps))
			return Status(http.StatusBadRequest)
		}
		at++
		return steps[at-1]
	})
}

// Handle defines how all requests from now on are answered. answer may be called concurrently.
func (s *Server) Handle(answer func(*Request) Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// Window makes the server refuse requests whose texts have more tokens, with the provider's own error, whatever their
// answer would be.
func (s *Server) Window(tokens uint32, count func(text string) uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.window, s.count = tokens, count
}

// Largest returns the most tokens of any request, refused ones included, measured by Window's count.
func (s *Server) Largest() uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.largest
}

// MostOpen returns the highest number of requests that were open at the same time. A request that the client has closed
// is open until the server notices.
func (s *Server) MostOpen() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mostOpen
}

// Requests returns the requests so far.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[:len(s.requests):len(s.requests)]
}

// Await waits until request n, counted from 0, has arrived, and returns it.
func (s *Server) Await(n int) *Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.requests) <= n {
		s.arrived.Wait()
	}
	return s.requests[n]
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	protocol, ok := protocolOf(r.URL.Path)
	if !ok || r.Method != http.MethodPost {
		s.t.Errorf("a request that no protocol has: %s %s", r.Method, r.URL.Path)
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		// The client closed the request before it had sent all of it.
		return
	}
	req, err := parse(protocol, r, body)
	if err != nil {
		s.t.Errorf("a request to %s that the provider would not take: %v", r.URL.Path, err)
		http.Error(w, "malformed", http.StatusBadRequest)
		return
	}
	reply := s.take(req)
	defer close(req.ended)
	a := &answering{server: s, req: req, w: w, control: http.NewResponseController(w), gone: r.Context().Done(), usage: DefaultUsage}
	// The context ends when the client closes the connection. That does not matter after the last byte of the answer.
	a.settle = context.AfterFunc(r.Context(), a.left)
	defer a.whole()
	a.give(reply)
}

// take records a request and returns the answer to it.
func (s *Server) take(req *Request) Reply {
	s.mu.Lock()
	req.Number = len(s.requests)
	if s.count != nil {
		req.Tokens = s.count(req.Text())
		s.largest = max(s.largest, req.Tokens)
	}
	over := s.count != nil && req.Tokens > s.window
	window, answer := s.window, s.answer
	s.requests = append(s.requests, req)
	s.open++
	s.mostOpen = max(s.mostOpen, s.open)
	s.arrived.Broadcast()
	s.mu.Unlock()
	if over {
		return overflowOf(req.Tokens, window)
	}
	return answer(req)
}

// done records that a request has ended: the client has read the answer, or has closed the request.
func (s *Server) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
}
