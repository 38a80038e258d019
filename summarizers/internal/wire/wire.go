// Package wire is the HTTP below the providers' SDKs.
//
// The SDKs write requests and read answers, but each has its own opinion on what a broken answer is, and some have none: a
// stream that is cut passes for a whole one, a page of a proxy for an empty one. So the transport here reads every answer
// first. It turns what is no answer into a *summarizers.ProviderError, ends streams that fall silent or do not end, and
// hands on to the SDK nothing but well-formed events. Nothing is repeated and no redirect is followed.
package wire

import (
	"context"
	"net"
	"net/http"
	"time"
)

// What holds where a provider's options say nothing.
const (
	DefaultIdleTimeout    = time.Minute
	DefaultMaxAnswerBytes = 8 << 20
)

const (
	userAgent = "compactord"
	// headerTimeout is for servers that load a model before they answer. The limit on a try is mostly shorter.
	headerTimeout = 10 * time.Minute
	// bodyFactor is how many times as large as its text a stream may be: a delta of a few bytes is wrapped in some hundred.
	bodyFactor = 64
)

// Options are what the providers' options have in common.
type Options struct {
	// HTTPClient sends the requests; nil: a client of its own.
	HTTPClient *http.Client
	// IdleTimeout is how long an answer may be silent; 0: DefaultIdleTimeout.
	IdleTimeout time.Duration
	// MaxAnswerBytes bounds an answer's text with its thinking; 0: DefaultMaxAnswerBytes.
	MaxAnswerBytes int64
	// Overflow says whether an error is that of a request too long for the model; nil: none is.
	Overflow func(status int, code, message string) bool
	// Whole turns an answer that was not streamed into the one event that says the same; nil where there is none.
	Whole func(answer []byte) (event []byte, ok bool)
	// Named says that the SDK goes by the names of events. They are then written from what the data says, as servers forget
	// them; else there are none.
	Named bool
}

// Client sends requests for the SDKs. It is safe for concurrent use.
type Client struct {
	options Options
	http    *http.Client
}

// New returns a client.
func New(o Options) *Client {
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = DefaultIdleTimeout
	}
	if o.MaxAnswerBytes <= 0 {
		o.MaxAnswerBytes = DefaultMaxAnswerBytes
	}
	if o.Overflow == nil {
		o.Overflow = func(int, string, string) bool { return false }
	}
	c := &Client{options: o, http: &http.Client{}}
	next := newTransport
	if o.HTTPClient != nil {
		*c.http = *o.HTTPClient
		next = func() http.RoundTripper { return o.HTTPClient.Transport }
	}
	t := &transport{next: next(), client: c}
	if t.next == nil {
		t.next = http.DefaultTransport
	}
	c.http.Transport = t
	return c
}

// HTTP is what an SDK is given to send its requests with. Their context must be an Exchange's.
func (c *Client) HTTP() *http.Client { return c.http }

// newTransport has no limit on a whole request: a slow stream that lives is fine.
func newTransport() http.RoundTripper {
	dialer := &net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   15 * time.Second,
		ResponseHeaderTimeout: headerTimeout,
	}
}

// exchangeKey is the key of a context's Exchange.
type exchangeKey struct{}

func exchangeOf(ctx context.Context) *Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return x
}
