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
func complain(a *app, err error) {
	if err == nil {
		return
	}
	if unwritten(err) && errors.Is(err, syscall.EPIPE) {
		// Whoever read has seen enough, and knows.
		return
	}
	var parse *kong.ParseError
	text := strings.TrimRight(err.Error(), "\n")
	if errors.As(err, &parse) {
		text = plainly(text)
	}
	fmt.Fprintf(a.stderr, "compactord: %s\n", printable(text))
	todo, advised := advisedOn(err)
	var call *callError
	switch {
	case advised:
		fmt.Fprintln(a.stderr, printable(a.advised(todo)))
	case errors.As(err, &call) && call.ownBug():
		fmt.Fprintln(a.stderr, a.reportIt())
	case errors.As(err, &call) && call.todo().text != "":
		fmt.Fprintln(a.stderr, a.advised(call.todo()))
	}
	if parse != nil && parse.Context != nil {
		fmt.Fprintf(a.stderr, "How it is used: %s --help\n", called(a, parse.Context))
	}
}

// called is the command that was called, as far as it was understood.
func called(a *app, c *kong.Context) string {
	program := cmp.Or(a.name, programName)
	if node := c.Selected(); node != nil {
		return program + " " + node.Name
	}
	return program
}
