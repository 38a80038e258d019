// Package llmtest has a server for tests that answers as the providers of language models do, well or badly, over real
// HTTP.
//
// A test says what is answered, request by request (Script) or by a function (Handle), and sees afterwards what was
// asked: paths, headers, bodies, texts, and when the client closed a request that was not answered to its end. Nothing
// sleeps: what is slow waits for the test.
package llmtest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Server is a provider of all four protocols. It ends with its test.
type Server struct {
	t      testing.TB
	http   *httptest.Server
	client *http.Client
	// down is closed when the server ends: answers that wait for the client or the test end then.
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

// New starts a server that answers nothing yet: a request that nobody has said an answer to fails the test.
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

// URL is the server's root, without a slash at its end.
func (s *Server) URL() string { return s.http.URL }

// BaseURL is what the protocol's provider takes for a base URL.
func (s *Server) BaseURL(p Protocol) string {
	if p == Chat || p == Responses {
		return s.http.URL + "/v1/"
	}
	return s.http.URL
}

// Client returns an HTTP client whose connections end with the server.
func (s *Server) Client() *http.Client { return s.client }

// Script says what the next requests are answered, in the order in which they arrive. One more fails the test.
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

// Handle says what every request from now on is answered. Requests may come at the same time.
func (s *Server) Handle(answer func(*Request) Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// Window has requests refused whose texts have more tokens, in the provider's own words, whatever else they would be
// answered.
func (s *Server) Window(tokens uint32, count func(text string) uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.window, s.count = tokens, count
}

// Largest is how many tokens the texts of the largest request had, refused ones included, as Window's count counts.
func (s *Server) Largest() uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.largest
}

// MostOpen is how many requests were open at the same time at the most. One that the client has closed is open until the
// server has noticed.
func (s *Server) MostOpen() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mostOpen
}

// Requests returns what was asked so far.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[:len(s.requests):len(s.requests)]
}

// Await waits until request n, from 0, has arrived, and returns it.
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
		// The client has gone before it had sent all.
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
	// The context ends when the client closes the connection; after the answer's last byte that is nobody's business.
	a.settle = context.AfterFunc(r.Context(), a.left)
	defer a.whole()
	a.give(reply)
}

// take notes a request and returns what it is answered.
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

// done counts a request out: the client has had all of its answer, or all that it wanted.
func (s *Server) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
}
