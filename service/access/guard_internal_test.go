package access

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	reads   = compactordv1.SessionService_GetSession_FullMethodName
	writes  = compactordv1.SessionService_AppendMessages_FullMethodName
	deletes = compactordv1.SessionService_DeleteSession_FullMethodName
)

// guarded is a guard on a file of tokens, and its clock.
type guarded struct {
	*Guard

	path     string
	now      time.Time
	log      strings.Builder
	registry *prometheus.Registry
}

// metric returns a figure of the guard's metrics, by name and the value of its label.
func (g *guarded) metric(t *testing.T, name, label string) float64 {
	t.Helper()
	families, err := g.registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && m.GetLabel()[0].GetValue() == label {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	require.Fail(t, "no such metric", name)
	return 0
}

func read(path string) ([]Entry, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseTokens(content)
}

func guardOf(t testing.TB, entries ...Entry) *guarded {
	t.Helper()
	g := &guarded{path: filepath.Join(t.TempDir(), "tokens"), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), registry: prometheus.NewPedanticRegistry()}
	g.write(t, lines(entries...))
	var err error
	g.Guard, err = New(Options{
		Files: []File{{Flag: "tokens", Path: g.path, Read: read}}, Logger: slog.New(slog.NewTextHandler(&g.log, nil)),
		Metrics: g.registry, Now: func() time.Time { return g.now },
	})
	require.NoError(t, err)
	return g
}

func lines(entries ...Entry) string {
	text := "# tokens\n"
	for _, e := range entries {
		text += e.Line() + "\n"
	}
	return text
}

// write replaces the file, as an operator is told to.
func (g *guarded) write(t testing.TB, content string) {
	t.Helper()
	beside := g.path + ".new"
	require.NoError(t, os.WriteFile(beside, []byte(content), 0o600))
	require.NoError(t, os.Rename(beside, g.path))
}

// reload looks as often as a change takes to be read.
func (g *guarded) reload(t testing.TB) {
	t.Helper()
	g.look(t.Context())
	g.look(t.Context())
}

// call returns the code of a call with a token.
func (g *guarded) call(method, token string) codes.Code {
	_, _, err := g.admit(calling("Bearer "+token), method)
	return code(err)
}

func calling(values ...string) context.Context {
	return metadata.NewIncomingContext(context.Background(), metadata.MD{header: values})
}

func code(err error) codes.Code {
	var ours interface{ Code() codes.Code }
	if errors.As(err, &ours) {
		return ours.Code()
	}
	return status.Code(err)
}

func entry(t testing.TB, subject string, role Role) (string, Entry) {
	t.Helper()
	token := NewToken()
	return token, Entry{Subject: subject, Role: role, Hash: hashOf(t, token)}
}

func TestRolesIncludeTheLowerOnes(t *testing.T) {
	for role, want := range map[Role][3]codes.Code{
		Read:  {codes.OK, codes.PermissionDenied, codes.PermissionDenied},
		Write: {codes.OK, codes.OK, codes.PermissionDenied},
		Admin: {codes.OK, codes.OK, codes.OK},
	} {
		token, e := entry(t, "x", role)
		g := guardOf(t, e)
		require.Equal(t, want, [3]codes.Code{g.call(reads, token), g.call(writes, token), g.call(deletes, token)}, role)
		require.Equal(t, g.call(deletes, token), g.call("/unknown/Method", token), "what is not in the table needs the highest role")
	}
}

// One answer for all says nothing about what is wrong with a token; the metric tells the reasons apart.
func TestCallsWithoutAValidToken(t *testing.T) {
	token, e := entry(t, "x", Admin)
	old, expired := entry(t, "x", Admin)
	g := guardOf(t, e, expired)
	g.write(t, lines(e, Entry{Subject: "x", Role: Admin, Hash: expired.Hash, Expires: g.now}))
	g.reload(t)
	answers := map[string]bool{}
	for name, ctx := range map[string]context.Context{
		reasonMissing:    t.Context(),
		"no value":       calling(),
		"blank":          calling(""),
		"another scheme": calling("Basic " + token),
		"no scheme":      calling(token),
		"two":            calling("Bearer "+token, "Bearer "+token),
		"a word more":    calling("Bearer " + token + " x"),
		"a letter less":  calling("Bearer " + token[:len(token)-1]),
		"unknown":        calling("Bearer " + NewToken()),
		"long":           calling("Bearer " + strings.Repeat("x", 60000)),
		"expired":        calling("Bearer " + old),
	} {
		_, _, err := g.admit(ctx, reads)
		require.Equal(t, codes.Unauthenticated, code(err), name)
		answers[err.Error()] = true
	}
	require.Len(t, answers, 1)
	_, _, err := g.admit(calling("bearer "+token), reads)
	require.NoError(t, err, "the scheme may be written small")
	for reason, count := range map[string]float64{reasonMissing: 2, reasonExpired: 1, reasonWrong: 8} {
		require.InDelta(t, count, g.metric(t, "compactord_access_refused_total", reason), 0, reason)
	}
	require.NotContains(t, g.log.String(), token)
}

func TestTokensExpire(t *testing.T) {
	token, e := entry(t, "x", Read)
	g := guardOf(t)
	e.Expires = g.now.Add(time.Hour)
	g.write(t, lines(e))
	g.reload(t)
	require.Equal(t, codes.OK, g.call(reads, token))
	granted, _ := g.find(t.Context(), token)
	g.now = e.Expires.Add(-time.Nanosecond)
	g.look(t.Context())
	require.False(t, granted.hasEnded())
	g.now = e.Expires
	require.Equal(t, codes.Unauthenticated, g.call(reads, token), "without a look")
	g.look(t.Context())
	require.True(t, granted.hasEnded(), "its streams end")
	e.Expires = g.now.Add(time.Hour)
	g.write(t, lines(e))
	g.reload(t)
	require.Equal(t, codes.OK, g.call(reads, token), "a new expiry counts")
	require.Equal(t, codes.OK, code(nil))
}

