//go:build unix

package main_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage/anystore"
)

// servedBy starts a command that is the daemon and returns its address.
func servedBy(t *testing.T, command *exec.Cmd) (addr string) {
	t.Helper()
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	text, found := strings.CutPrefix(line, "compactord listens on ")
	require.True(t, found, line)
	addr, _, _ = strings.Cut(text, ", ")
	return addr
}

// fullPipe returns a pipe that takes no more bytes.
func fullPipe(t *testing.T) (reader, writer *os.File) {
	t.Helper()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = reader.Close() })
	raw, err := writer.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Write(func(fd uintptr) bool {
		var err error
		for err == nil {
			_, err = syscall.Write(int(fd), []byte{'.'})
		}
		return errors.Is(err, syscall.EAGAIN)
	}))
	return reader, writer
}

// The daemon answers and stops though nobody reads its log.
func TestFullStderrBlocksNothing(t *testing.T) {
	_, stderr := fullPipe(t)
	command := exec.CommandContext(t.Context(), programtest.Binary(t), "serve", "--listen", "127.0.0.1:0", "--store", anystore.Place(t))
	command.Stderr = stderr
	addr := servedBy(t, command)
	require.NoError(t, stderr.Close())
	client := compactordv1.NewSessionServiceClient(programtest.Connection(t, addr))
	for n := range 5 {
		_, err := client.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: strconv.Itoa(n)})
		require.NoError(t, err)
	}
	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	require.NoError(t, command.Wait())
}

// Nor does it need anybody who reads its first line.
func TestFullStdoutBlocksNothing(t *testing.T) {
	_, stdout := fullPipe(t)
	socket := filepath.Join(t.TempDir(), "s")
	command := exec.CommandContext(t.Context(), programtest.Binary(t), "serve", "--listen", "unix:"+socket, "--store", anystore.Place(t))
	command.Stdout = stdout
	require.NoError(t, command.Start())
	require.NoError(t, stdout.Close())
	client := compactordv1.NewSessionServiceClient(programtest.Connection(t, "unix:"+socket))
	_, err := client.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "s"}, grpc.WaitForReady(true))
	require.NoError(t, err)
	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	require.NoError(t, command.Wait())
}

// A second signal ends it too, though what it says then does not fit either.
func TestFullStderrAndASecondSignal(t *testing.T) {
	_, stderr := fullPipe(t)
	command := exec.CommandContext(t.Context(), programtest.Binary(t), "serve", "--listen", "127.0.0.1:0", "--store", anystore.Place(t),
		"--drain-timeout", "1h")
	command.Stderr = stderr
	addr := servedBy(t, command)
	require.NoError(t, stderr.Close())
	watch, err := healthv1.NewHealthClient(programtest.Connection(t, addr)).Watch(t.Context(), &healthv1.HealthCheckRequest{})
	require.NoError(t, err)
	_, err = watch.Recv()
	require.NoError(t, err)
	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	_, err = watch.Recv()
	require.NoError(t, err)
	// The open stream would keep the daemon running for an hour.
	signalToTheEnd(t, command)
	require.Equal(t, terminal.ExitFailed, command.ProcessState.ExitCode())
}

// Nor does a daemon that cannot start wait for somebody who reads why.
func TestFullStderrAndAnErrorAtStart(t *testing.T) {
	_, stderr := fullPipe(t)
	command := exec.CommandContext(t.Context(), programtest.Binary(t), "serve", "--listen", "127.0.0.1:0", "--store", t.TempDir())
	command.Stderr = stderr
	require.Error(t, command.Run())
	require.NoError(t, stderr.Close())
	require.Equal(t, terminal.ExitFailed, command.ProcessState.ExitCode())
}

// With no descriptor left, the daemon says so once, and takes connections again when others have ended.
func TestMissingDescriptorsAreSaid(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("sh is not installed")
	}
	command := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -n 24 && exec "$0" "$@"`,
		programtest.Binary(t), "serve", "--listen", "127.0.0.1:0", "--store", anystore.Place(t))
	reader, stderr, err := os.Pipe()
	require.NoError(t, err)
	command.Stderr = stderr
	addr := servedBy(t, command)
	require.NoError(t, stderr.Close())
	var open []net.Conn
	for range 40 {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		require.NoError(t, err)
		open = append(open, conn)
	}
	const message = "no file descriptors are left"
	log := bufio.NewReader(reader)
	line := ""
	for !strings.Contains(line, message) {
		line, err = log.ReadString('\n')
		require.NoError(t, err)
	}
	for _, conn := range open {
		require.NoError(t, conn.Close())
	}
	_, err = compactordv1.NewSessionServiceClient(programtest.Connection(t, addr)).ListSessions(t.Context(), &compactordv1.ListSessionsRequest{})
	require.NoError(t, err)
	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	rest, err := io.ReadAll(log)
	require.NoError(t, err)
	require.NotContains(t, string(rest), message, "it is said once")
	require.NoError(t, command.Wait(), string(rest))
}

// Where the file of the store may not grow, appends are refused, reads go on, and deletions make room again.
func TestLimitOfTheFileSize(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("sh is not installed")
	}
	// The unit of the limit is 512 or 1024 bytes.
	command := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -f 40000 && exec "$0" "$@"`,
		programtest.Binary(t), "serve", "--listen", "127.0.0.1:0", "--store", anystore.File(t))
	stderr := &strings.Builder{}
	command.Stderr = stderr
	addr := servedBy(t, command)
	conn := programtest.Connection(t, addr)
	client, health := compactordv1.NewSessionServiceClient(conn), healthv1.NewHealthClient(conn)
	_, err := client.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	acknowledged := uint32(0)
	for err == nil {
		require.Less(t, acknowledged, uint32(200))
		_, err = client.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
			SessionId: "s", Messages: []*compactordv1.Message{{
				Role:  compactordv1.Role_ROLE_USER,
				Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: strings.Repeat("x", 900_000)}}}},
			}},
		})
		if err == nil {
			acknowledged++
		}
	}
	require.Equal(t, codes.ResourceExhausted, status.Code(err), err)
	require.ErrorContains(t, err, "sessions can be deleted")
	writes := &healthv1.HealthCheckRequest{Service: service.WritesService}
	answer, err := health.Check(t.Context(), writes)
	require.NoError(t, err)
	require.Equal(t, healthv1.HealthCheckResponse_NOT_SERVING, answer.GetStatus())
	got, err := client.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	require.Equal(t, acknowledged, got.GetSession().GetNextIndex())

	_, err = client.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	watch, err := health.Watch(t.Context(), writes)
	require.NoError(t, err)
	for answer.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		answer, err = watch.Recv()
		require.NoError(t, err)
	}
	_, err = client.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	require.NoError(t, command.Wait(), stderr.String())
	require.Equal(t, 1, strings.Count(stderr.String(), "the store refuses writes"))
	require.Equal(t, 1, strings.Count(stderr.String(), "the store takes writes again"))
}
