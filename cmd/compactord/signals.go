package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// untilSignal returns a context that ends with ErrInterrupted at the first signal. A second signal ends the process at
// once, without waiting for a clean end.
func untilSignal(parent context.Context, a *api.App) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	// SIGHUP, at the closing of a terminal, ends the process unless it was started with nohup.
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	// Without SIGPIPE, a write to a closed pipe fails and the command ends as on any failure. The signal would end the
	// process and leave the temporary store behind.
	signal.Ignore(syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			cancel(terminal.ErrInterrupted)
		case <-done:
			return
		}
		select {
		case <-signals:
			fmt.Fprintln(a.Stderr, "\ncompactord: stopped at once; running work is cut off")
			a.Temporary.RemoveAll()
			os.Exit(terminal.ExitFailed)
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}
