// Package wire is the HTTP below the providers of models: it sends one request, and reads the answer as it streams.
//
// What is no answer becomes a *summarizers.ProviderError: an error in any of the shapes that providers and their imitators
// write, a page of a proxy, a stream that is cut, broken or silent. Streams that do not end are ended. Nothing is repeated
// and no redirect is followed. How requests and answers look in a provider's JSON is for its dialect to say.
package wire

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
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
}

// Client sends requests to providers. It is safe for concurrent use.
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
	if o.HTTPClient != nil {
		*c.http = *o.HTTPClient
	} else {
		c.http.Transport = newTransport()
	}
	// It would take the key along.
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// ParseBaseURL reads the address of a provider's server; provider is who is told of in the error.
func ParseBaseURL(provider, address string) (*url.URL, error) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		// The error of package url quotes the address, which may hold a password.
		return nil, fmt.Errorf("%s: the base URL must begin with http:// or https:// and name a host", provider)
	}
	return base, nil
}

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
