// Package redaction replaces secrets in texts by placeholders: keys, tokens and passwords that the rules of gitleaks
// and some rules of our own find. A placeholder names the rule and a short keyed hash of the secret. The hash
// distinguishes the secrets of a session in all its texts, and does not help to guess them.
package redaction

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/compactord/compactord/summarizers/redaction/internal/secrets"
)

// Redactor redacts the texts of one operation on a session. It is safe for concurrent use.
type Redactor struct {
	key []byte
	*tally
}

// tally counts the replaced secrets of an operation.
type tally struct {
	mu       sync.Mutex
	replaced map[replacement]struct{}
	// known caches redacted texts by the hash of the text, since the same texts are redacted several times.
	known map[[sha256.Size]byte]string
}

// replacement is a secret in a text, both as hashes.
type replacement struct{ text, secret [sha256.Size]byte }

// maxKnownBytes is the largest text that is cached, and maxKnown how many are.
const (
	maxKnownBytes = 64 << 10
	maxKnown      = 256
)

// New returns a redactor for an operation. All redactors with the same key, which is the session's, use the same
// placeholders.
func New(key string) *Redactor {
	return &Redactor{key: []byte(key), tally: &tally{
		replaced: make(map[replacement]struct{}), known: make(map[[sha256.Size]byte]string),
	}}
}

// Within returns Text with ctx as its context.
func (r *Redactor) Within(ctx context.Context) func(text string) string {
	return func(text string) string { return r.Text(ctx, text) }
}

// maxPasses is how often a text is searched at most: a placeholder may reveal a secret beside it. Few texts need more
// than two passes, and only texts made for it more than this.
const maxPasses = 6

// Text returns the text with each secret replaced by `[REDACTED:RULE:hhhh]`: the rule that found it, and four
// hexadecimal digits of a keyed hash. The same secret has the same hash in all texts of the session. Redacting the
// result again changes nothing. The result depends only on the key and the text.
//
// After the context has ended it returns "" at once, so the caller must check the context before it uses the result.
func (r *Redactor) Text(ctx context.Context, text string) string {
	if text == "" || ctx.Err() != nil {
		return ""
	}
	if len(text) > maxKnownBytes {
		return r.redacted(ctx, text)
	}
	of := sha256.Sum256([]byte(text))
	redacted, known := r.remembered(of)
	if known {
		return redacted
	}
	if redacted = r.redacted(ctx, text); ctx.Err() != nil {
		return ""
	}
	r.remember(of, redacted)
	return redacted
}

func (t *tally) remembered(of [sha256.Size]byte) (redacted string, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	redacted, known = t.known[of]
	return redacted, known
}

func (t *tally) remember(of [sha256.Size]byte, redacted string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.known) < maxKnown {
		t.known[of] = redacted
	}
}

func (r *Redactor) redacted(ctx context.Context, text string) string {
	redacted := text
	hashes := make(map[string][sha256.Size]byte)
	for range maxPasses {
		found := secrets.Find(ctx, redacted)
		if ctx.Err() != nil {
			return ""
		}
		if len(found) == 0 {
			break
		}
		for _, s := range found {
			if _, hashed := hashes[s.Value]; !hashed {
				hashes[s.Value] = r.hash(s.Value)
			}
		}
		redacted = replace(redacted, found, hashes)
	}
	r.count(text, hashes)
	return redacted
}

// Count returns how many secrets were replaced so far. A secret counts once for each text that contained it, however
// often it occurs there and however often that text was redacted.
func (t *tally) Count() uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return uint32(len(t.replaced))
}

func (t *tally) count(text string, hashes map[string][sha256.Size]byte) {
	if len(hashes) == 0 {
		return
	}
	of := sha256.Sum256([]byte(text))
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, hash := range hashes {
		t.replaced[replacement{of, hash}] = struct{}{}
	}
}

func replace(text string, found []secrets.Secret, hashes map[string][sha256.Size]byte) string {
	out := make([]byte, 0, len(text))
	at := 0
	for _, s := range found {
		hash := hashes[s.Value]
		out = append(out, text[at:s.Start]...)
		out = append(out, secrets.PlaceholderStart+s.Rule+":"...)
		out = hex.AppendEncode(out, hash[:2])
		out = append(out, ']')
		at = s.End
	}
	return string(append(out, text[at:]...))
}

func (r *Redactor) hash(value string) [sha256.Size]byte {
	mac := hmac.New(sha256.New, r.key)
	mac.Write([]byte(value))
	return [sha256.Size]byte(mac.Sum(nil))
}
