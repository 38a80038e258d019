// Package redaction replaces secrets in texts by placeholders: keys, tokens, passwords, as the rules of gitleaks and a few of
// ours find them. A placeholder names the rule and a short keyed hash of the secret, so that one secret can be told from another
// in all texts of a session, and nothing of it can be guessed from there.
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

// tally is what was replaced in an operation.
type tally struct {
	mu       sync.Mutex
	replaced map[[sha256.Size]byte]struct{}
	// known are texts that were redacted before, by their hash: a summary is asked for at each step of its way.
	known map[[sha256.Size]byte]string
}

// maxKnownBytes is the largest text that is remembered, and maxKnown is how many are.
const (
	maxKnownBytes = 64 << 10
	maxKnown      = 256
)

// New returns a redactor for an operation. Its placeholders are those of the session with that key.
func New(key string) *Redactor {
	return &Redactor{key: []byte(key), tally: &tally{
		replaced: make(map[[sha256.Size]byte]struct{}), known: make(map[[sha256.Size]byte]string),
	}}
}

// Within returns Text for as long as ctx lasts.
func (r *Redactor) Within(ctx context.Context) func(text string) string {
	return func(text string) string { return r.Text(ctx, text) }
}

// maxPasses is how often a text is looked at again, since what stands beside a placeholder may be recognized only then.
// Hardly any takes more than two.
const maxPasses = 16

// Text returns the text with its secrets replaced by `[REDACTED:RULE:hhhh]`: the rule that found it, and four hexadecimal
// digits of a keyed hash, which are the same for the same secret in all texts of the session. Redacting what it
// returned changes nothing. It is a function of the key and the text.
//
// Once the context has ended it returns nothing, at once: who asked must look at the context before he uses a text.
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
	for range maxPasses {
		found := secrets.Find(ctx, redacted)
		if ctx.Err() != nil {
			return ""
		}
		if len(found) == 0 {
			break
		}
		r.count(text, found)
		redacted = r.replace(redacted, found)
	}
	return redacted
}

// Count is how many secrets were replaced so far: a secret counts once for each text that it was in, however often it
// stands there and however often that text was redacted.
func (t *tally) Count() uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return uint32(len(t.replaced))
}

func (r *Redactor) count(text string, found []secrets.Secret) {
	of := sha256.Sum256([]byte(text))
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range found {
		r.replaced[[sha256.Size]byte(r.hash(string(of[:])+s.Value))] = struct{}{}
	}
}

func (r *Redactor) replace(text string, found []secrets.Secret) string {
	out := make([]byte, 0, len(text))
	at := 0
	for _, s := range found {
		out = append(out, text[at:s.Start]...)
		out = append(out, secrets.PlaceholderStart+s.Rule+":"...)
		out = hex.AppendEncode(out, r.hash(s.Value)[:2])
		out = append(out, ']')
		at = s.End
	}
	return string(append(out, text[at:]...))
}

func (r *Redactor) hash(value string) []byte {
	mac := hmac.New(sha256.New, r.key)
	mac.Write([]byte(value))
	return mac.Sum(nil)
}
