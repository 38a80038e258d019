package e2e_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage/anystore"
)

// storing is a daemon on a store in a folder, with what says how it is.
type storing struct {
	cmd      *exec.Cmd
	store    string
	metrics  string
	sessions compactordv1.SessionServiceClient
	health   healthv1.HealthClient
}

func startStoring(t *testing.T, folder string, more ...string) *storing {
	t.Helper()
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	anystore.NeedsFile(t, "the test is about the disk of a file")
	d := &storing{store: filepath.Join(folder, "store.db"), metrics: free.Addr().String()}
	require.NoError(t, free.Close())
	d.cmd = exec.CommandContext(t.Context(), compactord, append([]string{
		"serve", "--listen", "127.0.0.1:0", "--store", d.store,
		"--metrics-listen", d.metrics, "--drain-timeout", "1ms", "--log-level", "error",
	}, more...)...)
	d.cmd.Stderr = os.Stderr
	stdout, err := d.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, d.cmd.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	found := listensOn.FindStringSubmatch(line)
	require.NotNil(t, found, line)
	conn, err := daemontest.Dial(found[1])
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	d.sessions, d.health = compactordv1.NewSessionServiceClient(conn), healthv1.NewHealthClient(conn)
	_, err = d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	require.NoError(t, d.append(t.Context(), "before"))
	return d
}

func (d *storing) append(ctx context.Context, text string) error {
	_, err := d.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{{
			Role:  compactordv1.Role_ROLE_USER,
			Parts: []*compactordv1.Part{{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}}},
		}},
	})
	return err
}

// requireOutage asserts that writes are refused for a cause, which health and metrics say, too, and that reads go on.
func (d *storing) requireOutage(t *testing.T, err error, code codes.Code, cause string) {
	t.Helper()
	require.Equal(t, code, status.Code(err), "%v", err)
	require.NotContains(t, err.Error(), "bug")
	found := ""
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetReason() == "STORE_UNAVAILABLE" {
			found = info.GetMetadata()["cause"]
		}
	}
	require.Equal(t, cause, found)
	d.requireHealth(t, "compactord.writes", healthv1.HealthCheckResponse_NOT_SERVING)
	d.requireHealth(t, "", healthv1.HealthCheckResponse_SERVING)
	read, err := d.sessions.ListMessages(t.Context(), &compactordv1.ListMessagesRequest{SessionId: "s"})
	require.NoError(t, err)
	require.NotEmpty(t, read.GetMessages())
	metrics := d.readMetrics(t)
	require.Contains(t, metrics, "\ncompactord_store_writes_failing 1\n")
	require.Contains(t, metrics, "\ncompactord_store_outages_total{cause=\""+cause+"\"} 1\n")
}

// requireHealth waits until a service has a status.
func (d *storing) requireHealth(t *testing.T, service string, want healthv1.HealthCheckResponse_ServingStatus) {
	t.Helper()
	watch, err := d.health.Watch(t.Context(), &healthv1.HealthCheckRequest{Service: service})
	require.NoError(t, err)
	for {
		answer, err := watch.Recv()
		require.NoError(t, err)
		if answer.GetStatus() == want {
			return
		}
	}
}

func (d *storing) readMetrics(t *testing.T) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+d.metrics+"/metrics", nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return string(body)
}

// requireRecovered waits until writes succeed again, and stops the daemon.
func (d *storing) requireRecovered(t *testing.T) {
	t.Helper()
	d.requireHealth(t, "compactord.writes", healthv1.HealthCheckResponse_SERVING)
	require.NoError(t, d.append(t.Context(), "after"))
	require.Contains(t, d.readMetrics(t), "\ncompactord_store_writes_failing 0\n")
	require.NoError(t, d.cmd.Process.Signal(unix.SIGTERM))
	require.NoError(t, d.cmd.Wait())
}

