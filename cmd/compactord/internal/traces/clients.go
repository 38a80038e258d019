package traces

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// The clients of OpenTelemetry's own exporters register the compressor gzip for all of gRPC, so that clients of the daemon
// could ask for compressed answers, which its bounds of memory do not count. They also read variables of the environment
// that are meant for other programs. So these two are ours.

// retries has a batch sent again after the statuses for which OTLP asks for that.
const retries = `{"methodConfig": [{"name": [{}], "retryPolicy": {
	"maxAttempts": 5, "initialBackoff": "0.5s", "maxBackoff": "5s", "backoffMultiplier": 2,
	"retryableStatusCodes": ["CANCELLED", "DEADLINE_EXCEEDED", "ABORTED", "OUT_OF_RANGE", "UNAVAILABLE", "DATA_LOSS"]
}}]}`

// rejectedError says that a collector did not take some spans of a batch. Its own text is not repeated: it may quote them.
type rejectedError struct{ spans int64 }

func (e *rejectedError) Error() string {
	return fmt.Sprintf("the collector rejected %d spans", e.spans)
}

func rejected(answer *collectorv1.ExportTraceServiceResponse) error {
	if n := answer.GetPartialSuccess().GetRejectedSpans(); n > 0 {
		return &rejectedError{n}
	}
	return nil
}

// grpcClient sends batches over gRPC.
type grpcClient struct {
	conn    *grpc.ClientConn
	headers metadata.MD
}

func newGRPCClient(endpoint *url.URL, encrypted *tls.Config, headers map[string]string) (*grpcClient, error) {
	trusted := insecure.NewCredentials()
	if encrypted != nil {
		trusted = credentials.NewTLS(encrypted)
	}
	conn, err := grpc.NewClient(endpoint.Host, grpc.WithTransportCredentials(trusted), grpc.WithDefaultServiceConfig(retries))
	if err != nil {
		return nil, err
	}
	return &grpcClient{conn, metadata.New(headers)}, nil
}

// Start does nothing: the connection is made for the first batch.
func (c *grpcClient) Start(context.Context) error { return nil }

// Stop closes the connection.
func (c *grpcClient) Stop(context.Context) error { return c.conn.Close() }

// UploadTraces sends a batch.
func (c *grpcClient) UploadTraces(ctx context.Context, spans []*tracev1.ResourceSpans) error {
	ctx, cancel := context.WithTimeout(metadata.NewOutgoingContext(ctx, c.headers), sendTimeout)
	defer cancel()
	answer, err := collectorv1.NewTraceServiceClient(c.conn).Export(ctx, &collectorv1.ExportTraceServiceRequest{ResourceSpans: spans})
	if err != nil {
		return err
	}
	return rejected(answer)
}

const (
	// maxSends is how often a batch is sent at most, as in retries.
	maxSends  = 5
	firstWait = 500 * time.Millisecond
	maxWait   = 5 * time.Second
	// maxAnswerBytes is how much of an answer is read. It is a few bytes.
	maxAnswerBytes = 64 << 10
)

// httpClient sends batches over HTTP.
type httpClient struct {
	address string
	headers map[string]string
	client  *http.Client
}

func newHTTPClient(endpoint *url.URL, encrypted *tls.Config, headers map[string]string) *httpClient {
	address := *endpoint
	if address.Path == "" || address.Path == "/" {
		address.Path = "/v1/traces"
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: encrypted, ForceAttemptHTTP2: true,
		MaxIdleConns: 1, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: sendTimeout,
	}
	// A collector does not redirect, and its headers are for it alone.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &httpClient{address.String(), headers, &http.Client{Transport: transport, CheckRedirect: stay}}
}

// Start does nothing: the connection is made for the first batch.
func (c *httpClient) Start(context.Context) error { return nil }

// Stop closes the connection.
func (c *httpClient) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces sends a batch.
func (c *httpClient) UploadTraces(ctx context.Context, spans []*tracev1.ResourceSpans) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	body, err := proto.Marshal(&collectorv1.ExportTraceServiceRequest{ResourceSpans: spans})
	if err != nil {
		return err
	}
	wait := firstWait
	for sent := 1; ; sent++ {
		after, err := c.send(ctx, body)
		if err == nil || after < 0 || sent == maxSends {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(max(after, wait)):
		}
		wait = min(2*wait, maxWait)
	}
}

// send sends a batch once. With an error, it returns how long the collector asks to wait; -1 where another try is of no
// use.
func (c *httpClient) send(ctx context.Context, body []byte) (after time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	for name, value := range c.headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	response, err := c.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	switch {
	case response.StatusCode == http.StatusOK && err == nil:
		var answer collectorv1.ExportTraceServiceResponse
		if err := proto.Unmarshal(text, &answer); err != nil {
			// It took the batch all the same.
			return -1, nil
		}
		return -1, rejected(&answer)
	case err != nil:
		return 0, err
	}
	err = fmt.Errorf("the collector answered %d", response.StatusCode)
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return time.Duration(max(seconds, 0)) * time.Second, err
	default:
		return -1, err
	}
}
