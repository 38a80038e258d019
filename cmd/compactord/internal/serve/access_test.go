package serve_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/storage/anystore"
)

// state sets the folder of the default places to one of the test.
func state(t *testing.T) (token string) {
	t.Helper()
	folder := t.TempDir()
	t.Setenv("XDG_STATE_HOME", folder)
	return filepath.Join(folder, "compactord", "token")
}

func secretOf(t *testing.T, path string) string {
	t.Helper()
	token, err := access.ReadTokenFile(path)
	require.NoError(t, err)
	return token
}

// clientWith returns a client that sends a token; none where it is empty.
func clientWith(t *testing.T, addr, token string) compactordv1.SessionServiceClient {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithPerRPCCredentials(access.Bearer(token)))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return compactordv1.NewSessionServiceClient(conn)
}

// lists returns the code of a call that reads.
func lists(t *testing.T, client compactordv1.SessionServiceClient) codes.Code {
	t.Helper()
	_, err := client.ListSessions(t.Context(), &compactordv1.ListSessionsRequest{})
	return status.Code(err)
}

// Whoever runs daemon and commands sets nothing, and nobody else gets in.
func TestSecureWithoutASetting(t *testing.T) {
	path := state(t)
	d := programtest.Serving(t, "--listen", "127.0.0.1:0")
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "s", "--addr", d.Addr).Ends(t, terminal.ExitDone)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	token := secretOf(t, path)
	require.Equal(t, codes.OK, lists(t, clientWith(t, d.Addr, token)))
	require.Equal(t, codes.Unauthenticated, lists(t, clientWith(t, d.Addr, "")))
	require.Equal(t, codes.Unauthenticated, lists(t, clientWith(t, d.Addr, access.NewToken())))
	require.Equal(t, terminal.ExitDone, d.Stop())
	require.NotContains(t, d.Log.String(), token)
	require.Contains(t, d.Log.String(), "access=\"the token of "+path+"\"")

	second := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t))
	require.Equal(t, token, secretOf(t, path), "daemons of a user share the token")
	programtest.Ran(t, "sessions", "--addr", second.Addr).Ends(t, terminal.ExitDone)
	require.Equal(t, terminal.ExitDone, second.Stop())
}

func TestWhereCommandsFindTheToken(t *testing.T) {
	path := state(t)
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t))
	right, wrong := secretOf(t, path), access.NewToken()
	wrongFile := sample.File(t, "token", wrong)
	on := func(args ...string) programtest.Answer {
		return programtest.Ran(t, append([]string{"sessions", "--addr", d.Addr}, args...)...)
	}
	on("--token-file", wrongFile).Ends(t, terminal.ExitFailed).Says(t, "no token that this daemon accepts (UNAUTHENTICATED)\nThe token is that of "+wrongFile+". Name the file")
	t.Setenv("COMPACTORD_TOKEN_FILE", wrongFile)
	on().Ends(t, terminal.ExitFailed)
	on("--token-file", path).Ends(t, terminal.ExitDone)
	t.Setenv("COMPACTORD_TOKEN", right)
	on().Ends(t, terminal.ExitDone)
	on("--token-file", wrongFile).Ends(t, terminal.ExitFailed)
	t.Setenv("COMPACTORD_TOKEN", wrong)
	on().Ends(t, terminal.ExitFailed).Says(t, "\nThe token is that of COMPACTORD_TOKEN. ")
	t.Setenv("COMPACTORD_TOKEN", "not a token")
	r := on().Ends(t, terminal.ExitFailed).Says(t, "COMPACTORD_TOKEN: a token is cptd_ and 64 hexadecimal digits")
	require.NotContains(t, r.Err, "not a token")
	t.Setenv("COMPACTORD_TOKEN", right)
	r = programtest.Ran(t, "sessions", "--addr", "192.0.2.1:7440").Ends(t, terminal.ExitFailed).
		Says(t, "the token is not sent to 192.0.2.1:7440: without encryption, others on the way could read the token\nUse --tls")
	require.NotContains(t, r.Err, right)
	require.NoError(t, os.Unsetenv("COMPACTORD_TOKEN"))
	require.NoError(t, os.Unsetenv("COMPACTORD_TOKEN_FILE"))
	require.NoError(t, os.Chmod(path, 0o644))
	on().Ends(t, terminal.ExitFailed).Says(t, "others than its owner can read or change it (mode 0644): take that away with chmod 600")
	on("--token-file", path+".none").Ends(t, terminal.ExitFailed).Says(t, "no such file")
	nowhere := state(t)
	on().Ends(t, terminal.ExitFailed).Says(t, "\nNo token was sent: "+nowhere+" does not exist.")
}

