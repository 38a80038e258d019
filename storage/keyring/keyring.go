// Package keyring seals values with keys that the operator holds, and opens them again.
//
// A ring has several keys, each with an id. The first one seals, all open: so a new key is put before the old ones, which
// stay until nothing is sealed with them any more. A sealed value is
//
//	length of the id, one byte | id | nonce, 24 bytes | ciphertext | tag, 16 bytes
//
// by XChaCha20-Poly1305. Nonces are random. They are so long that no number of values makes a repetition likely, while the
// 12 bytes of AES-GCM would need another key every some billion values. The place of a value, such as its bucket and key,
// is authenticated with it: a value that was put in another place does not open there.
package keyring

import (
	"bytes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/crypto/chacha20poly1305"
)

// maxID is the greatest length of a key's id in bytes.
const maxID = 32

// Overhead is the most bytes by which a sealed value is longer than the value.
const Overhead = 1 + maxID + chacha20poly1305.NonceSizeX + chacha20poly1305.Overhead

// maxKeys is how many keys a ring may have. Each is tried by its id alone, so that the number costs nothing.
const maxKeys = 100

// ErrAltered means that a value is not what was sealed with its key for its place.
var ErrAltered = errors.New("it is not what was sealed with its key for this place")

// UnknownKeyError means that a value was sealed with a key that the ring does not have.
type UnknownKeyError struct{ ID string }

func (e *UnknownKeyError) Error() string {
	return fmt.Sprintf("it is sealed with the key %q, which is not given", e.ID)
}

// Ring is a list of keys. It is safe for concurrent use, and its text forms have only the ids.
type Ring struct{ keys []key }

type key struct {
	id   string
	aead cipher.AEAD
}

var idPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$`)
})

// Parse reads keys, each as ID:KEY, where KEY is 32 bytes in base64, separated by blanks or line breaks. A line that begins
// with # is a comment. No error has anything of a key.
func Parse(text []byte) (*Ring, error) {
	r := new(Ring)
	var secrets [][]byte
	for number, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for _, field := range strings.Fields(line) {
			id, secret, err := parseKey(field)
			switch {
			case err != nil:
				return nil, fmt.Errorf("line %d: %w", number+1, err)
			case r.find(id) != nil:
				return nil, fmt.Errorf("line %d: there are two keys with the id %q", number+1, id)
			case slices.ContainsFunc(secrets, func(other []byte) bool { return bytes.Equal(other, secret) }):
				return nil, fmt.Errorf("line %d: the key %q has another id, too", number+1, id)
			case len(r.keys) == maxKeys:
				return nil, fmt.Errorf("line %d: more than %d keys", number+1, maxKeys)
			}
			aead, err := chacha20poly1305.NewX(secret)
			if err != nil {
				return nil, err
			}
			r.keys, secrets = append(r.keys, key{id: id, aead: aead}), append(secrets, secret)
		}
	}
	if len(r.keys) == 0 {
		return nil, errors.New("there is no key in it")
	}
	return r, nil
}

func parseKey(field string) (id string, secret []byte, err error) {
	id, text, found := strings.Cut(field, ":")
	// What is no id may be a key.
	if !found || !idPattern().MatchString(id) {
		return "", nil, fmt.Errorf("a key is ID:KEY, and its id has up to %d letters, digits, dots, dashes and underscores", maxID)
	}
	secret, err = base64.StdEncoding.DecodeString(text)
	if err != nil || len(secret) != chacha20poly1305.KeySize {
		return "", nil, fmt.Errorf("the key %q is not %d bytes in base64", id, chacha20poly1305.KeySize)
	}
	if bytes.Count(secret, secret[:1]) == len(secret) {
		return "", nil, fmt.Errorf("the key %q is one byte again and again: make a random one", id)
	}
	return id, secret, nil
}

func (r *Ring) find(id string) *key {
	for i := range r.keys {
		if r.keys[i].id == id {
			return &r.keys[i]
		}
	}
	return nil
}

// IDs returns the ids of the keys. The first one seals.
func (r *Ring) IDs() []string {
	ids := make([]string, len(r.keys))
	for i, k := range r.keys {
		ids[i] = k.id
	}
	return ids
}

// Sealing returns the id of the key that seals.
func (r *Ring) Sealing() string { return r.keys[0].id }

// Has reports whether the ring has a key.
func (r *Ring) Has(id string) bool { return r.find(id) != nil }

// Same reports whether two rings have the same keys, with the same ids and in the same order. A nil ring has none.
func (r *Ring) Same(other *Ring) bool {
	if r == nil || other == nil {
		return r == other
	}
	if !slices.Equal(r.IDs(), other.IDs()) {
		return false
	}
	for _, k := range r.keys {
		if r.CheckProof(other.Proof(k.id)) != nil {
			return false
		}
	}
	return true
}

// With returns a ring with the keys of r, and behind them those of the other ring with ids that r does not have.
func (r *Ring) With(other *Ring) *Ring {
	all := &Ring{keys: slices.Clone(r.keys)}
	for _, k := range other.keys {
		if !r.Has(k.id) {
			all.keys = append(all.keys, k)
		}
	}
	return all
}

// SealedBy returns a ring with the same keys, of which the one with this id seals where the ring has it.
func (r *Ring) SealedBy(id string) *Ring {
	all := &Ring{keys: slices.Clone(r.keys)}
	slices.SortStableFunc(all.keys, func(a, b key) int {
		switch {
		case (a.id == id) == (b.id == id):
			return 0
		case a.id == id:
			return -1
		default:
			return 1
		}
	})
	return all
}

// Seal appends a sealed value to dst.
func (r *Ring) Seal(dst, place, value []byte) []byte { return r.keys[0].seal(dst, place, value) }

func (k *key) seal(dst, place, value []byte) []byte {
	dst = slices.Grow(dst, 1+len(k.id)+chacha20poly1305.NonceSizeX+len(value)+chacha20poly1305.Overhead)
	dst = append(append(dst, byte(len(k.id))), k.id...)
	from := len(dst)
	dst = dst[:from+chacha20poly1305.NonceSizeX]
	nonce := dst[from:]
	// It cannot fail: the program ends where the system has no random bytes.
	_, _ = rand.Read(nonce)
	return k.aead.Seal(dst, nonce, value, place)
}

// split returns the parts of a sealed value.
func split(sealed []byte) (id, nonce, text []byte, err error) {
	if len(sealed) == 0 || sealed[0] == 0 || sealed[0] > maxID {
		return nil, nil, nil, ErrAltered
	}
	n := 1 + int(sealed[0])
	if len(sealed) < n+chacha20poly1305.NonceSizeX+chacha20poly1305.Overhead {
		return nil, nil, nil, ErrAltered
	}
	return sealed[1:n], sealed[n : n+chacha20poly1305.NonceSizeX], sealed[n+chacha20poly1305.NonceSizeX:], nil
}

// KeyOf returns the id of the key that sealed a value, or ErrAltered where it is none.
func KeyOf(sealed []byte) (string, error) {
	id, _, _, err := split(sealed)
	if err == nil && !idPattern().Match(id) {
		err = ErrAltered
	}
	return string(id), err
}

// Open returns the value that was sealed for a place: in new memory, never nil without an error. The error is ErrAltered or
// an *UnknownKeyError.
func (r *Ring) Open(place, sealed []byte) ([]byte, error) {
	id, nonce, text, err := split(sealed)
	if err != nil {
		return nil, err
	}
	for i := range r.keys {
		if r.keys[i].id != string(id) {
			continue
		}
		value, err := r.keys[i].aead.Open(make([]byte, 0, len(text)), nonce, text, place)
		if err != nil {
			return nil, ErrAltered
		}
		return value, nil
	}
	if !idPattern().Match(id) {
		return nil, ErrAltered
	}
	return nil, &UnknownKeyError{ID: string(id)}
}

// proofPlace is the place of proofs. No value of a store has it.
var proofPlace = []byte("proof of a key")

// Proof returns a sealed value that only the key with this id opens; nil where the ring does not have it.
func (r *Ring) Proof(id string) []byte {
	k := r.find(id)
	if k == nil {
		return nil
	}
	return k.seal(nil, proofPlace, nil)
}

// CheckProof returns the error of Open for a proof.
func (r *Ring) CheckProof(proof []byte) error {
	_, err := r.Open(proofPlace, proof)
	return err
}

// String returns the ids of the keys.
func (r *Ring) String() string { return fmt.Sprintf("keys %q", r.IDs()) }

// MarshalText returns the ids of the keys.
func (r *Ring) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// Format writes the ids of the keys, whatever the verb.
func (r *Ring) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, r.String()) }
