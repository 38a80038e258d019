package llmtest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync/atomic"
)

// answering is an answer being written.
type answering struct {
	server  *Server
	req     *Request
	w       http.ResponseWriter
	control *http.ResponseController
	gone    <-chan struct{}
	// settle stops watching whether the client leaves, and says false where it has left.
	settle  func() bool
	settled bool
	usage   Usage
	noUsage bool
	started bool
	broken  bool
	leaving atomic.Bool
}

// left notes that the client closed the request. That the server ends is no such thing.
func (a *answering) left() {
	select {
	case <-a.server.down:
	default:
		if a.leaving.CompareAndSwap(false, true) {
			close(a.req.closed)
		}
	}
}

// whole says that what follows, if anything, is the answer's last piece: who closes after it has had all.
func (a *answering) whole() {
	if a.settled {
		return
	}
	a.settled = true
	defer a.server.done()
	if !a.settle() {
		a.left()
	}
}

// give writes the answer. What the model wrote is noted before anything of the end of the answer is sent.
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

// head sends status and content type.
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

// raw sends text of a stream as it is, at once.
func (a *answering) raw(text string) {
	a.head(http.StatusOK, "text/event-stream; charset=utf-8")
	if a.broken {
		return
	}
	_, err := a.w.Write([]byte(text))
	if err == nil {
		err = a.control.Flush()
	}
	// A client that has gone is noted by its context.
	a.broken = err != nil
}

// event sends an event of a stream; without a name only its data.
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

// say notes a piece of what the model wrote.
func (a *answering) say(delta string) {
	a.req.mu.Lock()
	defer a.req.mu.Unlock()
	a.req.wrote = append(a.req.wrote, delta...)
}

// wait waits for the client to go. Where the server ends first, it breaks the connection.
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

// id is an id like those that providers give.
func (a *answering) id(prefix string) string { return prefix + strconv.Itoa(a.req.Number) }
