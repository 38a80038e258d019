//go:build linux

package main_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage/anystore"
)

// freeAddress returns an address on which nobody listens: that of the metrics is not printed.
func freeAddress(t *testing.T) string {
	t.Helper()
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	where := free.Addr().String()
	require.NoError(t, free.Close())
	return where
}

// requireOutage requires what the metrics at an address say about the only outage, by its cause: whether writes fail now.
func requireOutage(t *testing.T, where, cause string, failing int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+where+"/metrics", nil)
	require.NoError(t, err)
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Contains(t, string(body), fmt.Sprintf("\ncompactord_store_writes_failing %d\n", failing))
	for _, each := range []string{"io", "read_only", "disk_full"} {
		times := 0
		if each == cause {
			times = 1
		}
		require.Contains(t, string(body), fmt.Sprintf("\ncompactord_store_outages_total{cause=%q} %d\n", each, times))
	}
}

// failingDisk makes all writes and syncs of a process fail with EIO until the returned function is called.
func failingDisk(t *testing.T, pid int) (mend func()) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "strace", "-f", "-p", strconv.Itoa(pid), "-o", "/dev/null",
		"-e", "trace=fdatasync,pwrite64", "-e", "inject=fdatasync,pwrite64:error=EIO")
	said, err := command.StderrPipe()
	require.NoError(t, err)
	if err := command.Start(); err != nil {
		t.Skipf("strace, which makes calls of the system fail, does not run here: %v", err)
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil || !strings.Contains(line, " attached") {
		_ = command.Wait()
		t.Skipf("strace cannot be attached here: %s", line)
	}
	return func() {
		require.NoError(t, command.Process.Signal(syscall.SIGINT))
		// It ends by the signal, once it has let go of the process.
		require.Error(t, command.Wait())
	}
}

// Where the disk fails under a running daemon, writes are refused with the cause, by status, health, metric and log, and
// reads go on. When it works again, so does the daemon, by itself.
func TestDiskThatFails(t *testing.T) {
	where := freeAddress(t)
	command := exec.CommandContext(t.Context(), programtest.Binary(t), "serve", "--listen", "127.0.0.1:0",
		"--store", anystore.File(t), "--metrics-listen", where)
	log := &strings.Builder{}
	command.Stderr = log
	conn := programtest.Connection(t, servedBy(t, command))
	client := compactordv1.NewSessionServiceClient(conn)
	_, err := client.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "s"})
	require.NoError(t, err)

	mend := failingDisk(t, command.Process.Pid)
	_, err = client.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "t"})
	require.Equal(t, codes.Unavailable, status.Code(err), err)
	require.ErrorContains(t, err, "the disk of the store failed")
	_, err = client.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	requireOutage(t, where, "io", 1)
	writes, err := healthv1.NewHealthClient(conn).Watch(t.Context(), &healthv1.HealthCheckRequest{Service: service.WritesService})
	require.NoError(t, err)
	answer, err := writes.Recv()
	require.NoError(t, err)
	require.Equal(t, healthv1.HealthCheckResponse_NOT_SERVING, answer.GetStatus())

	mend()
	for answer.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		answer, err = writes.Recv()
		require.NoError(t, err)
	}
	requireOutage(t, where, "io", 0)
	_, err = client.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "u"})
	require.NoError(t, err)
	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	require.NoError(t, command.Wait(), log)
	require.Equal(t, 1, strings.Count(log.String(), "the store refuses writes"), log)
	require.Contains(t, log.String(), "cause=io")
	require.Equal(t, 1, strings.Count(log.String(), "the store takes writes again"), log)
}
