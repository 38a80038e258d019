package jwt

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/service/access/jwt/jwttest"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func settingsFor(place string) Settings {
	return Settings{
		Keys: place, Issuer: jwttest.Name, Audiences: []string{"other", jwttest.Audience}, Algorithms: Algorithms(), Refresh: time.Hour,
		Leeway: time.Minute, SubjectClaim: "sub", TenantClaim: "tenant", RoleClaim: "scope",
	}
}

// verifierOf returns a verifier by a file of keys, whose clock stands still.
func verifierOf(t testing.TB, settings func(*Settings), keys ...jwttest.Key) *Verifier {
	t.Helper()
	s := settingsFor(filepath.Join(t.TempDir(), "keys.json"))
	jwttest.Write(t, s.Keys, keys...)
	if settings != nil {
		settings(&s)
	}
	v, err := New(Options{Settings: s, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return now }, Failing: func(bool) {}})
	require.NoError(t, err)
	running(t, v)
	return v
}

// running runs a verifier until the test ends.
func running(t testing.TB, v *Verifier) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() { defer close(done); v.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
}

func rsaKey(t testing.TB, id string) jwttest.Key {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	return jwttest.Key{ID: id, Algorithm: jose.RS256, Private: private}
}

func ecKey(t testing.TB, id string, curve elliptic.Curve, algorithm jose.SignatureAlgorithm) jwttest.Key {
	t.Helper()
	private, err := ecdsa.GenerateKey(curve, rand.Reader)
	require.NoError(t, err)
	return jwttest.Key{ID: id, Algorithm: algorithm, Private: private}
}

func edKey(t testing.TB, id string) jwttest.Key {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	return jwttest.Key{ID: id, Algorithm: jose.EdDSA, Private: private}
}

func TestTokensOfEachAlgorithm(t *testing.T) {
	t.Parallel()
	rsa := rsaKey(t, "rsa")
	keys := []jwttest.Key{
		rsa, ecKey(t, "256", elliptic.P256(), jose.ES256), ecKey(t, "384", elliptic.P384(), jose.ES384),
		ecKey(t, "521", elliptic.P521(), jose.ES512), edKey(t, "ed"),
	}
	v := verifierOf(t, nil, keys...)
	for _, algorithm := range []jose.SignatureAlgorithm{jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512} {
		keys = append(keys, jwttest.Key{ID: "rsa", Algorithm: algorithm, Private: rsa.Private})
	}
	require.Len(t, keys, len(Algorithms()))
	for _, k := range keys {
		claims, err := v.Verify(t.Context(), k.Sign(t, jwttest.Claims(now, nil)))
		require.NoError(t, err, k.Algorithm)
		require.Equal(t, "agent", claims.Subject)
		require.Equal(t, "acme", claims.Tenant)
		require.Equal(t, []string{"compactord:write"}, claims.Roles)
		require.True(t, claims.Expires.Equal(now.Add(time.Hour+time.Minute)), "the leeway counts for the end too")
		require.True(t, v.Holds(claims))
		only := verifierOf(t, func(s *Settings) { s.Algorithms = []string{"ES256"} }, keys[:5]...)
		_, err = only.Verify(t.Context(), k.Sign(t, jwttest.Claims(now, nil)))
		require.Equal(t, k.Algorithm == jose.ES256, err == nil, k.Algorithm)
	}
}

// A key that the issuer shows for one algorithm verifies no token of another one, also where it could.
func TestKeysForOneAlgorithm(t *testing.T) {
	t.Parallel()
	key := rsaKey(t, "k")
	text, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Private.Public(), KeyID: "k", Algorithm: "RS256"}}})
	require.NoError(t, err)
	place := filepath.Join(t.TempDir(), "keys.json")
	require.NoError(t, os.WriteFile(place, text, 0o600))
	v := verifierOf(t, func(s *Settings) { s.Keys = place }, jwttest.NewKey(t, "unused"))
	_, err = v.Verify(t.Context(), key.Sign(t, jwttest.Claims(now, nil)))
	require.NoError(t, err)
	key.Algorithm = jose.PS256
	_, err = v.Verify(t.Context(), key.Sign(t, jwttest.Claims(now, nil)))
	require.Error(t, err)
}

// encoded is a token of any header and payload, with a signature by sign.
func encoded(header, payload string, sign func(input string) []byte) string {
	encode := base64.RawURLEncoding.EncodeToString
	input := encode([]byte(header)) + "." + encode([]byte(payload))
	return input + "." + encode(sign(input))
}

