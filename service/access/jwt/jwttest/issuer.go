// Package jwttest is an issuer of JWTs, for tests.
package jwttest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
	"github.com/stretchr/testify/require"
)

// The issuer and the audience of the tokens.
const (
	Name     = "https://issuer.example"
	Audience = "compactord"
)

// Key is a key of an issuer.
type Key struct {
	ID        string
	Algorithm jose.SignatureAlgorithm
	Private   crypto.Signer
}

// NewKey makes a key for ES256, the fastest to make.
func NewKey(t testing.TB, id string) Key {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return Key{id, jose.ES256, private}
}

// Set returns the set of the public halves of keys.
func Set(t testing.TB, keys ...Key) []byte {
	t.Helper()
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, k := range keys {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: k.Private.Public(), KeyID: k.ID, Use: "sig"})
	}
	text, err := json.Marshal(set)
	require.NoError(t, err)
	return text
}

// Write puts the set of keys into a file in one step, as an operator is told to.
func Write(t testing.TB, path string, keys ...Key) {
	t.Helper()
	beside := filepath.Join(filepath.Dir(path), ".next-"+filepath.Base(path))
	require.NoError(t, os.WriteFile(beside, Set(t, keys...), 0o600))
	require.NoError(t, os.Rename(beside, path))
}

// Claims are those of a token that is accepted for an hour, with some claims replaced. A nil one is left out.
func Claims(now time.Time, replaced map[string]any) map[string]any {
	claims := map[string]any{
		"iss": Name, "aud": Audience, "sub": "agent", "exp": now.Add(time.Hour).Unix(), "tenant": "acme", "scope": "compactord:write",
	}
	maps.Copy(claims, replaced)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	return claims
}

// Sign returns a token with claims.
func (k Key) Sign(t testing.TB, claims map[string]any) string {
	t.Helper()
	payload, err := json.Marshal(claims)
	require.NoError(t, err)
	return k.SignPayload(t, payload)
}

// SignPayload returns a token with any payload.
func (k Key) SignPayload(t testing.TB, payload []byte) string {
	t.Helper()
	options := &jose.SignerOptions{}
	if k.ID != "" {
		options = options.WithHeader("kid", k.ID)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: k.Algorithm, Key: k.Private}, options.WithType("JWT"))
	require.NoError(t, err)
	signed, err := signer.Sign(payload)
	require.NoError(t, err)
	token, err := signed.CompactSerialize()
	require.NoError(t, err)
	return token
}
