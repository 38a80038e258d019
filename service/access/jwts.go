package access

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/compactord/compactord/service/access/jwt"
	"github.com/compactord/compactord/service/tenant"
)

const (
	// jwtFlag is the place of JWTs' keys in the metric of files.
	jwtFlag = "jwt"
	// maxJWTSubject is the longest subject of a JWT: issuers have longer names than files of tokens.
	maxJWTSubject = 256
)

// JWT says which JWTs are accepted.
type JWT struct {
	jwt.Settings

	// Roles are the roles that values of the claim of roles give. Other values give none. The highest role counts.
	Roles map[string]Role
}

// LooksLikeJWT says whether a text has the form of a signed JWT: three parts of base64url, the first of which is a JSON object.
func LooksLikeJWT(text string) bool {
	odd := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '-' && r != '_' && r != '.'
	}
	// An object begins with {" or with { and a blank.
	return len(text) <= jwt.MaxTokenBytes && strings.HasPrefix(text, "ey") && strings.Count(text, ".") == 2 && !strings.ContainsFunc(text, odd)
}

// jwts accepts JWTs for a Guard.
type jwts struct {
	verifier *jwt.Verifier
	roles    map[string]Role
	now      func() time.Time
	logger   *slog.Logger

	mu sync.Mutex
	// streaming are the grants that have a stream.
	streaming map[*grant]struct{}
}

func newJWTs(o *JWT, now func() time.Time, logger *slog.Logger, failing prometheus.Gauge) (*jwts, error) {
	failing.Set(0)
	verifier, err := jwt.New(jwt.Options{Settings: o.Settings, Logger: logger, Now: now, Failing: func(is bool) {
		failing.Set(map[bool]float64{true: 1}[is])
	}})
	if err != nil {
		return nil, fmt.Errorf("jwt.keys: %s: %w", o.Keys, err)
	}
	return &jwts{verifier: verifier, roles: o.Roles, now: now, logger: logger, streaming: make(map[*grant]struct{})}, nil
}

// find returns a grant of its own for a JWT; nil where it is not accepted, with the reason for the metric.
func (j *jwts) find(ctx context.Context, token string) (found *grant, reason string) {
	claims, err := j.verifier.Verify(ctx, token)
	var entry Entry
	if err == nil {
		entry, err = j.entryOf(claims)
	}
	switch {
	case errors.Is(err, jwt.ErrExpired) || err == nil && entry.expired(j.now()):
		return nil, reasonExpired
	case err != nil:
		// An operator who sets an issuer up needs the reason, which callers are not told.
		j.logger.DebugContext(ctx, "a JWT was refused", "because", err)
		return nil, reasonWrong
	}
	entry.Hash = sha256.Sum256([]byte(token))
	granted := newGrant(entry)
	granted.of, granted.claims = j, claims
	return granted, ""
}

// entryOf returns what a JWT allows. It quotes no claim in an error. No JWT belongs to the default tenant, whose tokens of
// role admin may do what concerns the whole daemon: a claim that an issuer has left out must not open that.
func (j *jwts) entryOf(c *jwt.Claims) (Entry, error) {
	odd := func(r rune) bool { return r <= ' ' || r > '~' }
	if c.Subject == "" || len(c.Subject) > maxJWTSubject || strings.ContainsFunc(c.Subject, odd) || strings.HasPrefix(c.Subject, Prefix) {
		return Entry{}, fmt.Errorf("its subject must have 1 to %d visible ASCII characters", maxJWTSubject)
	}
	if err := tenant.Check(c.Tenant); err != nil {
		return Entry{}, err
	}
	role := Everybody
	for _, value := range c.Roles {
		role = max(role, j.roles[value])
	}
	if role == Everybody {
		return Entry{}, errors.New("it has no role that is known")
	}
	return Entry{Subject: c.Subject, Tenant: c.Tenant, Role: role, Expires: c.Expires}, nil
}

// open notes that a grant has a stream. It does nothing for grants of other tokens.
func (j *jwts) open(g *grant) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.streaming[g] = struct{}{}
}

func (j *jwts) close(g *grant) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.streaming, g)
}

// endWithdrawn ends the streams of JWTs that have expired, or whose key the issuer has no more.
func (j *jwts) endWithdrawn(now time.Time) {
	if j == nil {
		return
	}
	var ended []*grant
	j.mu.Lock()
	for g := range j.streaming {
		if g.entry.Load().expired(now) || !j.verifier.Holds(g.claims) {
			ended = append(ended, g)
		}
	}
	j.mu.Unlock()
	for _, g := range ended {
		g.end()
	}
}
