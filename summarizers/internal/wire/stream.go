package wire

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/compactord/compactord/summarizers"
)

var errNoJSON = errors.New("an event is not JSON")

// events reads the events of an answer and checks that they are JSON.
type events struct {
	x     *exchange
	in    *decoder
	ended bool
}

func (x *exchange) newEvents(body io.Reader) *events {
	limit := x.client.options.MaxAnswerBytes
	bounded := &bounded{Reader: body, left: limit * bodyFactor, x: x}
	return &events{x: x, in: newDecoder(bounded, int(limit)+maxDocument)}
}

// next returns the next event, which is valid JSON. It returns nil at the end of the stream.
func (e *events) next() ([]byte, *summarizers.ProviderError) {
	for !e.ended {
		next, err := e.in.next()
		e.ended = err != nil
		switch {
		case errors.Is(err, errLong):
			return nil, malformed(err)
		case err != nil && !errors.Is(err, io.EOF):
			e.x.broken = e.x.interrupted(err)
			return nil, nil
		case string(next) == "[DONE]":
			return nil, nil
		case len(next) == 0:
			continue
		case json.Valid(next):
			return next, nil
		case e.ended:
			// The stream was cut within an event.
			return nil, nil
		default:
			return nil, malformed(errNoJSON)
		}
	}
	return nil, nil
}

// bounded ends a stream after a number of bytes.
type bounded struct {
	io.Reader
	left int64
	x    *exchange
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
