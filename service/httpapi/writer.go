package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/compactord/compactord/service/unread"
)

// chunkBytes is how much of an answer must be read to count as progress.
const chunkBytes = 16 << 10

// writer writes an answer, and notes what the client reads of it.
type writer struct {
	http.ResponseWriter
	control *http.ResponseController
	// sending is the answer that is on its way; nil where there is none.
	sending *unread.Sending
	// stop ends the limit of time, if there is one, and limited is closed where that was set.
	stop    func() bool
	limited chan struct{}
}

func newWriter(w http.ResponseWriter) *writer {
	return &writer{ResponseWriter: w, control: http.NewResponseController(w), limited: make(chan struct{})}
}

// limit bounds how long the client may take to read what is left when the call ends.
func (w *writer) limit(ctx context.Context) {
	w.stop = context.AfterFunc(ctx, func() {
		defer close(w.limited)
		_ = w.control.SetWriteDeadline(time.Now().Add(lastWords))
	})
}

// end notes that all is written. The connection goes on without a limit.
func (w *writer) end() {
	w.sent()
	if w.stop != nil && !w.stop() {
		<-w.limited
		_ = w.control.SetWriteDeadline(time.Time{})
	}
}

// send takes an answer of an interceptor, and returns its message.
func (w *writer) send(answer any) any {
	w.sent()
	w.sending = unread.Send(answer)
	return w.sending.Message
}

// sent notes that the answer has been written.
func (w *writer) sent() {
	if w.sending != nil {
		w.sending.Sent()
		w.sending = nil
	}
}

// Write writes a part of the answer. It returns when the client has made room for it.
func (w *writer) Write(content []byte) (written int, err error) {
	for len(content) > chunkBytes && err == nil {
		var n int
		n, err = w.ResponseWriter.Write(content[:chunkBytes])
		written, content = written+n, content[n:]
		if w.sending != nil {
			w.sending.Advance()
		}
	}
	if err != nil {
		return written, err
	}
	n, err := w.ResponseWriter.Write(content)
	return written + n, err
}

// Flush lets the client have what is written.
func (w *writer) Flush() { _ = w.control.Flush() }

// Unwrap is for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
