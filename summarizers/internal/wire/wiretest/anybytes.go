package wiretest

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// AnyBytes lets a provider read bytes that are hardly an answer. It must return an error, or an answer whose text is
// the text that it passed on. Package wire fuzzes the decoding of a stream, and package dialects the reading of its
// events.
func AnyBytes(t *testing.T, s Spoken, seeds ...string) {
	t.Helper()
	seeds = append(seeds, s.Whole, strings.ReplaceAll(s.Whole, "\n", "\r\n"), Events(s.More, s.More), Events(s.Error("x")),
		Events(s.More)+"data: [DONE]\n\n", "data\ndata:\ndata: {}\n\n", "data: null\n\n", "data: 1\n\n", `data: {"error":null}`+"\n\n",
		"event: x\nid: 1\n: c\n\ndata: [\ndata: ]\n\n", "\ufeff\r\rdata: {\r\ndata: }\r\n\r\n", s.Error("x"), "[]", "{}", "")
	for _, seed := range seeds {
		for end := range seed {
			s.read(t, []byte(seed[:end]), 200, true)
		}
		for _, status := range []int{200, 204, 302, 429, 500} {
			s.read(t, []byte(seed), status, true)
			s.read(t, []byte(seed), status, false)
		}
	}
}

// read lets the provider read an answer.
func (s *Spoken) read(t *testing.T, body []byte, status int, stream bool) {
	t.Helper()
	p, err := s.New(Options{
		BaseURL: "http://nowhere.invalid", HTTPClient: &http.Client{Transport: &canned{body, status, stream}}, MaxAnswerBytes: 1 << 12,
	})
	require.NoError(t, err)
	_, err = Ask(t, p, question)
	if err == nil {
		require.Less(t, status, 300)
		return
	}
	var refused *summarizers.ProviderError
	require.ErrorAs(t, err, &refused)
	require.LessOrEqual(t, len(refused.Code), 64)
	require.Regexp(t, `^[A-Za-z0-9_.-]*$`, refused.Code)
}

// canned always returns the same response, byte by byte.
type canned struct {
	body   []byte
	status int
	stream bool
}

func (c *canned) RoundTrip(req *http.Request) (*http.Response, error) {
	kind := "application/json"
	if c.stream {
		kind = "text/event-stream"
	}
	return &http.Response{
		StatusCode: c.status, Header: http.Header{"Content-Type": {kind}}, Request: req,
		Body: io.NopCloser(iotest.OneByteReader(bytes.NewReader(c.body))), ContentLength: -1,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}
