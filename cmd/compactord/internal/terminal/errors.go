package terminal

import (
	"errors"
	"fmt"
	"strings"
)

// The exit codes of every command.
const (
	ExitDone    = 0
	ExitFailed  = 1
	ExitUsage   = 2
	ExitNothing = 3
	// ExitPart means that only a part could be done.
	ExitPart = 4
	// ExitStoreLost means that the daemon's store can neither be used nor be opened again in this process.
	ExitStoreLost = 5
)

// ErrInterrupted is the cause of a context that ended because of Ctrl-C or another signal.
var ErrInterrupted = errors.New("interrupted")

// usageError is a mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usagef returns an error about a mistake in the command line.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// advisedError is an error with advice about what to do.
type advisedError struct {
	error
	todo Advice
}

func (e advisedError) Unwrap() error { return e.error }

// Advise adds advice to an error: a text with a %s for each hint.
func Advise(err error, todo string, hints ...Hint) error {
	return advisedError{err, Advice{todo, hints}}
}

// AdvisedBy adds advice to an error.
func AdvisedBy(err error, todo Advice) error { return advisedError{err, todo} }

// AdvisedOn returns the advice of an error.
func AdvisedOn(err error) (todo Advice, advised bool) {
	var with advisedError
	advised = errors.As(err, &with)
	return with.todo, advised
}

// WhenInterrupted adds the state after an interruption to its error. It returns other errors unchanged.
func WhenInterrupted(err error, state string, hints ...Hint) error {
	if errors.Is(err, ErrInterrupted) {
		return Advise(err, state, hints...)
	}
	return err
}

// AsUsage marks an error as a mistake in the command line.
func AsUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// lostError is the end of a daemon whose store is lost.
type lostError struct{ error }

func (e lostError) Unwrap() error { return e.error }

// AsLost marks an error as the loss of the store.
func AsLost(err error) error { return lostError{err} }

// NothingError is the end of a command that had nothing to do, which is not a failure.
type NothingError struct{ Why string }

func (e NothingError) Error() string {
	why := strings.TrimPrefix(e.Why, "nothing to compact: ")
	return "nothing to do: " + strings.TrimPrefix(why, "nothing to hide: ")
}

// PartError is the end of a command that did only a part of its work.
type PartError struct{ What string }

func (e PartError) Error() string { return e.What }

// outputError is a failure to write to stdout.
type outputError struct{ error }

func (e outputError) Error() string { return "cannot write the output: " + e.error.Error() }

func (e outputError) Unwrap() error { return e.error }

// AsOutput marks an error as a failure to write to stdout.
func AsOutput(err error) error {
	if Unwritten(err) {
		return err
	}
	return outputError{err}
}

// Unwritten says whether an error was marked by AsOutput.
func Unwritten(err error) bool {
	var output outputError
	return errors.As(err, &output)
}

// ExitCode returns the program's exit code for an error.
func ExitCode(err error) int {
	var usage usageError
	var nothing NothingError
	var part PartError
	var lost lostError
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &usage):
		return ExitUsage
	case errors.As(err, &nothing):
		return ExitNothing
	case errors.As(err, &part):
		return ExitPart
	case errors.As(err, &lost):
		return ExitStoreLost
	default:
		return ExitFailed
	}
}