func TestTokensThatAreRefused(t *testing.T) {
	t.Parallel()
	rsa, ec, ed := rsaKey(t, "rsa"), jwttest.NewKey(t, "ec"), edKey(t, "ed")
	v := verifierOf(t, nil, rsa, ec, ed)
	good, err := json.Marshal(jwttest.Claims(now, nil))
	require.NoError(t, err)
	der, err := x509.MarshalPKIXPublicKey(rsa.Private.Public())
	require.NoError(t, err)
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	mac := func(secret []byte) func(string) []byte {
		return func(input string) []byte {
			m := hmac.New(sha256.New, secret)
			m.Write([]byte(input))
			return m.Sum(nil)
		}
	}
	nothing := func(string) []byte { return nil }
	bySigner := func(k jwttest.Key) func(string) []byte {
		return func(input string) []byte {
			signed, err := k.Private.Sign(rand.Reader, []byte(input), crypto.Hash(0))
			require.NoError(t, err)
			return signed
		}
	}
	with := func(replaced map[string]any) string { return ec.Sign(t, jwttest.Claims(now, replaced)) }
	whole := with(nil)
	parts := strings.Split(whole, ".")
	stranger := jwttest.NewKey(t, "ec")
	embedded, err := json.Marshal(jose.JSONWebKey{Key: edKey(t, "").Private.Public()})
	require.NoError(t, err)
	for name, token := range map[string]string{
		"none":                    encoded(`{"alg":"none","kid":"rsa"}`, string(good), nothing),
		"None":                    encoded(`{"alg":"None","kid":"rsa"}`, string(good), nothing),
		"no algorithm":            encoded(`{"kid":"rsa"}`, string(good), nothing),
		"HMAC with the PEM":       encoded(`{"alg":"HS256","kid":"rsa"}`, string(good), mac(public)),
		"HMAC with the DER":       encoded(`{"alg":"HS256","kid":"rsa"}`, string(good), mac(der)),
		"another issuer":          with(map[string]any{"iss": jwttest.Name + "/"}),
		"no issuer":               with(map[string]any{"iss": nil}),
		"another audience":        with(map[string]any{"aud": "compactor"}),
		"no audience":             with(map[string]any{"aud": nil}),
		"other audiences":         with(map[string]any{"aud": []string{"a", "b"}}),
		"expired":                 with(map[string]any{"exp": now.Add(-time.Hour).Unix()}),
		"no expiry":               with(map[string]any{"exp": nil}),
		"expiry of another type":  with(map[string]any{"exp": "2027-01-01"}),
		"expiry beyond all times": with(map[string]any{"exp": 1e300}),
		"not valid yet":           with(map[string]any{"nbf": now.Add(time.Hour).Unix()}),
		"issued in the future":    with(map[string]any{"iat": now.Add(time.Hour).Unix()}),
		"unknown kid":             jwttest.NewKey(t, "unknown").Sign(t, jwttest.Claims(now, nil)),
		"no kid":                  jwttest.Key{Algorithm: ec.Algorithm, Private: ec.Private}.Sign(t, jwttest.Claims(now, nil)),
		"kid of another type":     encoded(`{"alg":"EdDSA","kid":7}`, string(good), bySigner(ed)),
		"kid of another key":      jwttest.Key{ID: "rsa", Algorithm: ec.Algorithm, Private: ec.Private}.Sign(t, jwttest.Claims(now, nil)),
		"key of a stranger":       stranger.Sign(t, jwttest.Claims(now, nil)),
		"key in the header":       encoded(`{"alg":"EdDSA","kid":"ed","jwk":`+string(embedded)+`}`, string(good), bySigner(edKey(t, "ed"))),
		"unknown critical header": encoded(`{"alg":"EdDSA","kid":"ed","crit":["x"],"x":1}`, string(good), bySigner(ed)),
		"algorithm twice":         encoded(`{"alg":"EdDSA","alg":"none","kid":"ed"}`, string(good), bySigner(ed)),
		"another payload":         parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(good), "acme", "bcme", 1))) + "." + parts[2],
		"no signature":            parts[0] + "." + parts[1] + ".",
		"four parts":              whole + "." + parts[2],
		"JSON":                    `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`,
		"claims twice":            ec.SignPayload(t, []byte(`{"tenant":"other",`+string(good[1:]))),
		"a list of claims":        ec.SignPayload(t, []byte("["+string(good)+"]")),
		"nested junk":             ec.SignPayload(t, []byte(strings.Repeat("[", 4000))),
		"nested header":           encoded(strings.Repeat(`{"a":`, 1000), string(good), nothing),
		"huge":                    with(map[string]any{"x": strings.Repeat("x", MaxTokenBytes)}),
		"nothing":                 "",
		"dots":                    "..",
	} {
		claims, err := v.Verify(t.Context(), token)
		require.Error(t, err, name)
		require.Nil(t, claims, name)
		require.Equal(t, name == "expired", errors.Is(err, ErrExpired), name)
	}
	// What the refused ones differ from.
	for _, token := range []string{
		whole, encoded(`{"alg":"EdDSA","kid":"ed"}`, string(good), bySigner(ed)), with(map[string]any{"aud": []string{"a", jwttest.Audience}}),
		with(map[string]any{"exp": now.Add(-time.Second).Unix()}), with(map[string]any{"nbf": now.Add(time.Second).Unix()}),
		with(map[string]any{"exp": 1e15}),
	} {
		_, err := v.Verify(t.Context(), token)
		require.NoError(t, err)
	}
}

