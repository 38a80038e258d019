package wire

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDecoder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stream string
		want   []string
	}{
		"nothing":             {"", nil},
		"LF":                  {"data: a\n\ndata: b\n\n", []string{"a", "b"}},
		"CRLF":                {"data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
		"CR":                  {"data: a\r\rdata: b\r\r", []string{"a", "b"}},
		"all of them":         {"data: a\r\n\ndata: b\n\rdata: c\r\r\n", []string{"a", "b", "c"}},
		"lines of data":       {"data: a\ndata: b\n\n", []string{"a\nb"}},
		"one space goes":      {"data:a\n\ndata:  b\n\n", []string{"a", " b"}},
		"empty data":          {"data\n\ndata:\ndata:\n\n", []string{"", "\n"}},
		"comments":            {": a\n:\ndata: b\n:c\n\n", []string{"b"}},
		"other fields":        {"event: x\nid: 1\nretry: 1\ndate: 1\ndata: a\n\nevent: y\n\n", []string{"a"}},
		"a mark":              {"\ufeffdata: a\n\n\ufeffdata: b\n\n", []string{"a"}},
		"an end in the midst": {"data: a\n\ndata: b", []string{"a", "b"}},
		"an end in a line":    {"data: a\ndata: b\nda", []string{"a\nb"}},
	} {
		for _, in := range []io.Reader{strings.NewReader(c.stream), iotest.OneByteReader(strings.NewReader(c.stream))} {
			d := newDecoder(in, 100)
			var got []string
			for {
				e, err := d.next()
				if e != nil {
					got = append(got, string(e))
				}
				if err != nil {
					require.Equal(t, io.EOF, err, name)
					break
				}
			}
			require.Equal(t, c.want, got, name)
		}
	}
}

func TestDecoderIsBounded(t *testing.T) {
	t.Parallel()
	line := "data: " + strings.Repeat("x", 94) + "\n"
	for stream, want := range map[string]error{
		line + "\n":                           nil,
		"data: " + strings.Repeat("x", 95):    errLong,
		line + "data: 123456\n":               errLong,
		line + "data: 1234\n\n":               nil,
		": " + strings.Repeat("x", 99):        errLong,
		strings.Repeat(":\n", 100) + "\n":     io.EOF,
		strings.Repeat("data:\n", 100) + "\n": nil,
	} {
		_, err := newDecoder(strings.NewReader(stream), 100).next()
		require.Equal(t, want, err, stream)
	}
}

func TestDecoderTellsOfBreaks(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	d := newDecoder(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken)), 100)
	e, err := d.next()
	require.NoError(t, err)
	require.Equal(t, "a", string(e))
	_, err = d.next()
	require.Equal(t, broken, err)
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		header, value string
		want          time.Duration
		said          bool
	}{
		{"Retry-After", "3", 3 * time.Second, true},
		{"Retry-After", "0.25", 250 * time.Millisecond, true},
		{"Retry-After", "-3", 0, true},
		{"Retry-After", "NaN", 0, true},
		{"Retry-After", "+Inf", 24 * time.Hour, true},
		{"Retry-After", "1e300", 24 * time.Hour, true},
		{"Retry-After", "Tue, 01 Jan 2030 00:01:30 GMT", 90 * time.Second, true},
		{"Retry-After", "Mon, 31 Dec 2029 00:00:00 GMT", 0, true},
		{"Retry-After", "soon", 0, false},
		{"Retry-After-Ms", "1500", 1500 * time.Millisecond, true},
		{"Other", "3", 0, false},
	} {
		got, said := retryAfter(http.Header{c.header: {c.value}}, now)
		require.Equal(t, c.want, got, c.value)
		require.Equal(t, c.said, said, c.value)
	}
	both := http.Header{"Retry-After": {"3"}, "Retry-After-Ms": {"2500"}}
	got, _ := retryAfter(both, now)
	require.Equal(t, 2500*time.Millisecond, got, "the exact one wins")
}

func TestSanitize(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"rate_limit_error": "rate_limit_error", "a.B-9": "a.B-9", "": "",
		"a code": "", "käse": "", "a\n": "", strings.Repeat("x", 64): strings.Repeat("x", 64), strings.Repeat("x", 65): "",
	} {
		require.Equal(t, want, sanitize(code), code)
	}
}

func TestReadFailure(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]*failure{
		`{}`: nil, `[]`: nil, `[1]`: nil, `null`: nil, ``: nil, `"error"`: nil, `x`: nil,
		`{"error":null}`: nil, `{"error":""}`: nil, `{"error":{}}`: nil, `{"error":false}`: nil, `{"type":"ping"}`: nil,
		`{"error":"m"}`:                                                 {message: "m"},
		`{"error":["m"]}`:                                               {},
		`{"error":{"message":["m"],"code":7}}`:                          {},
		`{"error":{"message":"m","type":"t","code":"c"}}`:               {message: "m", kind: "t", code: "c"},
		`{"error":{"message":"m","type":"t","code":null}}`:              {message: "m", kind: "t", code: "t"},
		`{"error":{"message":"m","code":429,"status":"S"}}`:             {message: "m", status: 429, code: "S"},
		`{"type":"error","message":"m"}`:                                {message: "m", kind: "error"},
		`{"type":"response.created","response":{"error":{"code":"c"}}}`: nil,
		`{"type":"response.failed","response":{"error":{"code":"c"}}}`:  {code: "c", response: true},
	} {
		require.Equal(t, want, readFailure([]byte(document)), document)
	}
}
