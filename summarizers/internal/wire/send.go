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

// The codes of what no provider says.
const (
	codeRequest   = "request_not_sent"
	codeBroken    = "connection_broken"
	codeIdle      = "idle_timeout"
	codeRedirect  = "redirect"
	codeCut       = "stream_cut"
	codeMalformed = "stream_malformed"
)

// maxDocument bounds the answers that are read at once: errors, and answers that were not streamed.
const maxDocument = 1 << 20

// document is the type of a request's body, and of an answer that was not streamed.
const document = "application/json"

// send sends the request, and returns the answer if it may be one.
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
	res.Body = &living{ReadCloser: res.Body, x: x, timer: idleTimer(x)}
	switch {
	case res.StatusCode >= http.StatusBadRequest:
		said, _ := io.ReadAll(io.LimitReader(res.Body, maxDocument))
		return res, x.client.refused(res, said)
	case res.StatusCode >= http.StatusMultipleChoices:
		return res, &summarizers.ProviderError{Status: res.StatusCode, Code: codeRedirect}
	}
	return res, nil
}

// read reads the answer, streamed or not.
func (x *exchange) read(res *http.Response) *summarizers.ProviderError {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch kind {
	case "text/event-stream":
		return x.stream(res.Body)
	case document:
		return x.whole(res)
	default:
		// A page is what gateways, portals and other programs answer with, to whatever is asked.
		failure := noStream(res)
		failure.RefusesAll = kind == "text/html"
		failure.Retryable = !failure.RefusesAll
		return failure
	}
}

// whole reads an answer that was not streamed, as some servers give, or an error that came with a good status.
func (x *exchange) whole(res *http.Response) *summarizers.ProviderError {
	limit := max(x.client.options.MaxAnswerBytes, maxDocument)
	body, err := io.ReadAll(io.LimitReader(res.Body, limit))
	if err != nil {
		return x.interrupted(err)
	}
	if said := readFailure(body); said != nil {
		return x.client.told(res.StatusCode, said)
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

// notConnected says why there is no connection, or none that stayed until an answer came.
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

// interrupted says why the answer broke off.
func (x *exchange) interrupted(err error) *summarizers.ProviderError {
	if errors.Is(x.cause(), errIdle) {
		return &summarizers.ProviderError{Code: codeIdle, Retryable: true, Err: errIdle}
	}
	return &summarizers.ProviderError{Code: codeBroken, Retryable: true, Err: err}
}

func malformed(err error) *summarizers.ProviderError {
	return &summarizers.ProviderError{Code: codeMalformed, Retryable: true, Err: err}
}

// living is a body that must not be silent for too long. The time that its reader takes does not count.
type living struct {
	io.ReadCloser
	x     *exchange
	timer *time.Timer
}

func idleTimer(x *exchange) *time.Timer {
	return time.AfterFunc(x.client.options.IdleTimeout, func() { x.cancel(errIdle) })
}

func (l *living) Read(p []byte) (int, error) {
	l.timer.Reset(l.x.client.options.IdleTimeout)
	defer l.timer.Stop()
	return l.ReadCloser.Read(p)
}

func (l *living) Close() error {
	l.timer.Stop()
	return l.ReadCloser.Close()
}
