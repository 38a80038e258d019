//go:build unix

package main_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/anystore"
)

// reloaded is a daemon in a process of its own whose configuration changes.
type reloaded struct {
	t       *testing.T
	command *exec.Cmd
	path    string
	conn    *grpc.ClientConn
	// lines are those of its log.
	lines chan string
}

func startReloaded(t *testing.T, settings string) *reloaded {
	t.Helper()
	r, addr := serveReloaded(t, settings)
	r.conn = programtest.Connection(t, addr)
	return r
}

// serveReloaded starts the daemon without a connection to it.
func serveReloaded(t *testing.T, settings string) (r *reloaded, addr string) {
	t.Helper()
	r = &reloaded{t: t, path: filepath.Join(t.TempDir(), "config.yaml"), lines: make(chan string, 10_000)}
	r.write(settings)
	r.command = exec.CommandContext(t.Context(), programtest.Binary(t), "serve", "--listen", "127.0.0.1:0",
		"--store", anystore.Place(t), "--config", r.path)
	stderr, err := r.command.StderrPipe()
	require.NoError(t, err)
	addr = servedBy(t, r.command)
	go func() {
		defer close(r.lines)
		for log := bufio.NewScanner(stderr); log.Scan(); {
			r.lines <- log.Text()
		}
	}()
	return r, addr
}

// write writes the file in place.
func (r *reloaded) write(settings string) {
	require.NoError(r.t, os.WriteFile(r.path, []byte(settings), 0o600))
}

// hangUp sends SIGHUP, and returns what the log says up to the end of the reading.
func (r *reloaded) hangUp() string {
	r.t.Helper()
	require.NoError(r.t, r.command.Process.Signal(syscall.SIGHUP))
	var said strings.Builder
	for line := range r.lines {
		said.WriteString(line + "\n")
		if strings.Contains(line, `"configuration read again"`) || strings.Contains(line, "the configuration was not taken") {
			return said.String()
		}
	}
	require.FailNow(r.t, "the daemon ended", said.String())
	return ""
}

// due returns when a new session without a policy compacts.
func (r *reloaded) due() uint32 {
	r.t.Helper()
	answer, err := compactordv1.NewSessionServiceClient(r.conn).CreateSession(r.t.Context(), &compactordv1.CreateSessionRequest{})
	require.NoError(r.t, err)
	return answer.GetSession().GetResolvedPolicy().GetTrigger().GetTriggerTokens()
}

func withPolicy(due int, more string) string {
	return fmt.Sprintf("default_policy: ours\npolicies: {ours: {preset: pi, trigger: {trigger_tokens: %d}}}\n%s", due, more)
}

