package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/compactord/compactord/service/tenant"
)

const (
	// Prefix begins every token, so that people and scanners for secrets recognize one.
	Prefix = "cptd_"
	// tokenBytes is how many random bytes a token has.
	tokenBytes = 32
	// hashPrefix stands before the hash of a token in the file of tokens.
	hashPrefix = "sha256:"
	// tenantPrefix stands before the tenant of a token in the file of tokens.
	tenantPrefix = "tenant="
	// maxSubject is the longest name of a subject.
	maxSubject = 64
)

// ErrNoToken says that a text is no token. It does not quote the text.
var ErrNoToken = fmt.Errorf("a token is %s and %d hexadecimal digits: make one with `compactord token`", Prefix, 2*tokenBytes)

// Hash is the hash of a token. SHA-256 without a salt is enough: each token has 256 random bits, so that no list of
// guesses holds one, and a slow hash would only slow the calls down.
type Hash [sha256.Size]byte

// NewToken returns a random token.
func NewToken() string {
	var random [tokenBytes]byte
	// It never fails: the program would end.
	_, _ = rand.Read(random[:])
	return Prefix + hex.EncodeToString(random[:])
}

// HashOf returns the hash of a token. It fails for a text that NewToken cannot have made, which may be easy to guess.
func HashOf(token string) (Hash, error) {
	if len(token) != len(Prefix)+2*tokenBytes || token[:len(Prefix)] != Prefix {
		return Hash{}, ErrNoToken
	}
	for i := len(Prefix); i < len(token); i++ {
		if c := token[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return Hash{}, ErrNoToken
		}
	}
	return sha256.Sum256([]byte(token)), nil
}

// Entry is a token that a Guard accepts.
type Entry struct {
	// Subject names who has the token.
	Subject string
	// Tenant is whose sessions the token opens; tenant.Default has no name.
	Tenant string
	Role   Role
	Hash   Hash
	// Expires is when the token stops to be accepted. Zero means never.
	Expires time.Time
}

// Line returns the entry as a line of the file of tokens.
func (e Entry) Line() string {
	line := e.Subject + " " + e.Role.String() + " " + hashPrefix + hex.EncodeToString(e.Hash[:])
	if !e.Expires.IsZero() {
		line += " " + e.Expires.UTC().Format(time.RFC3339)
	}
	if e.Tenant != tenant.Default {
		line += " " + tenantPrefix + e.Tenant
	}
	return line
}

func (e Entry) expired(now time.Time) bool { return !e.Expires.IsZero() && !now.Before(e.Expires) }

// CheckSubject returns an error for a text that cannot be the name of a subject.
func CheckSubject(name string) error {
	odd := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("._@-", r)
	}
	switch {
	case strings.HasPrefix(name, Prefix):
		// A token in the place of a name would be shown to everybody who sees the name.
		return errors.New("the name must not be a token")
	case name == "" || len(name) > maxSubject || strings.ContainsFunc(name, odd):
		return fmt.Errorf("the name must have 1 to %d letters, digits, '.', '_', '-' and '@'", maxSubject)
	default:
		return nil
	}
}
