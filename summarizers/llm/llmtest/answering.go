package llmtest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync/atomic"
)

// answering writes the answer to one request.
type answering struct {
	server  *Server
	req     *Request
	w       http.ResponseWriter
	control *http.ResponseController
	gone    <-chan struct{}
	// settle stops waiting for the client to close the request. It returns false if the client has closed it.
	settle  func() bool
	settled bool
	usage   Usage
	noUsage bool
	started bool
	broken  bool
	leaving atomic.Bool
}

// left records that the client closed the request. The end of the server does not count.
func (a *answering) left() {
	select {
	case <-a.server.down:
	default:
		if a.leaving.CompareAndSwap(false, true) {
			close(a.req.closed)
		}
	}
}

// whole says that the answer is complete, apart from a last piece. A client that closes the request now has read it
// all.
func (a *answering) whole() {
	if a.settled {
		return
	}
	a.settled = true
	defer a.server.done()
	stopped := a.settle()
	select {
	case <-a.gone:
		// What is called after the context can be stopped when the context has ended.
		a.left()
	default:
		if !stopped {
			a.left()
		}
	}
}

// give writes the answer. The model's text is recorded before the end of the answer is sent.
func (a *answering) give(reply Reply) {
	if reply.usage != nil {
		a.usage = *reply.usage
	}
	a.noUsage = reply.noUsage
	for name, values := range reply.header {
		a.w.Header()[name] = values
	}
	reply.write(a, newWire(a))
}

// head sends the status and the content type.
func (a *answering) head(status int, contentType string) {
	if a.started {
		return
	}
	a.started = true
	if a.w.Header().Get("Content-Type") == "" {
		a.w.Header().Set("Content-Type", contentType)
	}
	a.w.WriteHeader(status)
}

// raw sends a part of a stream unchanged, at once.
func (a *answering) raw(text string) {
	a.head(http.StatusOK, "text/event-stream; charset=utf-8")
	if a.broken {
		return
	}
	_, err := a.w.Write([]byte(text))
	if err == nil {
		err = a.control.Flush()
	}
	// The request's context reports a client that has gone.
	a.broken = err != nil
}

// event sends an event of a stream. Without a name it sends only the data.
func (a *answering) event(name string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	line := "data: " + string(text) + "\n\n"
	if name != "" {
		line = "event: " + name + "\n" + line
	}
	a.raw(line)
}

// say records a piece of the model's text.
func (a *answering) say(delta string) {
	a.req.mu.Lock()
	defer a.req.mu.Unlock()
	a.req.wrote = append(a.req.wrote, delta...)
}

// wait waits until the client closes the request. If the server ends first, it breaks the connection.
func (a *answering) wait() {
	select {
	case <-a.gone:
	case <-a.server.down:
		a.tear()
	}
}

// tear breaks the connection.
func (a *answering) tear() {
	a.whole()
	panic(http.ErrAbortHandler)
}

// id returns an id like those of providers.
func (a *answering) id(prefix string) string { return prefix + strconv.Itoa(a.req.Number) }
