package jwt

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
	"github.com/go-jose/go-jose/v4/jwt"
)

// MaxTokenBytes is how long a token may be.
const MaxTokenBytes = 8 << 10

// ErrExpired says that a token was valid once.
var ErrExpired = errors.New("it has expired")

// Settings say which tokens are accepted, and what their claims mean.
type Settings struct {
	// Keys is where the keys are: an https URL, or the path of a file.
	Keys string
	// Refresh is how often the keys of a URL are fetched again. A file is read again when it changes.
	Refresh time.Duration
	// Issuer is the `iss` that a token must have, and Audiences those of which its `aud` must have one. None may be empty.
	Issuer    string
	Audiences []string
	// Algorithms are some of Algorithms.
	Algorithms []string
	// Leeway is how far the clock of the issuer may be from ours.
	Leeway time.Duration
	// SubjectClaim, TenantClaim and RoleClaim name claims. A dot in a name that no claim has leads into an object.
	SubjectClaim, TenantClaim, RoleClaim string
}

// Claims are what a verified token claims.
type Claims struct {
	Subject, Tenant string
	// Roles are the values of the claim of roles: a list of texts, or the words of a text, as `scope` has them.
	Roles []string
	// Expires is when the token stops to be accepted.
	Expires time.Time

	key *publicKey
}

// Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	settings   Settings
	algorithms []jose.SignatureAlgorithm
	now        func() time.Time
	keys       *keys
}

// Options configure a Verifier.
type Options struct {
	Settings

	Logger *slog.Logger
	// Now is the clock by which tokens are valid.
	Now func() time.Time
	// Failing is told whether the last try to read the keys failed.
	Failing func(bool)
}

// New returns a verifier. It has read the keys of a file; those of a URL are fetched by Run, which the caller must call.
func New(o Options) (*Verifier, error) {
	v := &Verifier{settings: o.Settings, now: o.Now}
	for _, name := range o.Algorithms {
		v.algorithms = append(v.algorithms, jose.SignatureAlgorithm(name))
	}
	var err error
	v.keys, err = newKeys(sourceOf(o.Settings), o.Logger, o.Failing)
	return v, err
}

// Run keeps the keys up to date until the context ends.
func (v *Verifier) Run(ctx context.Context) { v.keys.run(ctx) }

// LookNow has Run read the keys at once.
func (v *Verifier) LookNow() { v.keys.lookNow() }

// Holds says whether the key that verified a token is still one of the issuer's.
func (v *Verifier) Holds(c *Claims) bool { return v.keys.current().has(c.key) }

// Verify returns the claims of a token. It may wait for keys to be fetched, until the context ends. The error is for logs of
// operators and quotes nothing of the token.
func (v *Verifier) Verify(ctx context.Context, token string) (*Claims, error) {
	if len(token) > MaxTokenBytes {
		return nil, errors.New("it is too long")
	}
	signed, err := jose.ParseSignedCompact(token, v.algorithms)
	if err != nil || len(signed.Signatures) != 1 {
		return nil, errors.New("it is no signed JWT of an algorithm that is allowed")
	}
	header := signed.Signatures[0].Header
	if header.KeyID == "" {
		return nil, errors.New("its header has no `kid`")
	}
	candidates := v.keys.named(ctx, header.KeyID)
	if len(candidates) == 0 {
		return nil, errors.New("the issuer has no key of its `kid`")
	}
	for _, key := range candidates {
		if !slices.Contains(key.algorithms, jose.SignatureAlgorithm(header.Algorithm)) {
			continue
		}
		payload, err := signed.Verify(key.key)
		if err != nil {
			continue
		}
		claims, err := v.read(payload)
		if err != nil {
			return nil, err
		}
		claims.key = key
		return claims, nil
	}
	return nil, errors.New("its signature is not that of the key of its `kid`")
}

// maxExpiry is the last moment of the year 9999, in seconds. A later one may not fit a time.
const maxExpiry = 253402300799

// read returns the claims in a verified payload.
func (v *Verifier) read(payload []byte) (*Claims, error) {
	var standard jwt.Claims
	var all map[string]any
	if json.Unmarshal(payload, &standard) != nil || json.Unmarshal(payload, &all) != nil {
		return nil, errors.New("its payload is no JSON object of claims, or a registered claim has a wrong type")
	}
	if standard.Expiry == nil {
		return nil, errors.New("it has no `exp`")
	}
	expected := jwt.Expected{Issuer: v.settings.Issuer, AnyAudience: v.settings.Audiences, Time: v.now()}
	switch err := standard.ValidateWithLeeway(expected, v.settings.Leeway); {
	case errors.Is(err, jwt.ErrExpired):
		return nil, ErrExpired
	case errors.Is(err, jwt.ErrInvalidIssuer):
		return nil, errors.New("its `iss` is another issuer")
	case errors.Is(err, jwt.ErrInvalidAudience):
		return nil, errors.New("its `aud` is for others")
	case err != nil:
		return nil, errors.New("it is not valid yet")
	}
	seconds := min(int64(*standard.Expiry), maxExpiry)
	return &Claims{
		Subject: textOf(claim(all, v.settings.SubjectClaim)), Tenant: textOf(claim(all, v.settings.TenantClaim)),
		Roles: wordsOf(claim(all, v.settings.RoleClaim)), Expires: time.Unix(seconds, 0).Add(v.settings.Leeway),
	}, nil
}

// claim returns a claim by its name, or by its path in objects; nil where there is none.
func claim(object map[string]any, name string) any {
	if value, there := object[name]; there {
		return value
	}
	first, rest, deeper := strings.Cut(name, ".")
	within, is := object[first].(map[string]any)
	if !deeper || !is {
		return nil
	}
	return claim(within, rest)
}

// textOf returns a text; empty for all else, as a number that looks like a name.
func textOf(value any) string {
	text, _ := value.(string)
	return text
}

// wordsOf returns the words of a text, or the texts of a list. A list with anything else says nothing that can be relied on.
func wordsOf(value any) (words []string) {
	switch v := value.(type) {
	case string:
		return strings.Fields(v)
	case []any:
		for _, one := range v {
			text, is := one.(string)
			if !is {
				return nil
			}
			words = append(words, text)
		}
	}
	return words
}
