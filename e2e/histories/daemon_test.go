package histories_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// binary is the program.
var binary string

func TestMain(m *testing.M) { os.Exit(daemontest.RunWithProgram(m, &binary)) }

// stopLimit is when a daemon that does not stop is killed.
const stopLimit = 10 * time.Minute

// daemon is `compactord serve` in a process of its own.
type daemon struct {
	sessions    compactordv1.SessionServiceClient
	compactions compactordv1.CompactionServiceClient

	process *exec.Cmd
	stderr  *strings.Builder
	stdout  *bufio.Reader
	// limited reports that writes to its file were made to fail.
	limited bool
	// outages reports that its database did not always answer.
	outages bool
}

// launch starts a daemon without waiting for it.
func launch(t *testing.T, store string) *daemon {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, "serve", "--listen", "127.0.0.1:0", "--drain-timeout", "1m", "--store", store)
	cmd.WaitDelay = stopLimit
	d := &daemon{process: cmd, stderr: &strings.Builder{}}
	cmd.Stderr = d.stderr
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	d.stdout = bufio.NewReader(stdout)
	require.NoError(t, cmd.Start())
	return d
}

// serve starts a daemon and waits until it listens.
func serve(t *testing.T, store string) *daemon {
	t.Helper()
	d := launch(t, store)
	line, err := d.stdout.ReadString('\n')
	require.NoError(t, err, "the daemon said nothing: %s", d.stderr)
	text, found := strings.CutPrefix(line, "compactord listens on ")
	require.True(t, found, line)
	address, _, _ := strings.Cut(text, ", ")
	conn, err := daemontest.Dial(address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	d.sessions, d.compactions = compactordv1.NewSessionServiceClient(conn), compactordv1.NewCompactionServiceClient(conn)
	return d
}

// kill ends the daemon at once. It may be called at any time, and more than once.
func (d *daemon) kill() { _ = d.process.Process.Kill() }

// buried waits for the end of a daemon that was killed. Until then nothing of it went wrong.
func (d *daemon) buried(t *testing.T) {
	t.Helper()
	_ = d.process.Wait()
	status, ok := d.process.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	require.Equal(t, syscall.SIGKILL, status.Signal(), "%s", d.stderr)
	d.wasSound(t)
}

// stop stops the daemon as an operator does.
func (d *daemon) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, d.process.Process.Signal(syscall.SIGTERM))
	require.NoError(t, d.process.Wait(), d.stderr)
	d.wasSound(t)
}

func (d *daemon) wasSound(t *testing.T) {
	t.Helper()
	for line := range strings.Lines(d.stderr.String()) {
		if d.limited && strings.Contains(line, `msg="the store refuses writes"`) && strings.Contains(line, "file too large") {
			continue
		}
		if d.outages && strings.Contains(line, `msg="the store refuses writes" cause=unreachable`) {
			continue
		}
		for _, sign := range []string{"panic", "level=ERROR", "this is a bug"} {
			require.NotContains(t, line, sign)
		}
	}
}
