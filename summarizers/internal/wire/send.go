package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
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

var errOutside = errors.New("a request outside of an exchange")

// transport sends the requests of exchanges and reads the answers before the SDK does.
type transport struct {
	next   http.RoundTripper
	client *Client
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x := exchangeOf(req.Context())
	if x == nil {
		return nil, errOutside
	}
	res, failure := t.send(x, req)
	if failure == nil {
		return res, nil
	}
	if res != nil {
		_ = res.Body.Close()
	}
	x.Fail(failure)
	return nil, failure
}

func (t *transport) send(x *Exchange, req *http.Request) (*http.Response, *summarizers.ProviderError) {
	x.host = req.URL.Host
	req = req.Clone(req.Context())
	req.Header.Set("User-Agent", userAgent)
	if err := x.rewriteBody(req); err != nil {
		return nil, &summarizers.ProviderError{Code: codeRequest, Err: err}
	}
	res, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, notConnected(err)
	}
	res.Body = &living{ReadCloser: res.Body, x: x, timer: idleTimer(x)}
	switch {
	case res.StatusCode >= http.StatusBadRequest:
		document, _ := io.ReadAll(io.LimitReader(res.Body, maxDocument))
		return res, t.client.refused(res, document)
	case res.StatusCode >= http.StatusMultipleChoices:
		// It would take the key along.
		return res, &summarizers.ProviderError{Status: res.StatusCode, Code: codeRedirect}
	}
	return res, x.open(res)
}

// rewriteBody replaces the SDK's body by what is to be sent.
func (x *Exchange) rewriteBody(req *http.Request) error {
	if x.rewrite == nil || req.Body == nil {
		return nil
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	_ = req.Body.Close()
	if body, err = x.rewrite(body); err != nil {
		return err
	}
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, err = req.GetBody()
	return err
}

// open has the SDK read the events of the answer.
func (x *Exchange) open(res *http.Response) *summarizers.ProviderError {
	const stream = "text/event-stream"
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch kind {
	case stream:
		res.Body = newEvents(x, res.Body)
		return nil
	case "application/json":
		event, failure := x.readWhole(res)
		if failure != nil {
			return failure
		}
		_ = res.Body.Close()
		res.Body = newEvents(x, io.NopCloser(bytes.NewReader(event)))
		res.Header.Set("Content-Type", stream)
		res.Header.Del("Content-Length")
		res.ContentLength = -1
		return nil
	default:
		// A page is what gateways, portals and other programs answer with, to whatever is asked.
		failure := noStream(res)
		failure.RefusesAll = kind == "text/html"
		failure.Retryable = !failure.RefusesAll
		return failure
	}
}

// readWhole reads an answer that was not streamed, as some servers give, or an error that came with a good status.
func (x *Exchange) readWhole(res *http.Response) ([]byte, *summarizers.ProviderError) {
	limit := max(x.client.options.MaxAnswerBytes, maxDocument)
	document, err := io.ReadAll(io.LimitReader(res.Body, limit))
	if err != nil {
		return nil, x.interrupted(err)
	}
	if said := readFailure(document); said != nil {
		return nil, x.client.told(res.StatusCode, said)
	}
	if x.client.options.Whole == nil {
		return nil, noStream(res)
	}
	event, ok := x.client.options.Whole(document)
	if !ok {
		return nil, noStream(res)
	}
	return appendEvent(nil, "", event), nil
}

func noStream(res *http.Response) *summarizers.ProviderError {
	return &summarizers.ProviderError{Status: res.StatusCode, Code: summarizers.CodeNotAStream, Retryable: true}
}

// notConnected says why there is no connection, or none that stayed until an answer came.
func notConnected(err error) *summarizers.ProviderError {
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
func (x *Exchange) interrupted(err error) *summarizers.ProviderError {
	if errors.Is(context.Cause(x.ctx), errIdle) {
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
	x     *Exchange
	timer *time.Timer
}

func idleTimer(x *Exchange) *time.Timer {
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