// A limit on the size of files refuses writes, and nothing else. Once it is gone, writes succeed without a restart.
func TestADaemonAtALimitOfItsFiles(t *testing.T) {
	t.Parallel()
	d := startStoring(t, t.TempDir())
	limit := func(bytes uint64) {
		require.NoError(t, unix.Prlimit(d.cmd.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}, nil))
	}
	limit(0)
	d.requireOutage(t, d.append(t.Context(), "refused"), codes.ResourceExhausted, "file_too_large")
	limit(unix.RLIM_INFINITY)
	d.requireRecovered(t)
}

// A full disk refuses writes but deletions. Once there is room, writes succeed without a restart.
func TestADaemonOnAFullDisk(t *testing.T) {
	t.Parallel()
	folder := smallDisk(t)
	d := startStoring(t, folder, "--min-free-bytes", "0")
	_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "other"})
	require.NoError(t, err)
	ballast := filepath.Join(folder, "ballast")
	file, err := os.Create(ballast)
	require.NoError(t, err)
	_, err = io.Copy(file, io.LimitReader(zeros{}, 128<<20))
	require.ErrorIs(t, err, unix.ENOSPC)
	require.NoError(t, file.Close())
	text := strings.Repeat("a long text ", 1<<18)
	for err = nil; err == nil; {
		err = d.append(t.Context(), text)
	}
	d.requireOutage(t, err, codes.ResourceExhausted, "disk_full")
	_, err = d.sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "other"})
	require.NoError(t, err)
	require.NoError(t, os.Remove(ballast))
	d.requireRecovered(t)
}

// smallDisk returns a folder on a file system of 64 MiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := unix.Mount("tmpfs", folder, "tmpfs", 0, "size=64m"); err != nil {
		t.Skip("a file system of its own can only be mounted by root: ", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(folder, unix.MNT_DETACH) })
	return folder
}

// Writes stop before a disk is full, while reads and deletions go on, and begin again once there is room.
func TestADaemonBeforeTheDiskIsFull(t *testing.T) {
	t.Parallel()
	folder := smallDisk(t)
	d := startStoring(t, folder, "--min-free-bytes", "16777216")
	_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{SessionId: "other"})
	require.NoError(t, err)
	ballast := filepath.Join(folder, "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, 30<<20), 0o600))
	text := strings.Repeat("a long text ", 1<<14)
	for err = nil; err == nil; {
		err = d.append(t.Context(), text)
	}
	// What is refused between two looks is seen by the next one; until then, something else may still have been let in.
	d.requireHealthAfter(t, func() { err = d.append(t.Context(), text) })
	d.requireOutage(t, d.append(t.Context(), text), codes.ResourceExhausted, "disk_low")
	var disk unix.Statfs_t
	require.NoError(t, unix.Statfs(folder, &disk))
	require.Positive(t, disk.Bavail, "the disk is not full")
	_, err = d.sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "other"})
	require.NoError(t, err)
	require.NoError(t, os.Remove(ballast))
	d.requireRecovered(t)
}

// requireHealthAfter does something again and again until the health of writes says that they are refused.
func (d *storing) requireHealthAfter(t *testing.T, do func()) {
	t.Helper()
	for {
		answer, err := d.health.Check(t.Context(), &healthv1.HealthCheckRequest{Service: "compactord.writes"})
		require.NoError(t, err)
		if answer.GetStatus() == healthv1.HealthCheckResponse_NOT_SERVING {
			return
		}
		do()
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// A daemon whose file was replaced ends with an exit code of its own.
func TestADaemonWhoseStoreIsLost(t *testing.T) {
	t.Parallel()
	d := startStoring(t, t.TempDir())
	require.NoError(t, os.Rename(d.store, d.store+".moved"))
	require.NoError(t, os.WriteFile(d.store, nil, 0o600))
	require.Equal(t, codes.Unavailable, status.Code(d.append(t.Context(), "lost")))
	var exit *exec.ExitError
	require.ErrorAs(t, d.cmd.Wait(), &exit)
	require.Equal(t, 5, exit.ExitCode())
}