// SIGHUP takes what can change, names what cannot, and leaves all as it was where the file does not hold. No call fails
// meanwhile.
func TestReloadUnderLoad(t *testing.T) {
	r := startReloaded(t, withPolicy(5_000, ""))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	sessions := compactordv1.NewSessionServiceClient(r.conn)
	_, err := sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	watch, err := sessions.WatchSession(ctx, &compactordv1.WatchSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	var load errgroup.Group
	for n := range 4 {
		load.Go(func() error {
			for i := 0; ctx.Err() == nil; i++ {
				_, err := sessions.CreateSession(context.WithoutCancel(ctx), &compactordv1.CreateSessionRequest{
					SessionId: fmt.Sprintf("%d-%d", n, i), Policy: &compactordv1.Policy{Preset: proto.String("ours")},
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	due := uint32(5_000)
	require.Equal(t, due, r.due())
	for round := range 5 {
		next := 6_000 + round
		whole := withPolicy(next, "log_level: debug\nmax_connections: 100\nheartbeat: 20s\nsummarizers: {a: {kind: openai, model: m, base_url: \"http://127.0.0.1:1\"}}\n")
		for name, broken := range map[string]string{
			"half":  whole[:strings.Index(whole, "trigger_tokens")],
			"wrong": withPolicy(7_000, "log_level: loud\nmax_connections: 0\n"),
			"gone":  withPolicy(7_000, "default_summarizer: nobody\n"),
		} {
			r.write(broken)
			said := r.hangUp()
			require.Contains(t, said, "the configuration was not taken", name)
			require.Contains(t, said, "a problem with the configuration", name)
			if name == "wrong" {
				require.Contains(t, said, "key=log_level")
				require.Contains(t, said, "key=max_connections")
				require.Contains(t, said, "problems=2")
			}
			require.Equal(t, due, r.due(), name)
		}
		r.write(whole)
		said := r.hangUp()
		due = uint32(next)
		require.Equal(t, due, r.due())
		require.Contains(t, said, "policies")
		for _, key := range []string{"heartbeat", "summarizers.a"} {
			require.Contains(t, said, `"a changed setting needs a restart" key=`+key+"\n")
		}
		require.Contains(t, said, "need_restart=2")
		require.Equal(t, round == 0, strings.Contains(said, "log_level"), said)
	}
	stop()
	require.NoError(t, load.Wait())
	_, err = watch.Recv()
	for err == nil {
		_, err = watch.Recv()
	}
	require.ErrorContains(t, err, "context canceled", "the watch went on until it was cancelled")
	r.end()
}

// SIGHUPs that come at once are taken, and a file that is gone leaves all as it was.
func TestReloadTwiceAtOnce(t *testing.T) {
	r := startReloaded(t, withPolicy(5_000, ""))
	r.write(withPolicy(6_000, ""))
	for range 20 {
		require.NoError(t, r.command.Process.Signal(syscall.SIGHUP))
	}
	require.Contains(t, r.hangUp(), "configuration read again")
	require.Equal(t, uint32(6_000), r.due())
	require.NoError(t, os.Remove(r.path))
	for said := ""; !strings.Contains(said, "there is no such file"); {
		said = r.hangUp()
	}
	require.Equal(t, uint32(6_000), r.due())
	r.end()
}

// SIGHUP takes the quotas of the file, also where it has none any more, and opens the audit log again where it was moved.
func TestReloadOfQuotasAndOfTheAuditLog(t *testing.T) {
	audit := filepath.Join(t.TempDir(), "audit.log")
	settings := "audit_log: " + audit + "\n"
	r := startReloaded(t, settings)
	sessions := compactordv1.NewSessionServiceClient(r.conn)
	lists := func() codes.Code {
		_, err := sessions.ListSessions(t.Context(), &compactordv1.ListSessionsRequest{})
		return status.Code(err)
	}
	for range 3 {
		require.Equal(t, codes.OK, lists())
	}
	// So slow that nothing comes back while the test runs.
	r.write(settings + "quotas: {each: {requests_per_second: 0.000001}}\n")
	require.NoError(t, os.Rename(audit, audit+".1"))
	require.Contains(t, r.hangUp(), "taken=quotas need_restart=0")
	require.FileExists(t, audit)
	require.Equal(t, []codes.Code{codes.OK, codes.ResourceExhausted}, []codes.Code{lists(), lists()})
	r.write(settings)
	require.Contains(t, r.hangUp(), "taken=quotas need_restart=0")
	require.Equal(t, codes.OK, lists())
	r.end()
}

// An audit log is not written while its disk has less than a share of min_free_bytes, and goes on once the limit is lower.
func TestAuditLogWaitsForRoom(t *testing.T) {
	audit := filepath.Join(t.TempDir(), "audit.log")
	lines := func() int {
		content, err := os.ReadFile(audit)
		require.NoError(t, err)
		return bytes.Count(content, []byte("\n"))
	}
	settings := "audit_log: " + audit + "\nmin_free_bytes: "
	r := startReloaded(t, settings+"1125899906842624\n")
	sessions := compactordv1.NewSessionServiceClient(r.conn)
	list := func() {
		_, err := sessions.ListSessions(t.Context(), &compactordv1.ListSessionsRequest{})
		require.NoError(t, err)
	}
	list()
	require.Zero(t, lines())
	r.write(settings + "0\n")
	said := r.hangUp()
	require.Contains(t, said, "audit log not written: calls go on without it")
	require.Contains(t, said, "(disk_low)")
	list()
	require.Equal(t, 1, lines())
	r.end()
}

// SIGHUP takes the rules of retention, and they count at once.
func TestReloadOfRetention(t *testing.T) {
	r := startReloaded(t, "")
	sessions := compactordv1.NewSessionServiceClient(r.conn)
	for range 3 {
		r.due()
	}
	r.write("retention: {count: 1}\n")
	require.Contains(t, r.hangUp(), "taken=retention need_restart=0")
	for left := 3; left > 1; {
		page, err := sessions.ListSessions(t.Context(), &compactordv1.ListSessionsRequest{})
		require.NoError(t, err)
		left = len(page.GetSessions())
	}
	r.end()
}

// SIGHUP takes new keys of the store, and the daemon seals all anew. Keys without one that the store needs are refused by its
// name, and so are none. Once the older key is needed no longer, the daemon starts with the new one alone.
func TestReloadOfStoreKeys(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	put := func(content string) { require.NoError(t, os.WriteFile(keys, []byte(content), 0o600)) }
	put(storeKey(1))
	settings := "store_keys: " + keys + "\n"
	r := startReloaded(t, settings)
	sessions := compactordv1.NewSessionServiceClient(r.conn)
	for range 3 {
		r.due()
	}
	require.Contains(t, r.hangUp(), "taken=nothing need_restart=0")
	for content, problem := range map[string]string{
		storeKey(2):                    `it is encrypted with the key \"k1\", which is not among those given`,
		"k1" + storeKey(2)[2:]:         `it is encrypted with the key \"k1\", and the key given with this id is another one`,
		storeKey(2) + storeKey(1)[:20]: `the key \"k1\" is not 32 bytes in base64`,
	} {
		put(content)
		said := r.hangUp()
		require.Contains(t, said, "the configuration was not taken")
		require.Contains(t, said, problem)
		require.Contains(t, said, "key=store_keys")
		r.due()
	}
	r.write("")
	require.Contains(t, r.hangUp(), `it is encrypted with the key \"k1\", and no keys are given`)

	r.write(settings)
	put(storeKey(2) + storeKey(1))
	said := r.hangUp()
	require.Contains(t, said, `taken="the keys of the store" need_restart=0`)
	for !strings.Contains(said, "the store needs its older keys no longer") {
		line, more := <-r.lines
		require.True(t, more)
		said += line
	}
	require.Contains(t, said, "older_keys=[k1]")
	put(storeKey(2))
	require.Contains(t, r.hangUp(), `taken="the keys of the store" need_restart=0`)
	r.due()
	page, err := sessions.ListSessions(t.Context(), &compactordv1.ListSessionsRequest{})
	require.NoError(t, err)
	require.Len(t, page.GetSessions(), 7)
	r.end()
	store := r.command.Args[slices.Index(r.command.Args, "--store")+1]
	checked, err := exec.CommandContext(t.Context(), programtest.Binary(t), "check", "--store", store, "--store-keys", keys).CombinedOutput()
	require.NoError(t, err, string(checked))
	require.Contains(t, string(checked), "is sound")
}

// end stops the daemon as a supervisor does.
func (r *reloaded) end() {
	require.NoError(r.t, r.command.Process.Signal(syscall.SIGTERM))
	for line := range r.lines {
		require.NotContains(r.t, line, "panic")
	}
	require.NoError(r.t, r.command.Wait())
}
