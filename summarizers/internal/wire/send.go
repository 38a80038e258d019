package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/compactord/compactord/summarizers"
)

// The codes of further errors that do not come from a provider.
const (
	codeRequest   = "request_not_sent"
	codeBroken    = "connection_broken"
	codeIdle      = "idle_timeout"
	codeRedirect  = "redirect"
	codeCut       = "stream_cut"
	codeMalformed = "stream_malformed"
)

// maxDocument limits bodies that are read as a whole: errors, and answers that are not streamed.
const maxDocument = 1 << 20

// document is the media type of a request's body, and of an answer that is not streamed.
const document = "application/json"

// send sends the request, and returns the response unless it is an error.
func (x *exchange) send(ctx context.Context, call *Call, body []byte) (*http.Response, *summarizers.ProviderError) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, call.URL, bytes.NewReader(body))
	if err != nil {
		return nil, &summarizers.ProviderError{Code: codeRequest, Err: err}
	}
	x.host = req.URL.Host
	maps.Copy(req.Header, call.Header)
	req.Header.Set("Content-Type", document)
	req.Header.Set("User-Agent", userAgent)
	res, err := x.client.http.Do(req)
	if err != nil {
		return nil, notConnected(err)
	}
	res.Body = &idleBody{ReadCloser: res.Body, x: x, timer: idleTimer(x)}
	switch {
	case res.StatusCode >= http.StatusBadRequest:
		said, _ := io.ReadAll(io.LimitReader(res.Body, maxDocument))
		return res, x.client.refused(res, said)
	case res.StatusCode >= http.StatusMultipleChoices:
		return res, &summarizers.ProviderError{Status: res.StatusCode, Code: codeRedirect}
	}
	return res, nil
}

// read reads the answer, which may be streamed or not.
func (x *exchange) read(res *http.Response) *summarizers.ProviderError {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch kind {
	case "text/event-stream":
		return x.stream(res.Body)
	case document:
		return x.whole(res)
	default:
		// Gateways, portals and other programs answer every request with an HTML page.
		failure := noStream(res)
		failure.RefusesAll = kind == "text/html"
		failure.Retryable = !failure.RefusesAll
		return failure
	}
}

// whole reads an answer that is not streamed, which some servers send, or an error with a status of success.
func (x *exchange) whole(res *http.Response) *summarizers.ProviderError {
	limit := max(x.client.options.MaxAnswerBytes, maxDocument)
	body, err := io.ReadAll(io.LimitReader(res.Body, limit))
	if err != nil {
		return x.interrupted(err)
	}
	if said := readFailure(body); said != nil {
		return x.client.errorFrom(res.StatusCode, said)
	}
	piece, ok := x.answer.Body(body)
	if !ok {
		return noStream(res)
	}
	_, failure := x.add(piece)
	return failure
}

func noStream(res *http.Response) *summarizers.ProviderError {
	return &summarizers.ProviderError{Status: res.StatusCode, Code: summarizers.CodeNotAStream, Retryable: true}
}

// notConnected returns the error for a connection that failed before a response came.
func notConnected(err error) *summarizers.ProviderError {
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	failure := &summarizers.ProviderError{Code: summarizers.CodeConnectionFailed, Retryable: true, Err: err}
	var certificate *tls.CertificateVerificationError
	var name *net.DNSError
	var operation *net.OpError
	switch {
	case errors.As(err, &certificate):
		failure.Code, failure.Retryable, failure.RefusesAll = summarizers.CodeCertificate, false, true
	case errors.As(err, &name) && name.IsNotFound:
		failure.Code = summarizers.CodeNameNotFound
	case errors.Is(err, syscall.ECONNREFUSED):
		failure.Code = summarizers.CodeConnectionRefused
	case errors.As(err, &operation) && operation.Op == "dial" && operation.Timeout():
		failure.Code = summarizers.CodeConnectTimeout
	}
	return failure
}

// interrupted returns the error for an answer that broke off.
func (x *exchange) interrupted(err error) *summarizers.ProviderError {
	if errors.Is(x.cause(), errIdle) {
		return &summarizers.ProviderError{Code: codeIdle, Retryable: true, Err: errIdle}
	}
	return &summarizers.ProviderError{Code: codeBroken, Retryable: true, Err: err}
}

func malformed(err error) *summarizers.ProviderError {
	return &summarizers.ProviderError{Code: codeMalformed, Retryable: true, Err: err}
}

// idleBody is a body that cancels its exchange when a single read takes too long. Time between reads does not count.
type idleBody struct {
	io.ReadCloser
	x     *exchange
	timer *time.Timer
}

func idleTimer(x *exchange) *time.Timer {
	return time.AfterFunc(x.client.options.IdleTimeout, func() { x.cancel(errIdle) })
}

func (b *idleBody) Read(p []byte) (int, error) {
	b.timer.Reset(b.x.client.options.IdleTimeout)
	defer b.timer.Stop()
	return b.ReadCloser.Read(p)
}

func (b *idleBody) Close() error {
	b.timer.Stop()
	return b.ReadCloser.Close()
}
