// Package wire is the HTTP layer of the providers of models: it sends one request, and reads the answer while it is
// streamed.
//
// Every failure becomes a *summarizers.ProviderError: errors in any of the shapes that providers and their imitators
// use, a proxy's page, a stream that is cut, broken or silent. Streams that are too long are ended. No request is
// repeated and no redirect is followed. The dialects define the JSON of requests and answers.
package wire

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// The defaults of a provider's options.
const (
	DefaultIdleTimeout    = time.Minute
	DefaultMaxAnswerBytes = 8 << 20
)

const (
	userAgent = "compactord"
	// headerTimeout allows for servers that load a model before they answer. The time limit of one request is usually
	// shorter.
	headerTimeout = 10 * time.Minute
	// bodyFactor is how many times longer than its text a stream may be: a delta of a few bytes comes in an event of
	// some hundred.
	bodyFactor = 64
)

// Options are the options that all providers share.
type Options struct {
	// HTTPClient sends the requests. nil means a client of its own.
	HTTPClient *http.Client
	// IdleTimeout is how long an answer may be silent. 0 means DefaultIdleTimeout.
	IdleTimeout time.Duration
	// MaxAnswerBytes limits an answer's text with its thinking. 0 means DefaultMaxAnswerBytes.
	MaxAnswerBytes int64
	// Overflow says whether an error means that the request was too long for the model. nil means that none does.
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
	// A redirect would send the key to another host.
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// ParseBaseURL parses the address of a provider's server. The error names the provider.
func ParseBaseURL(provider, address string) (*url.URL, error) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		// The error of package url quotes the address, which may contain a password.
		return nil, fmt.Errorf("%s: the base URL must begin with http:// or https:// and name a host", provider)
	}
	return base, nil
}

// newTransport sets no limit on a whole request, since an answer may be slow as long as it goes on.
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

// KeyOf returns the API key of a request: what current returns or, where that is nil, the fixed one.
func KeyOf(fixed string, current func() string) string {
	if current == nil {
		return fixed
	}
	return current()
}