// What happens to the streams of a token when the file is read again.
func TestStreamsAtAReload(t *testing.T) {
	for name, test := range map[string]struct {
		change func(e *Entry)
		ends   bool
	}{
		"nothing":         {func(*Entry) {}, false},
		"a later expiry":  {func(e *Entry) { e.Expires = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC) }, false},
		"a higher role":   {func(e *Entry) { e.Role = Admin }, false},
		"a lower role":    {func(e *Entry) { e.Role = Read }, true},
		"another subject": {func(e *Entry) { e.Subject = "y" }, true},
		"another token":   {func(e *Entry) { e.Hash[0]++ }, true},
	} {
		t.Run(name, func(t *testing.T) {
			token, e := entry(t, "x", Write)
			g := guardOf(t, e)
			granted, _ := g.find(t.Context(), token)
			_, further := entry(t, "z", Read)
			test.change(&e)
			g.write(t, lines(further, e))
			g.reload(t)
			require.Equal(t, test.ends, granted.hasEnded())
			require.Len(t, *g.grants.Load(), 2)
		})
	}
}

// A file that cannot be used changes nothing, and that is said once.
func TestBrokenFilesAreSurvived(t *testing.T) {
	token, e := entry(t, "x", Write)
	g := guardOf(t, e)
	other, second := entry(t, "y", Write)
	for name, breaks := range map[string]func(){
		"broken": func() { g.write(t, "x\n"+lines(second)+"y y\n") },
		"cut":    func() { g.write(t, lines(second)[:50]) },
		"empty":  func() { g.write(t, "") },
		"gone":   func() { require.NoError(t, os.Remove(g.path)) },
	} {
		t.Run(name, func(t *testing.T) {
			g.log.Reset()
			breaks()
			for range 10 {
				g.look(t.Context())
			}
			require.Equal(t, codes.OK, g.call(writes, token))
			require.Equal(t, codes.Unauthenticated, g.call(writes, other))
			require.Equal(t, 1, strings.Count(g.log.String(), "tokens were not read again"), g.log.String())
			require.InDelta(t, 1, g.metric(t, "compactord_tokens_failing", "tokens"), 0)
			g.write(t, lines(e))
			g.reload(t)
			require.InDelta(t, 0, g.metric(t, "compactord_tokens_failing", "tokens"), 0)
		})
	}
	g.write(t, lines(e, second))
	g.reload(t)
	require.Equal(t, codes.OK, g.call(writes, other))
}

// A file that is just being written in place is not read before it has stayed the same for a while.
func TestFilesThatChangeAreNotReadYet(t *testing.T) {
	token, e := entry(t, "x", Write)
	g := guardOf(t, e)
	content := lines(e) + strings.Repeat("# a line\n", 10)
	for n := 0; n <= len(content); n += 9 {
		require.NoError(t, os.WriteFile(g.path, []byte(content[:n]), 0o600))
		g.look(t.Context())
		require.Equal(t, codes.OK, g.call(writes, token), "at %d bytes", n)
	}
	require.NotContains(t, g.log.String(), "tokens were read again")
}

func TestFilesThatCannotBeUsedAtTheStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(file, []byte("a\nb\n"), 0o600))
	_, err := New(Options{
		Files:  []File{OwnToken("token-file", file+".none"), {Flag: "tokens", Path: file, Read: read}},
		Logger: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	require.ErrorContains(t, err, "--token-file: "+file+".none: ")
	require.ErrorContains(t, err, "--tokens: "+file+": line 1: ")
	require.ErrorContains(t, err, "line 2: ")
}

func TestOwnTokenMayDoEverything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	require.NoError(t, MakeTokenFile(path))
	g, err := New(Options{
		Files: []File{OwnToken("token-file", path)}, Logger: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	require.NoError(t, err)
	token, err := ReadTokenFile(path)
	require.NoError(t, err)
	_, _, err = g.admit(calling("Bearer "+token), deletes)
	require.NoError(t, err)
}

// A stream that begins while its grant ends, ends too; one that has left is not ended any more.
func TestStreamsEndWithTheirGrant(t *testing.T) {
	token, e := entry(t, "x", Write)
	g := guardOf(t, e)
	granted, _ := g.find(t.Context(), token)
	ends := map[string]int{}
	granted.admitStream(func() { ends["runs"]++ })
	leave := granted.admitStream(func() { ends["left"]++ })
	leave()
	granted.end()
	granted.admitStream(func() { ends["late"]++ })
	granted.end()
	require.Equal(t, map[string]int{"runs": 1, "late": 1}, ends)
}

// BenchmarkAdmit is what the check of a token adds to a call.
func BenchmarkAdmit(b *testing.B) {
	token, e := entry(b, "x", Write)
	g := guardOf(b, e)
	ctx := calling("Bearer " + token)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := g.admit(ctx, writes); err != nil {
			b.Fatal(err)
		}
	}
}

// What concerns the whole daemon is not for a tenant, whatever its token's role.
func TestTheWholeDaemonIsNotForTenants(t *testing.T) {
	ours, e := entry(t, "x", Admin)
	theirs, other := entry(t, "x", Admin)
	other.Tenant = "a"
	g := guardOf(t, e, other)
	admitted, authenticated := g.Admits(t.Context(), []string{"Bearer " + ours}, Read)
	require.True(t, admitted && authenticated)
	admitted, authenticated = g.Admits(t.Context(), []string{"Bearer " + theirs}, Read)
	require.False(t, admitted)
	require.True(t, authenticated)
}
