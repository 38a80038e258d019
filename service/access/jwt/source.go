package jwt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/compactord/compactord/service/trusted"
)

const (
	// fetchTimeout is how long an issuer may take to answer, all redirects together.
	fetchTimeout = 5 * time.Second
	maxRedirects = 3
	// retryAfter is when keys that could not be fetched are fetched again.
	retryAfter = 30 * time.Second
	// lookEvery is how often a file is looked at.
	lookEvery = time.Second
)

// source is where keys come from.
type source interface {
	// read reads the set of keys.
	read(ctx context.Context) ([]byte, error)
	// due says, after wait, whether it is time to read again.
	due() bool
	// wait returns how long to wait before due is asked.
	wait(failed bool) time.Duration
	// atOnce reads a source that can be read at once, which is said by can.
	atOnce() (text []byte, can bool, err error)
	// name is for the log.
	name() string
}

// CheckPlace returns an error for a text that cannot be the place of keys.
func CheckPlace(place string) error {
	if place == "" {
		return errors.New("name an https URL or a file")
	}
	if !strings.Contains(place, "://") {
		return nil
	}
	at, err := url.Parse(place)
	if err != nil || at.Scheme != "https" || at.Host == "" || at.User != nil || at.Fragment != "" {
		return errors.New("must be an https URL, without user and password, or a file")
	}
	return nil
}

func sourceOf(s Settings) source {
	if strings.Contains(s.Keys, "://") {
		return &remote{url: s.Keys, refresh: s.Refresh, client: newClient()}
	}
	return &file{path: s.Keys}
}

// remote is a URL.
type remote struct {
	url     string
	refresh time.Duration
	client  *http.Client
}

func newClient() *http.Client {
	return &http.Client{Timeout: fetchTimeout, CheckRedirect: func(to *http.Request, before []*http.Request) error {
		if to.URL.Scheme != "https" || len(before) > maxRedirects {
			return errors.New("it leads elsewhere too often, or without https")
		}
		return nil
	}}
}

func (r *remote) read(ctx context.Context) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/jwk-set+json, application/json")
	answer, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the issuer answers with the status %d", answer.StatusCode)
	}
	// One byte more shows that it is too large.
	return io.ReadAll(io.LimitReader(answer.Body, maxSetBytes+1))
}

func (r *remote) due() bool { return true }

func (r *remote) wait(failed bool) time.Duration {
	if failed {
		return min(retryAfter, r.refresh)
	}
	return r.refresh
}

func (r *remote) atOnce() ([]byte, bool, error) { return nil, false, nil }
func (r *remote) name() string                  { return r.url }

// file is a file that others than the daemon's user may read, but not change.
type file struct {
	path string
	// last is the version that was read last, and seen the one that was there at the last look.
	last, seen trusted.Version
}

func (f *file) read(context.Context) ([]byte, error) {
	text, _, err := f.atOnce()
	return text, err
}

func (f *file) atOnce() (text []byte, can bool, err error) {
	f.last = trusted.Look(f.path)
	f.seen = f.last
	text, err = trusted.Read(f.path, maxSetBytes+1)
	return text, true, err
}

// due says whether the file has changed, and has stayed the same since the look before.
func (f *file) due() bool {
	now, before := trusted.Look(f.path), f.seen
	f.seen = now
	return now.Same(before) && !now.Same(f.last)
}

func (f *file) wait(bool) time.Duration { return lookEvery }
func (f *file) name() string            { return f.path }

// CheckFile returns an error for a file that has no keys. It does nothing for a URL.
func CheckFile(place string) error {
	if strings.Contains(place, "://") {
		return nil
	}
	text, _, err := (&file{path: place}).atOnce()
	if err != nil {
		return err
	}
	_, err = parseKeySet(text)
	return err
}
