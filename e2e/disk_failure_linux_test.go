package e2e_test

import (
	"bufio"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
)

// failing makes all system calls of some kinds of a daemon on its store fail, and returns what ends that.
func (d *storing) failing(t *testing.T, calls string) (end func()) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace, which makes system calls fail, is not installed")
	}
	cmd := exec.CommandContext(t.Context(), strace, "-f", "-p", strconv.Itoa(d.cmd.Process.Pid), "-P", d.store,
		"-e", "trace="+calls, "-e", "inject="+calls+":error=EIO")
	said, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(said)
	for attached := false; !attached; {
		line, err := lines.ReadString('\n')
		if err != nil {
			_ = cmd.Wait()
			t.Skip("strace cannot attach to a process here: ", line)
		}
		attached = strings.Contains(line, " attached")
	}
	rest := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(lines)
		rest <- string(text)
	}()
	return func() {
		t.Helper()
		require.NoError(t, cmd.Process.Signal(unix.SIGINT))
		require.Contains(t, <-rest, "EIO (Input/output error) (INJECTED)")
		_ = cmd.Wait()
	}
}

// A disk that fails refuses writes, whatever step of one fails, and nothing else. Once it works, writes succeed without a
// restart.
func TestADaemonWhoseDiskFails(t *testing.T) {
	t.Parallel()
	for _, calls := range []string{"pwrite64", "fdatasync,fsync"} {
		t.Run(calls, func(t *testing.T) {
			t.Parallel()
			d := startStoring(t, t.TempDir())
			works := d.failing(t, calls)
			d.requireOutage(t, d.append(t.Context(), "refused"), codes.Unavailable, "io")
			works()
			d.requireRecovered(t)
		})
	}
}
