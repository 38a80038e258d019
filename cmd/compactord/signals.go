package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal returns a context that ends with errInterrupted at the first SIGINT or SIGTERM. A second one ends the
// process at once: who asks twice no longer wants to wait for a clean end.
func (a *app) untilSignal(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			cancel(errInterrupted)
		case <-done:
			return
		}
		select {
		case <-signals:
			fmt.Fprintln(a.stderr, "\ncompactord: stopped at once; what was still running is cut off")
			a.temporary.removeAll()
			os.Exit(exitFailed)
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}
