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
)

// ErrInterrupted is why a context ends when the user presses Ctrl-C or the process is asked to end.
var ErrInterrupted = errors.New("interrupted")

// usageError is a mistake in how the program was called.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usagef says what is wrong with how the program was called.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// advisedError is an error with what to do about it.
type advisedError struct {
	error
	todo Advice
}

func (e advisedError) Unwrap() error { return e.error }

// Advise adds what to do about an error: a text with a %s for each hint.
func Advise(err error, todo string, hints ...Hint) error {
	return advisedError{err, Advice{todo, hints}}
}

// AdvisedBy adds an advice to an error.
func AdvisedBy(err error, todo Advice) error { return advisedError{err, todo} }

// AdvisedOn is what an error brings of what to do about it.
func AdvisedOn(err error) (todo Advice, advised bool) {
	var with advisedError
	advised = errors.As(err, &with)
	return with.todo, advised
}

// WhenInterrupted says where a Ctrl-C leaves things.
func WhenInterrupted(err error, state string, hints ...Hint) error {
	if errors.Is(err, ErrInterrupted) {
		return Advise(err, state, hints...)
	}
	return err
}

// AsUsage makes wrong usage of an error.
func AsUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// NothingError is the end of a command with nothing to do: an answer and no failure.
type NothingError struct{ Why string }

func (e NothingError) Error() string {
	return "nothing to do: " + strings.TrimPrefix(e.Why, "nothing to compact: ")
}

// outputError is a failure to write what a command answered.
type outputError struct{ error }

func (e outputError) Error() string { return "cannot write the output: " + e.error.Error() }

func (e outputError) Unwrap() error { return e.error }

// AsOutput says that what a command answered could not be written.
func AsOutput(err error) error { return outputError{err} }

// Unwritten says whether an error is that of AsOutput.
func Unwritten(err error) bool {
	var output outputError
	return errors.As(err, &output)
}

// ExitCode is the code with which the program ends after an error.
func ExitCode(err error) int {
	var usage usageError
	var nothing NothingError
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &usage):
		return ExitUsage
	case errors.As(err, &nothing):
		return ExitNothing
	default:
		return ExitFailed
	}
}
