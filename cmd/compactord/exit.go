package main

import (
	"errors"
	"fmt"
	"strings"
)

// The exit codes of every command.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitNothing = 3
)

// errInterrupted is why a context ends when the user presses Ctrl-C or the process is asked to end.
var errInterrupted = errors.New("interrupted")

// usageError is a mistake in how the program was called.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usagef says what is wrong with how the program was called.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// advisedError is an error with what to do about it.
type advisedError struct {
	error
	todo advice
}

func (e advisedError) Unwrap() error { return e.error }

// advise adds what to do about an error: a text with a %s for each hint.
func advise(err error, todo string, hints ...hint) error {
	return advisedError{err, advice{todo, hints}}
}

// advisedBy adds an advice to an error.
func advisedBy(err error, todo advice) error { return advisedError{err, todo} }

// advisedOn is what an error brings of what to do about it.
func advisedOn(err error) (todo advice, advised bool) {
	var with advisedError
	advised = errors.As(err, &with)
	return with.todo, advised
}

// whenInterrupted says where a Ctrl-C leaves things.
func whenInterrupted(err error, state string, hints ...hint) error {
	if errors.Is(err, errInterrupted) {
		return advise(err, state, hints...)
	}
	return err
}

// asUsage makes wrong usage of an error.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// nothingError is the end of a command with nothing to do: an answer and no failure.
type nothingError struct{ why string }

func (e nothingError) Error() string {
	return "nothing to do: " + strings.TrimPrefix(e.why, "nothing to compact: ")
}

// outputError is a failure to write what a command answered.
type outputError struct{ error }

func (e outputError) Error() string { return "cannot write the output: " + e.error.Error() }

func (e outputError) Unwrap() error { return e.error }

// asOutput says that what a command answered could not be written.
func asOutput(err error) error { return outputError{err} }

// unwritten says whether an error is that of asOutput.
func unwritten(err error) bool {
	var output outputError
	return errors.As(err, &output)
}

// exitCode is the code with which the program ends after an error.
func exitCode(err error) int {
	var usage usageError
	var nothing nothingError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &nothing):
		return exitNothing
	default:
		return exitFailed
	}
}
