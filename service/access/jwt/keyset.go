package jwt

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
	"slices"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
)

const (
	// maxSetBytes is more than any set of keys has.
	maxSetBytes = 1 << 20
	maxKeys     = 256
	// minRSABits is the least that RFC 7518 allows.
	minRSABits = 2048
	maxRSABits = 8192
)

// publicKey is a key of an issuer.
type publicKey struct {
	id string
	// key is an *rsa.PublicKey, an *ecdsa.PublicKey or an ed25519.PublicKey.
	key interface {
		Equal(other crypto.PublicKey) bool
	}
	// algorithms are those that the key may be used with. The header of a token cannot choose another one.
	algorithms []jose.SignatureAlgorithm
}

func (k *publicKey) same(as *publicKey) bool {
	return k.id == as.id && slices.Equal(k.algorithms, as.algorithms) && k.key.Equal(as.key)
}

// keySet has the keys by their ids. Several may share an id if they are of different kinds.
type keySet map[string][]*publicKey

// has says whether the set has a key.
func (s keySet) has(key *publicKey) bool {
	return slices.ContainsFunc(s[key.id], key.same)
}

func (s keySet) same(as keySet) bool {
	size := func(of keySet) (n int) {
		for _, keys := range of {
			n += len(keys)
		}
		return n
	}
	if size(s) != size(as) {
		return false
	}
	for _, keys := range s {
		if slices.ContainsFunc(keys, func(k *publicKey) bool { return !as.has(k) }) {
			return false
		}
	}
	return true
}

// parseKeySet reads a JSON Web Key Set. It leaves out keys that cannot verify a token: without an id, for encryption, of an
// unknown kind, symmetric, or weak. The error quotes nothing of the text.
func parseKeySet(text []byte) (keySet, error) {
	if len(text) > maxSetBytes {
		return nil, fmt.Errorf("it has more than %d bytes", maxSetBytes)
	}
	var document struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, errors.New("it is no JSON Web Key Set: a JSON object with a list `keys`")
	}
	if len(document.Keys) > maxKeys {
		return nil, fmt.Errorf("it has more than %d keys", maxKeys)
	}
	set := make(keySet)
	for _, raw := range document.Keys {
		if key := parseKey(raw); key != nil && !set.has(key) {
			set[key.id] = append(set[key.id], key)
		}
	}
	if len(set) == 0 {
		return nil, errors.New("it has no key that can verify a token: an RSA, EC or Ed25519 key with a `kid`")
	}
	return set, nil
}

// parseKey returns a key that can verify tokens; nil for others.
func parseKey(raw []byte) *publicKey {
	var key jose.JSONWebKey
	if err := json.Unmarshal(raw, &key); err != nil || key.KeyID == "" || key.Use != "" && key.Use != "sig" {
		return nil
	}
	parsed := &publicKey{id: key.KeyID}
	// A file may hold private keys, which are of no use here.
	switch public := key.Public().Key.(type) {
	case *rsa.PublicKey:
		if bits := public.N.BitLen(); bits < minRSABits || bits > maxRSABits {
			return nil
		}
		parsed.key = public
		parsed.algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512}
	case *ecdsa.PublicKey:
		algorithm, known := ofCurves[public.Params().BitSize]
		if !known {
			return nil
		}
		parsed.key, parsed.algorithms = public, []jose.SignatureAlgorithm{algorithm}
	case ed25519.PublicKey:
		parsed.key, parsed.algorithms = public, []jose.SignatureAlgorithm{jose.EdDSA}
	default:
		return nil
	}
	if key.Algorithm != "" {
		only := jose.SignatureAlgorithm(key.Algorithm)
		if !slices.Contains(parsed.algorithms, only) {
			return nil
		}
		parsed.algorithms = []jose.SignatureAlgorithm{only}
	}
	return parsed
}

// ofCurves has the algorithm of each elliptic curve, by its bits.
var ofCurves = map[int]jose.SignatureAlgorithm{256: jose.ES256, 384: jose.ES384, 521: jose.ES512}

// Algorithms are the names of the algorithms that are known, all asymmetric: with a symmetric one, whoever can verify a token
// can make one, and a public key could be taken for a secret.
func Algorithms() []string {
	return []string{
		string(jose.RS256), string(jose.RS384), string(jose.RS512), string(jose.PS256), string(jose.PS384), string(jose.PS512),
		string(jose.ES256), string(jose.ES384), string(jose.ES512), string(jose.EdDSA),
	}
}
