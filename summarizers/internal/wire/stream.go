package wire

import (
	"encoding/json"
	"errors"
	"io"
)

// events is the body that an SDK reads: the events of the answer, looked through and written anew. However the answer ends,
// the body ends well: what went wrong is the Exchange's to know, and some SDKs log the errors of bodies.
type events struct {
	x    *Exchange
	from io.Closer
	in   *decoder
	// out waits to be read, and behind it is the end.
	out   []byte
	ended bool
}

func newEvents(x *Exchange, body io.ReadCloser) io.ReadCloser {
	limit := x.client.options.MaxAnswerBytes
	bounded := &bounded{Reader: body, left: limit * bodyFactor, x: x}
	return &events{x: x, from: body, in: newDecoder(bounded, int(limit)+maxDocument)}
}

func (e *events) Close() error { return e.from.Close() }

func (e *events) Read(p []byte) (int, error) {
	for len(e.out) == 0 {
		if e.ended {
			return 0, io.EOF
		}
		e.ended = e.take() != nil
	}
	n := copy(p, e.out)
	e.out = e.out[n:]
	return n, nil
}

// take takes in the next event. Its error ends the stream, behind what was taken in.
func (e *events) take() error {
	next, err := e.in.next()
	switch {
	case errors.Is(err, errLong):
		return e.fail(err)
	case err != nil && !errors.Is(err, io.EOF):
		if e.x.broken == nil {
			e.x.broken = e.x.interrupted(err)
		}
		return e.x.broken
	case string(next) == "[DONE]":
		return io.EOF
	case len(next) == 0:
		return err
	case !json.Valid(next):
		if err != nil {
			// Half an event: the stream was cut.
			return err
		}
		return e.fail(errNoJSON)
	}
	if failure := e.look(next); failure != nil {
		return failure
	}
	return err
}

var errNoJSON = errors.New("an event is no JSON")

func (e *events) fail(err error) error {
	failure := malformed(err)
	e.x.Fail(failure)
	return failure
}

// look hands an event on, or fails if it tells of an error.
func (e *events) look(next event) error {
	said := readFailure(next)
	if said == nil {
		e.handOn(withoutNullError(next))
		return nil
	}
	failure := e.x.client.told(okStatus, said)
	e.x.Fail(failure)
	if said.response {
		// The SDK can read it, and it may tell what the failed answer took.
		e.handOn(next)
	}
	return failure
}

func (e *events) handOn(data []byte) {
	var named struct {
		Type string `json:"type"`
	}
	if e.x.client.options.Named {
		_ = json.Unmarshal(data, &named)
	}
	e.out = appendEvent(e.out, sanitize(named.Type), data)
}

// withoutNullError removes an error that is none, which some servers add and an SDK takes for one.
func withoutNullError(data []byte) []byte {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return data
	}
	if _, ok := fields["error"]; !ok {
		return data
	}
	delete(fields, "error")
	without, err := json.Marshal(fields)
	if err != nil {
		return data
	}
	return without
}

// bounded ends a stream that does not end by itself.
type bounded struct {
	io.Reader
	left int64
	x    *Exchange
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.x.overlong = true
		return 0, io.EOF
	}
	n, err := b.Reader.Read(p)
	b.left -= int64(n)
	return n, err
}
