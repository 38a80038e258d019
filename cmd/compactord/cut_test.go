//go:build unix

package main_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage/anystore"
)

// served is a daemon in a process of its own, with a store of some sessions.
type served struct {
	command  *exec.Cmd
	store    string
	stderr   *strings.Builder
	sessions compactordv1.SessionServiceClient
	health   healthv1.HealthClient
}

// storedSessions is the number of sessions of a served store.
const storedSessions = 20

func serveStored(t *testing.T) *served {
	t.Helper()
	s := &served{store: anystore.File(t), stderr: &strings.Builder{}}
	s.command = exec.CommandContext(t.Context(), programtest.Binary(t), "serve", "--listen", "127.0.0.1:0", "--store", s.store)
	s.command.Stderr = s.stderr
	conn := programtest.Connection(t, servedBy(t, s.command))
	s.sessions, s.health = compactordv1.NewSessionServiceClient(conn), healthv1.NewHealthClient(conn)
	for n := range storedSessions {
		_, err := s.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: fmt.Sprint(n)})
		require.NoError(t, err)
		for range 3 {
			require.NoError(t, s.append(t, fmt.Sprint(n), 30_000))
		}
	}
	return s
}

func (s *served) append(t *testing.T, session string, size int) error {
	t.Helper()
	_, err := s.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: session, Messages: []*compactordv1.Message{{
			Role:  compactordv1.Role_ROLE_USER,
			Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: strings.Repeat("x", size)}}}},
		}},
	})
	return err
}

// saysNothingRaw asserts that the log has no trace of a panic.
func (s *served) saysNothingRaw(t *testing.T) {
	t.Helper()
	for _, sign := range []string{"panic", "goroutine ", "SIGBUS", "SIGSEGV", "fault address", "nil pointer"} {
		require.NotContains(t, s.stderr.String(), sign)
	}
}

// If somebody cuts the file of a running daemon, what is left can be read, and nothing more is written to it.
func TestCutFileIsOnlyRead(t *testing.T) {
	s := serveStored(t)
	const left = 600_000
	require.NoError(t, os.Truncate(s.store, left))
	for range 3 {
		_, err := s.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "new"})
		require.Equal(t, codes.Unavailable, status.Code(err), err)
		require.ErrorContains(t, err, "the disk of the store failed")
	}
	for n := range storedSessions {
		require.Contains(t, []codes.Code{codes.Unavailable, codes.DataLoss}, status.Code(s.append(t, fmt.Sprint(n), 10)))
	}
	writes, err := s.health.Check(t.Context(), &healthv1.HealthCheckRequest{Service: service.WritesService})
	require.NoError(t, err)
	require.Equal(t, healthv1.HealthCheckResponse_NOT_SERVING, writes.GetStatus())
	all, err := s.health.Check(t.Context(), &healthv1.HealthCheckRequest{})
	require.NoError(t, err)
	require.Equal(t, healthv1.HealthCheckResponse_SERVING, all.GetStatus())
	for n := range storedSessions {
		_, err := s.sessions.ListMessages(t.Context(), &compactordv1.ListMessagesRequest{SessionId: fmt.Sprint(n)})
		require.Contains(t, []codes.Code{codes.OK, codes.DataLoss}, status.Code(err), err)
	}
	info, err := os.Stat(s.store)
	require.NoError(t, err)
	require.Equal(t, int64(left), info.Size())
	require.NoError(t, s.command.Process.Signal(syscall.SIGTERM))
	require.NoError(t, s.command.Wait(), s.stderr)
	s.saysNothingRaw(t)
	require.Equal(t, 1, strings.Count(s.stderr.String(), "the store refuses writes"))
	require.Contains(t, s.stderr.String(), fmt.Sprintf("was cut to %d bytes", left))
}

// Without readable headers of its file, a daemon can neither read nor write: it ends, with an exit code of its own.
func TestUnreadableHeadersEndTheDaemon(t *testing.T) {
	for name, breaks := range map[string]func(path string) error{
		"cut to nothing": func(path string) error { return os.Truncate(path, 0) },
		"overwritten": func(path string) error {
			file, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = file.WriteAt([]byte(strings.Repeat("?", 2*os.Getpagesize())), 0)
			return errors.Join(err, file.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveStored(t)
			require.NoError(t, breaks(s.store))
			_, err := s.sessions.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: "0"})
			require.Equal(t, codes.Unavailable, status.Code(err), err)
			require.Error(t, s.command.Wait())
			require.Equal(t, terminal.ExitStoreLost, s.command.ProcessState.ExitCode(), s.stderr)
			s.saysNothingRaw(t)
			require.Equal(t, 1, strings.Count(s.stderr.String(), "compactord: the store is lost: its headers cannot be read"))
			require.Equal(t, 2, strings.Count(s.stderr.String(), "the store is lost:"), "by the log and by the command")
		})
	}
}
