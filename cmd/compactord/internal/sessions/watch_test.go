package sessions_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/program"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

// watchUnread watches with a closed output pipe, which ends a watch like Ctrl-C.
func watchUnread(t *testing.T, addr string) {
	t.Helper()
	var stderr strings.Builder
	command := exec.CommandContext(t.Context(), programtest.Binary(t), "watch", "--session", "s", "--from", "0", "--addr", addr)
	command.Stderr = &stderr
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, out.Close())
	require.NoError(t, command.Run())
	require.Empty(t, stderr.String())
}

// A watch shows old and new messages and records, and ends with Ctrl-C.
func TestWatch(t *testing.T) {
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t))
	path := sample.File(t, "talk.jsonl", sample.Talk(2))
	programtest.Ran(t, "import", path, "--session", "s", "--addr", d.Addr).Ends(t, terminal.ExitDone)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	out, write := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		a := &api.App{Terminal: terminal.Terminal{Stdin: strings.NewReader(""), Stdout: write, Stderr: os.Stderr}}
		ended <- program.Run(ctx, a, []string{"watch", "--session", "s", "--from", "0", "--addr", d.Addr})
		_ = write.Close()
	}()
	lines := bufio.NewReader(out)
	next := func() string {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		return line
	}
	require.Contains(t, next(), "change of policy")
	for i := range 8 {
		line := next()
		require.Equal(t, []string{"#0", "#1", "#2", "#3", "#4", "#5", "#6", "#7"}[i], strings.Fields(line)[1], line)
	}
	programtest.Ran(t, "checkpoint", "--session", "s", "--title", "one\ntwo", "--addr", d.Addr).Ends(t, terminal.ExitDone)
	require.Contains(t, next(), "checkpoint 1: one two\n")
	cancel(terminal.ErrInterrupted)
	_, _ = io.Copy(io.Discard, lines)
	require.Equal(t, terminal.ExitDone, <-ended)
	programtest.Ran(t, "watch", "--session", "nobody", "--addr", d.Addr).Ends(t, terminal.ExitFailed).Says(t, "(SESSION_NOT_FOUND)")
	programtest.Ran(t, "watch", "--session", "s", "--from", "4000", "--addr", d.Addr).Ends(t, terminal.ExitUsage)
	programtest.Ran(t, "watch", "--session", "s", "--store", d.Addr).Ends(t, terminal.ExitUsage).Says(t, "watching needs a daemon")
	watchUnread(t, d.Addr)
	require.Equal(t, terminal.ExitDone, d.Stop())
}

// On a terminal, a watch of a quiet session says that it watches. Elsewhere stderr has only errors.
func TestWatchOfAQuietSession(t *testing.T) {
	d := programtest.Serving(t, "--listen", "127.0.0.1:0", "--store", anystore.Place(t))
	programtest.Ran(t, "import", sample.File(t, "talk.jsonl", sample.Talk(2)), "--session", "s", "--addr", d.Addr).Ends(t, terminal.ExitDone)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	said, write := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		a := &api.App{Terminal: terminal.Terminal{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: write, ErrTerminal: true}}
		ended <- program.Run(ctx, a, []string{"watch", "--session", "s", "--addr", d.Addr})
		_ = write.Close()
	}()
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "watching session s from sequence 9 on; Ctrl-C ends it\n", line)
	cancel(terminal.ErrInterrupted)
	require.Equal(t, terminal.ExitDone, <-ended)
}