// A claim may lie in an object, and have dots in its name. What is not a text, or a list of texts, claims nothing.
func TestNamesOfClaims(t *testing.T) {
	t.Parallel()
	key := jwttest.NewKey(t, "k")
	v := verifierOf(t, func(s *Settings) {
		s.SubjectClaim, s.TenantClaim, s.RoleClaim = "client.id", "https://x.example/tenant", "realm.access.roles"
	}, key)
	read := func(claims map[string]any) *Claims {
		c, err := v.Verify(t.Context(), key.Sign(t, jwttest.Claims(now, claims)))
		require.NoError(t, err)
		return c
	}
	c := read(map[string]any{
		"client": map[string]any{"id": "a"}, "https://x.example/tenant": "b",
		"realm": map[string]any{"access": map[string]any{"roles": []string{"c", "d"}}},
	})
	require.Equal(t, []any{"a", "b", []string{"c", "d"}}, []any{c.Subject, c.Tenant, c.Roles})
	c = read(map[string]any{"client.id": "whole", "client": map[string]any{"id": "a"}, "realm": map[string]any{"access.roles": "c  d"}})
	require.Equal(t, []any{"whole", "", []string{"c", "d"}}, []any{c.Subject, c.Tenant, c.Roles})
	c = read(map[string]any{"client.id": 7, "https://x.example/tenant": []string{"b"}, "realm": map[string]any{"access": map[string]any{"roles": []any{"c", 1}}}})
	require.Equal(t, []any{"", "", []string(nil)}, []any{c.Subject, c.Tenant, c.Roles})
}

// Keys that verify nothing, or too weakly, are left out; other keys of the set count.
func TestSetsOfKeys(t *testing.T) {
	t.Parallel()
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	require.NoError(t, err)
	good := jwttest.NewKey(t, "good")
	one := func(key jose.JSONWebKey) string {
		text, err := json.Marshal(key)
		require.NoError(t, err)
		return string(text)
	}
	useless := []string{
		one(jose.JSONWebKey{Key: []byte("secret"), KeyID: "symmetric"}), one(jose.JSONWebKey{Key: weak.Public(), KeyID: "weak"}),
		one(jose.JSONWebKey{Key: good.Private.Public()}), one(jose.JSONWebKey{Key: good.Private.Public(), KeyID: "enc", Use: "enc"}),
		one(jose.JSONWebKey{Key: good.Private.Public(), KeyID: "other", Algorithm: "RS256"}), `{"kty":"new","kid":"kind"}`, `{"kty":"EC"}`, `7`, `null`,
	}
	_, err = parseKeySet([]byte(`{"keys":[` + strings.Join(useless, ",") + `]}`))
	require.ErrorContains(t, err, "no key that can verify")
	// The private half in a file does no harm.
	set, err := parseKeySet([]byte(`{"keys":[` + strings.Join(append(useless, one(jose.JSONWebKey{Key: good.Private, KeyID: "good"})), ",") + `]}`))
	require.NoError(t, err)
	require.Len(t, set, 1)
	require.True(t, set["good"][0].key.Equal(good.Private.Public()))
	for _, text := range []string{"", "{}", `{"keys":7}`, "[]", `{"keys":[]}`, `{"keys":[` + one(jose.JSONWebKey{Key: good.Private, KeyID: "good"})} {
		_, err := parseKeySet([]byte(text))
		require.Error(t, err, text)
	}
	_, err = parseKeySet([]byte(`{"keys":[` + strings.Repeat("1,", maxKeys) + `1]}`))
	require.ErrorContains(t, err, "more than 256 keys")
	_, err = parseKeySet(make([]byte, maxSetBytes+1))
	require.ErrorContains(t, err, "bytes")
}

// Junk is refused without a panic, whatever part of a token it is in.
func FuzzTokens(f *testing.F) {
	key := jwttest.NewKey(f, "k")
	v := verifierOf(f, func(s *Settings) { s.TenantClaim = "a.b.c" }, key)
	f.Add(`{"alg":"ES256","kid":"k"}`, `{"iss":"https://issuer.example","aud":"compactord","exp":1e10,"a":{"b":{"c":"x"}},"scope":["r"]}`)
	f.Add(`{"alg":"none"}`, `[[[[`)
	f.Fuzz(func(t *testing.T, header, payload string) {
		if claims, err := v.Verify(t.Context(), encoded(header, payload, func(string) []byte { return make([]byte, 64) })); err == nil {
			require.Fail(t, "accepted without a signature", "%v", claims)
		}
		claims, err := v.read([]byte(payload))
		if err == nil {
			require.False(t, claims.Expires.Before(now))
			require.NotNil(t, claims)
		}
	})
}
