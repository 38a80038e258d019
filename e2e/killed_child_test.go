package e2e_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/dialects"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/anystore"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// killedEnv passes the store's place to a daemon that kills itself at a commit.
const killedEnv = "COMPACTORD_TEST_KILLED_STORE"

// endCommits is how many commits EndChild makes: the record of the child, the message of the parent, and a note of the
// message in the child's row.
const endCommits = 3

// killing is a store whose process gets SIGKILL at one of the commits after a child has ended: before the commit is on
// disk, or after.
type killing struct {
	storage.Store
	// left is how many commits go well from the first one with the end of a child on. after kills after the commit.
	left  atomic.Int64
	ended atomic.Bool
	after bool
}

func (k *killing) Commit(ctx context.Context, c *storage.Commit) error {
	if c.Session.GetEnded() != nil {
		k.ended.Store(true)
	}
	last := k.ended.Load() && k.left.Add(-1) == -1
	if last && !k.after {
		die()
	}
	err := k.Store.Commit(ctx, c)
	if last {
		die()
	}
	return err
}

// die ends the process as an operator or the kernel does.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// serveUntilKilled is a daemon on a store, in the process of a test. at is "COMMITS AFTER PLACE".
func serveUntilKilled(at string) error {
	k := &killing{}
	var commits int64
	var place string
	if _, err := fmt.Sscan(at, &commits, &k.after, &place); err != nil {
		return err
	}
	k.left.Store(commits)
	var err error
	if k.Store, err = anystore.Open(context.Background(), place); err != nil {
		return err
	}
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	if err != nil {
		return err
	}
	writers, err := summarizers.NewRegistry(extractive.New())
	if err != nil {
		return err
	}
	server, err := service.NewServer(service.ServerOptions{Options: service.Options{
		Store: k, Strategies: registry, Summarizers: writers, Dialects: dialects.All(),
		Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}})
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(os.Stdout, listener.Addr()); err != nil {
		return err
	}
	return server.Run(context.Background(), listener)
}

// killedAt starts a daemon that is killed at a commit of EndChild.
func killedAt(t *testing.T, store string, commit int, after bool) (*exec.Cmd, compactordv1.SessionServiceClient) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %v %s", killedEnv, commit, after, store))
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	address, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err, "the daemon said nothing")
	conn, err := grpc.NewClient(strings.TrimSpace(address), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return cmd, compactordv1.NewSessionServiceClient(conn)
}

// family makes a parent whose model waits for its sub-agent, and a child that has worked. It returns how many messages
// the parent has.
func family(t *testing.T, sessions compactordv1.SessionServiceClient) int {
	t.Helper()
	ctx := t.Context()
	_, err := sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: "parent"})
	require.NoError(t, err)
	asking := words(compactordv1.Role_ROLE_ASSISTANT)
	asking.Parts = append(asking.Parts, &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{
		ToolCall: &compactordv1.ToolCall{Id: "task", Name: "task"},
	}})
	said := []*compactordv1.Message{words(compactordv1.Role_ROLE_USER), asking}
	_, err = sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{SessionId: "parent", Messages: said})
	require.NoError(t, err)
	_, err = sessions.ForkSession(ctx, &compactordv1.ForkSessionRequest{
		SessionId: "parent", NewSessionId: "child",
		Child: &compactordv1.ChildContext{Sees: compactordv1.ChildSees_CHILD_SEES_NOTHING},
	})
	require.NoError(t, err)
	_, err = sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{SessionId: "child", Messages: []*compactordv1.Message{
		words(compactordv1.Role_ROLE_USER), words(compactordv1.Role_ROLE_ASSISTANT),
	}})
	require.NoError(t, err)
	return len(said)
}

// resultsIn returns the messages of a session that are results of a child.
func resultsIn(t *testing.T, sessions compactordv1.SessionServiceClient, id string) []*compactordv1.LoggedMessage {
	t.Helper()
	log, err := sessions.ListMessages(t.Context(), &compactordv1.ListMessagesRequest{SessionId: id})
	require.NoError(t, err)
	var results []*compactordv1.LoggedMessage
	for _, l := range log.GetMessages() {
		if l.GetChild() != nil {
			results = append(results, l)
		}
	}
	return results
}

// Wherever the process of a daemon is killed while a child ends, the next one has the result in the parent's log at most
// once, and the same call brings it there once: as the answer to the call of the parent's model.
func TestChildEndsOnceAlthoughItsDaemonIsKilled(t *testing.T) {
	for commit := range endCommits {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("commit %d, after it %v", commit, after), func(t *testing.T) {
				store := anystore.Place(t)
				config := filepath.Join(t.TempDir(), "config.yaml")
				require.NoError(t, os.WriteFile(config, nil, 0o600))
				process, sessions := killedAt(t, store, commit, after)
				before := family(t, sessions)
				end := &compactordv1.EndChildRequest{SessionId: "child", CallId: "task"}
				_, err := sessions.EndChild(t.Context(), end)
				require.Equal(t, codes.Unavailable, status.Code(err), err)
				require.Error(t, process.Wait())
				killed, ok := process.ProcessState.Sys().(syscall.WaitStatus)
				require.True(t, ok)
				require.Equal(t, syscall.SIGKILL, killed.Signal())

				d := serveProcess(t, config, store)
				done := commit
				if after {
					done++
				}
				child, err := d.sessions.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: "child"})
				require.NoError(t, err)
				require.Equal(t, done > 0, child.GetSession().GetEnded() != nil, "the record of the child")
				require.Len(t, resultsIn(t, d.sessions, "parent"), min(1, done/2), "the message of the parent")
				require.Equal(t, done > 2, child.GetSession().GetEnded().GetResultIndex() > 0, "the note of the child")
				for range 2 {
					answer, err := d.sessions.EndChild(t.Context(), end)
					require.NoError(t, err)
					require.True(t, answer.GetAnswersCall())
					require.Equal(t, uint32(before), answer.GetIndex())
					require.Equal(t, answer.GetIndex(), answer.GetSession().GetEnded().GetResultIndex())
					require.Len(t, resultsIn(t, d.sessions, "parent"), 1)
				}
				d.end(t, syscall.SIGTERM)
				_, _ = run(t, 0, "check", "--store", store)
			})
		}
	}
}
