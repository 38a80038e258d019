package transcript

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// endless returns a text and then one byte for ever.
type endless struct {
	start io.Reader
	fill  byte
}

func (e *endless) Read(p []byte) (int, error) {
	if n, err := e.start.Read(p); err == nil {
		return n, nil
	}
	for i := range p {
		p[i] = e.fill
	}
	return len(p), nil
}

func TestLinesWithoutEndAreRefused(t *testing.T) {
	t.Parallel()
	const message = `{"role":"user","content":"`
	for start, want := range map[string]string{
		message:                          "line 1: is longer than 64 MiB",
		message + `"}` + "\n" + message:  "line 2: is longer than 64 MiB",
		"\n[" + message:                  "line 2: is longer than 64 MiB",
		`{"messages":[` + "\n" + message: "line 2: is longer than 64 MiB",
		`{"type":"session","id":"s"}` + "\n" + `{"type":"custom`: "line 2: is longer than 64 MiB",
	} {
		t.Run(start, func(t *testing.T) {
			t.Parallel()
			in := newLines(&endless{start: strings.NewReader(start), fill: 'a'}, options{})
			require.Equal(t, 64<<20, in.limit)
			in.limit = 2_000_000
			r, err := open(in)
			if err == nil {
				_, err = r.ReadAll()
			}
			require.EqualError(t, err, want)
		})
	}
}