func TestTokenFilesThatServeRefuses(t *testing.T) {
	state(t)
	exposed := sample.File(t, "token", access.NewToken())
	require.NoError(t, os.Chmod(exposed, 0o640))
	open := sample.File(t, "tokens", "# none\n")
	require.NoError(t, os.Chmod(open, 0o666))
	tokens := sample.File(t, "tokens", "# none\n")
	socket := filepath.Join(t.TempDir(), "s")
	for name, test := range map[string]struct {
		args []string
		code int
		says string
	}{
		"exposed":    {[]string{"--token-file", exposed}, terminal.ExitUsage, "--token-file: " + exposed + ": others than its owner"},
		"no token":   {[]string{"--token-file", sample.File(t, "t", "x")}, terminal.ExitUsage, "it holds no token"},
		"no folder":  {[]string{"--token-file", filepath.Join(t.TempDir(), "no", "t")}, terminal.ExitFailed, "cannot make the token"},
		"writable":   {[]string{"--tokens", open}, terminal.ExitUsage, "--tokens: " + open + ": everybody on this machine can change it"},
		"missing":    {[]string{"--tokens", tokens + ".none"}, terminal.ExitUsage, "no such file"},
		"broken":     {[]string{"--tokens", sample.File(t, "t", "a\nb c d\n")}, terminal.ExitUsage, "line 2: "},
		"no auth":    {[]string{"--no-auth"}, terminal.ExitUsage, "--no-auth: all who can connect to 127.0.0.1:0 could do everything"},
		"both":       {[]string{"--no-auth", "--listen", "unix:" + socket, "--tokens", tokens}, terminal.ExitUsage, "--tokens: no token is asked for with --no-auth"},
		"other side": {[]string{"--listen", "0.0.0.0:0", "--tokens", tokens}, terminal.ExitUsage, "without TLS, others could read the tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"serve", "--listen", "127.0.0.1:0", "--store", anystore.Place(t)}, test.args...)
			programtest.Ran(t, args...).Ends(t, test.code).Says(t, test.says)
		})
	}
}

func TestNoAuth(t *testing.T) {
	path := state(t)
	for _, args := range [][]string{
		{"--listen", "unix:" + filepath.Join(t.TempDir(), "s"), "--no-auth"},
		{"--listen", "127.0.0.1:0", "--no-auth", "--insecure"},
	} {
		d := programtest.Serving(t, append(args, "--store", anystore.Place(t))...)
		require.Equal(t, codes.OK, lists(t, clientWith(t, d.Addr, "")))
		programtest.Ran(t, "sessions", "--addr", d.Addr).Ends(t, terminal.ExitDone)
		require.Equal(t, terminal.ExitDone, d.Stop())
		require.Contains(t, d.Log.String(), `access="whoever can connect"`)
	}
	require.NoFileExists(t, path)
}

