package access

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/compactord/compactord/service/access/jwt"
	"github.com/compactord/compactord/service/access/jwt/jwttest"
)

// guardOfJWTs returns a guard that takes the JWTs of a key, and its file of keys.
func guardOfJWTs(t testing.TB, key jwttest.Key, entries ...Entry) (g *guarded, keys string) {
	t.Helper()
	g = &guarded{path: filepath.Join(t.TempDir(), "tokens"), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), registry: prometheus.NewPedanticRegistry()}
	g.write(t, lines(entries...))
	keys = filepath.Join(t.TempDir(), "keys.json")
	jwttest.Write(t, keys, key)
	var err error
	g.Guard, err = New(Options{
		Files: []File{{Flag: "tokens", Path: g.path, Read: read}}, Metrics: g.registry, Now: func() time.Time { return g.now },
		Logger: slog.New(slog.NewTextHandler(&g.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		JWT: &JWT{
			Settings: jwt.Settings{
				Keys: keys, Issuer: jwttest.Name, Audiences: []string{jwttest.Audience}, Algorithms: jwt.Algorithms(), Leeway: time.Minute,
				SubjectClaim: "sub", TenantClaim: "tenant", RoleClaim: "scope",
			},
			Roles: map[string]Role{"compactord:read": Read, "compactord:write": Write, "boss": Admin},
		},
	})
	require.NoError(t, err)
	return g, keys
}

// Tokens and JWTs are taken side by side. A JWT without a role or a tenant is taken nowhere, with the answer for all bad tokens.
func TestJWTs(t *testing.T) {
	t.Parallel()
	key := jwttest.NewKey(t, "k")
	token, e := entry(t, "x", Read)
	g, _ := guardOfJWTs(t, key, e)
	require.Equal(t, codes.OK, g.call(reads, token))
	signed := func(replaced map[string]any) string { return key.Sign(t, jwttest.Claims(g.now, replaced)) }
	for _, c := range []struct {
		claims map[string]any
		role   Role
	}{
		{nil, Write},
		{map[string]any{"scope": "compactord:read openid"}, Read},
		{map[string]any{"scope": []string{"openid", "boss", "compactord:read"}}, Admin},
		{map[string]any{"tenant": strings.Repeat("t", 63), "sub": "auth0|a/b:c"}, Write},
		{map[string]any{"scope": nil}, Everybody},
		{map[string]any{"scope": "openid admin write"}, Everybody},
		{map[string]any{"scope": []any{"boss", 1}}, Everybody},
		{map[string]any{"scope": map[string]any{"boss": true}}, Everybody},
		{map[string]any{"tenant": nil}, Everybody},
		{map[string]any{"tenant": ""}, Everybody},
		{map[string]any{"tenant": "Acme"}, Everybody},
		{map[string]any{"tenant": "a/b"}, Everybody},
		{map[string]any{"tenant": "a\x00b"}, Everybody},
		{map[string]any{"tenant": "../a"}, Everybody},
		{map[string]any{"tenant": strings.Repeat("t", 64)}, Everybody},
		{map[string]any{"tenant": []string{"acme"}}, Everybody},
		{map[string]any{"sub": nil}, Everybody},
		{map[string]any{"sub": "a b"}, Everybody},
		{map[string]any{"sub": "a\nb"}, Everybody},
		{map[string]any{"sub": token}, Everybody},
		{map[string]any{"sub": strings.Repeat("x", 257)}, Everybody},
		{map[string]any{"exp": g.now.Add(-time.Minute).Unix()}, Everybody},
	} {
		raw := signed(c.claims)
		want := [3]codes.Code{codes.Unauthenticated, codes.Unauthenticated, codes.Unauthenticated}
		for i, needed := range []Role{Read, Write, Admin} {
			if c.role >= needed {
				want[i] = codes.OK
			} else if c.role > Everybody {
				want[i] = codes.PermissionDenied
			}
		}
		require.Equal(t, want, [3]codes.Code{g.call(reads, raw), g.call(writes, raw), g.call(deletes, raw)}, c.claims)
		require.True(t, LooksLikeJWT(raw))
		if c.role == Everybody {
			_, _, err := g.admit(calling("Bearer "+raw), reads)
			_, _, other := g.admit(calling("Bearer "+NewToken()), reads)
			require.Equal(t, other, err)
		}
		require.NotContains(t, g.log.String(), raw)
	}
	require.Contains(t, g.log.String(), "a JWT was refused")
	ctx, _, err := g.admit(calling("Bearer "+signed(map[string]any{"scope": "boss"})), deletes)
	require.NoError(t, err)
	require.Equal(t, Caller{Subject: "agent", Tenant: "acme", Role: Admin}, CallerOf(ctx))
	admitted, authenticated := g.Admits(t.Context(), []string{"Bearer " + signed(map[string]any{"scope": "boss"})}, Read)
	require.Equal(t, [2]bool{false, true}, [2]bool{admitted, authenticated}, "what concerns all tenants takes no JWT")
	before := g.metric(t, "compactord_access_refused_total", "expired")
	require.Equal(t, codes.Unauthenticated, g.call(reads, signed(map[string]any{"exp": g.now.Add(-time.Hour).Unix()})))
	require.InDelta(t, before+1, g.metric(t, "compactord_access_refused_total", "expired"), 0)
	require.Zero(t, g.metric(t, "compactord_tokens_failing", "jwt"))
	none := guardOf(t)
	require.Equal(t, codes.Unauthenticated, none.call(reads, signed(nil)), "JWTs are off by default")
}

// The streams of a JWT end when it expires, and when the issuer withdraws its key.
func TestStreamsEndWithTheirJWT(t *testing.T) {
	t.Parallel()
	key, next := jwttest.NewKey(t, "k"), jwttest.NewKey(t, "next")
	g, keys := guardOfJWTs(t, key)
	ended := map[string]int{}
	open := func(name string, replaced map[string]any) (leave func()) {
		_, granted, err := g.admit(calling("Bearer "+key.Sign(t, jwttest.Claims(g.now, replaced))), reads)
		require.NoError(t, err)
		return granted.admitStream(func() { ended[name]++ })
	}
	open("short", map[string]any{"exp": g.now.Add(time.Minute).Unix()})
	open("long", nil)
	leave := open("left", nil)
	g.now = g.now.Add(2*time.Minute - 1)
	g.look(t.Context())
	require.Empty(t, ended)
	g.now = g.now.Add(1)
	g.look(t.Context())
	require.Equal(t, map[string]int{"short": 1}, ended)
	leave()
	require.Len(t, g.jwts.streaming, 2, "a stream that has ended is kept until its handler returns")
	jwttest.Write(t, keys, next)
	require.Len(t, g.jwts.streaming, 2)
	reread, err := jwt.New(jwt.Options{Settings: jwt.Settings{Keys: keys}, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	g.jwts.verifier = reread
	g.look(t.Context())
	require.Equal(t, map[string]int{"short": 1, "long": 1}, ended)
}

func TestWhatLooksLikeAJWT(t *testing.T) {
	t.Parallel()
	whole := jwttest.NewKey(t, "k").Sign(t, jwttest.Claims(time.Now(), nil))
	for text, is := range map[string]bool{
		whole: true, "": false, "ey..": true, NewToken(): false, whole + ".x": false, "ey.a.b c": false, "ey.a.b\n": false,
		"ey." + strings.Repeat("x", jwt.MaxTokenBytes) + ".": false,
	} {
		require.Equal(t, is, LooksLikeJWT(text), text)
	}
	t.Run("as the token of a caller", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "token")
		require.NoError(t, os.WriteFile(path, []byte(whole+"\n"), 0o600))
		found, err := Find(path, "127.0.0.1:1", false)
		require.NoError(t, err)
		require.Equal(t, whole, found)
	})
}
