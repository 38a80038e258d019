package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// oneRequest is how long further signals after the first are the same request to stop. A supervisor may send SIGTERM and
// SIGINT, or one to the process and to its group; a person who wants the end at once presses a key again later.
const oneRequest = 250 * time.Millisecond

// untilSignal returns a context that ends with ErrInterrupted at the first signal. A second request to stop ends the
// process at once, without waiting for a clean end. SIGHUP is no such signal for a command that called OnHangup of the App.
func untilSignal(parent context.Context, a *api.App) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	h := newHangups()
	a.OnHangup = h.take
	// Without SIGPIPE, a write to a closed pipe fails and the command ends as on any failure. The signal would end the
	// process and leave the temporary store behind.
	signal.Ignore(syscall.SIGPIPE)
	done := make(chan struct{})
	go h.pass(signals, done)
	go func() {
		select {
		case <-signals:
			cancel(terminal.ErrInterrupted)
		case <-done:
			return
		}
		settled := time.NewTimer(oneRequest)
		defer settled.Stop()
		for requested := false; !requested; {
			select {
			case <-signals:
			case <-settled.C:
				requested = true
			case <-done:
				return
			}
		}
		select {
		case <-signals:
			sayWithin(sayTimeout, os.Stderr, "\ncompactord: stopped at once; running work is cut off\n")
			a.Temporary.RemoveAll()
			os.Exit(terminal.ExitFailed)
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		h.stop()
		close(done)
		cancel(nil)
	}
}

// hangups are the SIGHUPs, which end a command unless it takes them.
type hangups struct {
	arriving chan os.Signal
	taken    atomic.Bool
	// passed has at most one value: SIGHUPs that come before it is read mean the same.
	passed chan struct{}
}

func newHangups() *hangups {
	h := &hangups{arriving: make(chan os.Signal, 1), passed: make(chan struct{}, 1)}
	// SIGHUP, at the closing of a terminal, ends the process unless it was started with nohup.
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(h.arriving, syscall.SIGHUP)
	}
	return h
}

// take is OnHangup of an App.
func (h *hangups) take() <-chan struct{} {
	h.taken.Store(true)
	signal.Notify(h.arriving, syscall.SIGHUP)
	return h.passed
}

// pass passes SIGHUPs on until done is closed: to who took them, or else as requests to stop.
func (h *hangups) pass(stops chan<- os.Signal, done <-chan struct{}) {
	for {
		select {
		case s := <-h.arriving:
			if h.taken.Load() {
				select {
				case h.passed <- struct{}{}:
				default:
				}
				continue
			}
			select {
			case stops <- s:
			default:
			}
		case <-done:
			return
		}
	}
}

func (h *hangups) stop() { signal.Stop(h.arriving) }

// sayTimeout is how long the end of the process waits for its last words to be written.
const sayTimeout = time.Second

// sayWithin writes a text, but does not wait longer than the timeout: a pipe that nobody reads blocks.
func sayWithin(timeout time.Duration, out io.Writer, text string) {
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = io.WriteString(out, text)
	}()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-written:
	case <-timer.C:
	}
}
