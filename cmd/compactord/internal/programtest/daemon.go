package programtest

import (
	"bufio"
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/program"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service/access"
)

// Daemon is `compactord serve` in this process.
type Daemon struct {
	Addr string
	// Log is its stderr. Lines are queued: all are there once the daemon has ended.
	Log    Log
	ended  chan int
	cancel context.CancelCauseFunc
}

// Log is what a daemon has said so far. It can be read while the daemon runs.
type Log struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write appends to it.
func (l *Log) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

// String returns all of it.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Serving starts a daemon and waits until it listens.
func Serving(t *testing.T, args ...string) *Daemon {
	t.Helper()
	return serving(t, false, args)
}

// ServingOnTerminal starts a daemon whose log goes to a terminal.
func ServingOnTerminal(t *testing.T, args ...string) *Daemon {
	t.Helper()
	return serving(t, true, args)
}

func serving(t *testing.T, onTerminal bool, args []string) *Daemon {
	t.Helper()
	d := &Daemon{ended: make(chan int, 1)}
	ctx, cancel := context.WithCancelCause(t.Context())
	d.cancel = cancel
	out, write := io.Pipe()
	a := &api.App{Terminal: terminal.Terminal{Stdout: write, Stderr: &d.Log, ErrTerminal: onTerminal}}
	go func() {
		d.ended <- program.Run(ctx, a, append([]string{"serve"}, args...))
		_ = write.Close()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		require.FailNow(t, "the daemon did not start", "exit code %d: %s", <-d.ended, d.Log.String())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	text, found := strings.CutPrefix(line, "compactord listens on ")
	require.True(t, found, line)
	d.Addr, _, found = strings.Cut(text, ", store ")
	require.True(t, found, line)
	t.Cleanup(func() { d.cancel(terminal.ErrInterrupted) })
	return d
}

// Stop ends the daemon as a signal would, and returns its exit code.
func (d *Daemon) Stop() int {
	d.cancel(terminal.ErrInterrupted)
	return <-d.ended
}

// Connection connects to a daemon, with the token that it has made in the default place.
func Connection(t *testing.T, addr string) *grpc.ClientConn {
	t.Helper()
	token, err := access.Find("", addr, false)
	require.NoError(t, err)
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithPerRPCCredentials(access.Bearer(token)))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return conn
}
