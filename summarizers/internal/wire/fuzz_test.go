package wire

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// Any bytes are split into the same events as by the simplest reader.
func FuzzDecoder(f *testing.F) {
	for _, seed := range []string{
		"", "data: {}\n\n", "data\ndata:\ndata: {}\n\n", "event: x\nid: 1\n: c\n\ndata: [\ndata: ]\n\n",
		"\ufeff\r\rdata: {\r\ndata: }\r\n\r\n", "data: [DONE]\n\n", `data: {"error":null}`, "data: {\n\n\ndata",
		`{"error":{"code":"context_length_exceeded","message":"x","details":[{"retryDelay":"3s"}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		const limit = 1 << 10
		readFailure(stream)
		read := decode(t, stream, limit)
		var simple []byte
		for _, e := range read {
			simple = append(append(append(simple, "data: "...), oneLine(e)...), "\n\n"...)
		}
		again := decode(t, simple, 2*limit)
		require.Len(t, again, len(read))
		for i, e := range read {
			require.Equal(t, string(oneLine(e)), string(again[i]))
		}
	})
}

// oneLine returns data on one line, which does not change JSON.
func oneLine(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\n"), []byte(" ")) }

// decode returns the events of a stream up to one that is too long.
func decode(t *testing.T, stream []byte, limit int) []event {
	t.Helper()
	d := newDecoder(bytes.NewReader(stream), limit)
	var events []event
	for {
		e, err := d.next()
		require.LessOrEqual(t, len(e), limit)
		if e != nil {
			events = append(events, e)
		}
		if err != nil {
			require.True(t, errors.Is(err, io.EOF) || errors.Is(err, errLong), err)
			return events
		}
	}
}
