//go:build unix

package main_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

// started runs `serve` in a separate process.
func started(t *testing.T, args ...string) (command *exec.Cmd, addr string, stderr *strings.Builder) {
	t.Helper()
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--store", anystore.Place(t)}, args...)
	command = exec.CommandContext(t.Context(), programtest.Binary(t), args...)
	stderr = &strings.Builder{}
	command.Stderr = stderr
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	text, found := strings.CutPrefix(line, "compactord listens on ")
	require.True(t, found, line)
	addr, _, _ = strings.Cut(text, ", ")
	return command, addr, stderr
}

func TestSignalStopsTheDaemon(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		command, _, stderr := started(t)
		require.NoError(t, command.Process.Signal(signal))
		require.NoError(t, command.Wait(), stderr.String())
		require.Contains(t, stderr.String(), "stopping")
	}
}

func TestSecondSignalEndsTheDaemonAtOnce(t *testing.T) {
	command, addr, stderr := started(t, "--drain-timeout", "1h")
	watch, err := healthv1.NewHealthClient(programtest.Connection(t, addr)).Watch(t.Context(), &healthv1.HealthCheckRequest{})
	require.NoError(t, err)
	health, err := watch.Recv()
	require.NoError(t, err)
	require.Equal(t, healthv1.HealthCheckResponse_SERVING, health.GetStatus())
	require.NoError(t, command.Process.Signal(syscall.SIGTERM))
	health, err = watch.Recv()
	require.NoError(t, err)
	require.Equal(t, healthv1.HealthCheckResponse_NOT_SERVING, health.GetStatus())
	// The open stream would keep the daemon running for an hour.
	signalToTheEnd(t, command)
	require.Equal(t, terminal.ExitFailed, command.ProcessState.ExitCode())
	require.Contains(t, stderr.String(), "stopped at once")
}

// signalToTheEnd sends signals to a process that stops until one of them has ended it at once.
func signalToTheEnd(t *testing.T, command *exec.Cmd) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		if err := command.Process.Signal(syscall.SIGTERM); err != nil {
			require.ErrorIs(t, err, os.ErrProcessDone)
		}
		select {
		case err := <-ended:
			require.Error(t, err)
			return
		case <-again.C:
		}
	}
}

// A supervisor that sends several signals at once asks for one stop: the calls that run may finish.
func TestSignalsAtOnceAreOneRequest(t *testing.T) {
	command, addr, stderr := started(t, "--drain-timeout", "1h")
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	watch, err := healthv1.NewHealthClient(programtest.Connection(t, addr)).Watch(ctx, &healthv1.HealthCheckRequest{})
	require.NoError(t, err)
	_, err = watch.Recv()
	require.NoError(t, err)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGTERM} {
		require.NoError(t, command.Process.Signal(signal))
	}
	health, err := watch.Recv()
	require.NoError(t, err)
	require.Equal(t, healthv1.HealthCheckResponse_NOT_SERVING, health.GetStatus())
	hangUp()
	require.NoError(t, command.Wait(), stderr)
	require.NotContains(t, stderr.String(), "at once")
	require.Contains(t, stderr.String(), "msg=stopped")
}

func TestNobodyReadsTheOutput(t *testing.T) {
	sample.TemporaryFolder(t)
	var stderr strings.Builder
	command := exec.CommandContext(t.Context(), programtest.Binary(t), "view", sample.File(t, "talk.jsonl", sample.Talk(300)), "--messages", "-q")
	command.Stderr = &stderr
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, out.Close())
	require.Error(t, command.Run())
	require.Equal(t, terminal.ExitFailed, command.ProcessState.ExitCode(), "ended by itself, not by the signal")
	require.Empty(t, stderr.String())
}

func TestCtrlCEndsACommand(t *testing.T) {
	sample.TemporaryFolder(t)
	command := exec.CommandContext(t.Context(), programtest.Binary(t), "compact", "-")
	in, err := command.StdinPipe()
	require.NoError(t, err)
	stderr, err := command.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	reader := bufio.NewReader(stderr)
	line, err := reader.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "reading standard input\n", line)
	require.NoError(t, command.Process.Signal(syscall.SIGINT))
	line, err = reader.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "compactord: interrupted\n", line)
	require.Error(t, command.Wait())
	require.Equal(t, terminal.ExitFailed, command.ProcessState.ExitCode())
	_ = in.Close()
}