// A token that the command makes works as soon as its line is in the file, with its role.
func TestTokensOfOtherClients(t *testing.T) {
	state(t)
	made := func(args ...string) (token, line string) {
		fields := strings.Split(programtest.Ran(t, append([]string{"token"}, args...)...).Ends(t, terminal.ExitDone).Out, "\n")
		return strings.TrimSpace(fields[1]), strings.TrimSpace(fields[3])
	}
	reader, first := made("dashboard", "--role", "read")
	writer, second := made("ci", "--days", "30")
	require.NotContains(t, first+second, reader[len(access.Prefix):])
	file := sample.File(t, "tokens", first+"\n"+second+"\n")
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t), "--tokens", file)
	on := func(token string, args ...string) programtest.Answer {
		t.Setenv("COMPACTORD_TOKEN", token)
		return programtest.Ran(t, append(args, "--addr", d.Addr)...)
	}
	on(writer, "import", sample.TalkFile(t), "--session", "s").Ends(t, terminal.ExitDone)
	on(reader, "view", "--session", "s").Ends(t, terminal.ExitDone)
	on(reader, "compact", "--session", "s").Ends(t, terminal.ExitFailed).Says(t, "Compact needs a token with the role write (PERMISSION_DENIED)")
	on(writer, "delete", "--session", "s", "--yes").Ends(t, terminal.ExitFailed).Says(t, "needs a token with the role admin")
	require.NoError(t, os.Unsetenv("COMPACTORD_TOKEN"))
	programtest.Ran(t, "delete", "--session", "s", "--yes", "--addr", d.Addr).Ends(t, terminal.ExitDone)
	require.Equal(t, terminal.ExitDone, d.Stop())
	for _, token := range []string{reader, writer} {
		require.NotContains(t, d.Log.String(), token[len(access.Prefix):])
	}
	programtest.Ran(t, "token", "a/b").Ends(t, terminal.ExitUsage).Says(t, "the name must have")
	programtest.Ran(t, "token", access.NewToken()).Ends(t, terminal.ExitUsage).Says(t, "must not be a token")
}

// Tokens are replaced while clients write: no call with a token that is in the file fails, whatever is wrong with the
// file in between.
func TestRotationUnderLoad(t *testing.T) {
	state(t)
	tokens := filepath.Join(t.TempDir(), "tokens")
	line := func(token string) string {
		hash, err := access.HashOf(token)
		require.NoError(t, err)
		return access.Entry{Subject: "ci", Role: access.Write, Hash: hash}.Line() + "\n"
	}
	replace := func(content string) {
		require.NoError(t, os.WriteFile(tokens+".new", []byte(content), 0o600))
		require.NoError(t, os.Rename(tokens+".new", tokens))
	}
	now := access.NewToken()
	replace(line(now))
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t), "--tokens", tokens)

	// using is held while a call uses the current token.
	var using sync.RWMutex
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var calls atomic.Int64
	var load sync.WaitGroup
	const clients = 8
	conn, err := grpc.NewClient(d.Addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	sessions := compactordv1.NewSessionServiceClient(conn)
	for i := range clients {
		load.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				using.RLock()
				_, err := sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: fmt.Sprintf("s-%d-%d", i, n)},
					grpc.PerRPCCredentials(access.Bearer(now)))
				using.RUnlock()
				if err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
				calls.Add(1)
			}
		})
	}
	for round := range 3 {
		old, next := now, access.NewToken()
		replace(line(old) + line(next))
		waitFor(t, clientWith(t, d.Addr, next), codes.OK)
		using.Lock()
		now = next
		using.Unlock()
		switch round {
		case 0: // written in part
			require.NoError(t, os.WriteFile(tokens, []byte((line(next) + line(old))[:120]), 0o600))
		case 1: // broken
			replace(line(next) + "x\n")
		default:
			require.NoError(t, os.Remove(tokens))
		}
		keepsWorking(t, clientWith(t, d.Addr, old))
		replace(line(next))
		waitFor(t, clientWith(t, d.Addr, old), codes.Unauthenticated)
	}
	stop()
	load.Wait()
	require.Equal(t, terminal.ExitDone, d.Stop())
	require.NotContains(t, d.Log.String(), access.Prefix)
	t.Log(calls.Load(), "calls")
}

// waitFor calls until the answer has a code.
func waitFor(t *testing.T, client compactordv1.SessionServiceClient, code codes.Code) {
	t.Helper()
	for lists(t, client) != code && !t.Failed() {
		require.NoError(t, t.Context().Err())
	}
}

// keepsWorking calls with a token that must go on to work, for longer than a change of the file takes to be noticed.
func keepsWorking(t *testing.T, client compactordv1.SessionServiceClient) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*access.DefaultInterval)
	defer cancel()
	for {
		_, err := client.ListSessions(ctx, &compactordv1.ListSessionsRequest{})
		if status.Code(err) == codes.DeadlineExceeded {
			return
		}
		require.NoError(t, err)
	}
}
