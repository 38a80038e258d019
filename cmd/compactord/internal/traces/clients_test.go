package traces

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc/encoding"
	"google.golang.org/protobuf/proto"
)

// remoteCollector answers batches over HTTP, one after the other, and notes when they came.
type remoteCollector struct {
	answers []http.Response
	came    []time.Time
}

func (c *remoteCollector) RoundTrip(*http.Request) (*http.Response, error) {
	answer := c.answers[min(len(c.came), len(c.answers)-1)]
	c.came = append(c.came, time.Now())
	if answer.Body == nil {
		answer.Body = io.NopCloser(bytes.NewReader(nil))
	}
	return &answer, nil
}

func status(code int, after string) http.Response {
	header := http.Header{}
	if after != "" {
		header.Set("Retry-After", after)
	}
	return http.Response{StatusCode: code, Header: header}
}

func TestBatchesAreSentAgain(t *testing.T) {
	t.Parallel()
	partial, err := proto.Marshal(&collectorv1.ExportTraceServiceResponse{
		PartialSuccess: &collectorv1.ExportTracePartialSuccess{RejectedSpans: 3, ErrorMessage: "quoted"},
	})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		answers []http.Response
		// waits are how long after the one before each sending begins.
		waits []time.Duration
		err   string
	}{
		"taken":             {answers: []http.Response{status(200, "")}},
		"taken at last":     {[]http.Response{status(503, ""), status(429, ""), status(200, "")}, []time.Duration{500 * time.Millisecond, time.Second}, ""},
		"asked to wait":     {[]http.Response{status(503, "3"), status(200, "")}, []time.Duration{3 * time.Second}, ""},
		"no other try":      {[]http.Response{status(400, "")}, nil, "the collector answered 400"},
		"no redirect":       {[]http.Response{status(307, "")}, nil, "the collector answered 307"},
		"given up":          {[]http.Response{status(502, "")}, []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second}, "the collector answered 502"},
		"until the timeout": {[]http.Response{status(504, "60")}, nil, "the collector answered 504"},
		"rejected in part": {
			[]http.Response{{StatusCode: 200, Body: io.NopCloser(bytes.NewReader(partial))}}, nil, "the collector rejected 3 spans",
		},
		"no answer of OTLP": {answers: []http.Response{{StatusCode: 200, Body: io.NopCloser(bytes.NewReader([]byte("fine")))}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				at, err := url.Parse("http://collector:4318")
				require.NoError(t, err)
				remote := &remoteCollector{answers: c.answers}
				client := newHTTPClient(at, nil, map[string]string{"key": "secret"})
				client.client.Transport = remote
				err = client.UploadTraces(t.Context(), nil)
				if c.err == "" {
					require.NoError(t, err)
				} else {
					require.EqualError(t, err, c.err)
				}
				var waits []time.Duration
				for i := range remote.came[1:] {
					waits = append(waits, remote.came[i+1].Sub(remote.came[i]))
				}
				require.Equal(t, c.waits, waits)
			})
		})
	}
}

// Sending traces must not let clients of the daemon ask for compressed answers.
func TestNoCompressorIsRegistered(t *testing.T) {
	t.Parallel()
	require.Nil(t, encoding.GetCompressor("gzip"))
}
