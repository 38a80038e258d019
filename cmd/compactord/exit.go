package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
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

// whenInterrupted says where a Ctrl-C leaves things.
func whenInterrupted(err error, state string, hints ...hint) error {
	if errors.Is(err, errInterrupted) {
		return advise(err, state, hints...)
	}
	return err
}

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

// What the parser says of numbers in a program's words, and of values that begin with a dash.
var (
	noNumber = regexp.MustCompile(`expected a valid \d+ bit u?int but got`)
	noValue  = regexp.MustCompile(`expected u?int value but got ("[^"]*") .*`)
)

// plainly says what the parser says in a person's words.
func plainly(text string) string {
	text = noNumber.ReplaceAllString(text, "expected a whole number but got")
	text = noValue.ReplaceAllString(text, "expected a whole number but got $1")
	return strings.Replace(text, `must be one of "",`, "must be one of ", 1)
}

// complain tells the user what went wrong.
func (a *app) complain(err error) {
	if err == nil {
		return
	}
	var output outputError
	if errors.As(err, &output) && errors.Is(err, syscall.EPIPE) {
		// Whoever read has seen enough, and knows.
		return
	}
	var parse *kong.ParseError
	text := strings.TrimRight(err.Error(), "\n")
	if errors.As(err, &parse) {
		text = plainly(text)
	}
	fmt.Fprintf(a.stderr, "compactord: %s\n", printable(text))
	var advised advisedError
	var call *callError
	switch {
	case errors.As(err, &advised):
		fmt.Fprintln(a.stderr, printable(a.advised(advised.todo)))
	case errors.As(err, &call) && call.address == "" && reasonOf(call.status) == "INTERNAL":
		fmt.Fprintln(a.stderr, a.reportIt())
	case errors.As(err, &call) && call.todo().text != "":
		fmt.Fprintln(a.stderr, a.advised(call.todo()))
	}
	if parse != nil && parse.Context != nil {
		fmt.Fprintf(a.stderr, "How it is used: %s --help\n", a.called(parse.Context))
	}
}

// called is the command that was called, as far as it was understood.
func (a *app) called(c *kong.Context) string {
	program := cmp.Or(a.name, programName)
	if node := c.Selected(); node != nil {
		return program + " " + node.Name
	}
	return program
}
