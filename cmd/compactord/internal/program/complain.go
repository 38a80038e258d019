package program

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// Messages of the parser about numbers, times and values that begin with a dash, and about those of variables.
var (
	noNumber = regexp.MustCompile(`expected a valid \d+ bit u?int but got`)
	noValue  = regexp.MustCompile(`expected u?int value but got ("[^"]*") .*`)
	noTime   = regexp.MustCompile(`expected duration but got ("[^"]*"): .*`)
	noBool   = regexp.MustCompile(`bool value must be .* but got ("[^"]*")`)
	// ofVariable repeats the value, which the message has already.
	ofVariable = regexp.MustCompile(`^--[a-z-]+: (.*) \(from envar ([A-Z_]+)=".*"\)$`)
)

// plainly rewrites messages of the parser for people.
func plainly(text string) string {
	text = ofVariable.ReplaceAllString(text, "$2: $1")
	text = noNumber.ReplaceAllString(text, "expected a whole number but got")
	text = noValue.ReplaceAllString(text, "expected a whole number but got $1")
	text = noBool.ReplaceAllString(text, "expected yes or no but got $1")
	text = noTime.ReplaceAllString(text, "expected a time such as 90s or 2m but got $1")
	return strings.Replace(text, `must be one of "",`, "must be one of ", 1)
}

// complain prints an error and what to do about it.
func complain(a *api.App, err error) {
	if err == nil {
		return
	}
	if terminal.Unwritten(err) && errors.Is(err, syscall.EPIPE) {
		// The reader has closed the pipe and needs no message.
		return
	}
	var parse *kong.ParseError
	text := strings.TrimRight(err.Error(), "\n")
	if errors.As(err, &parse) {
		if parse.Context != nil && parse.Context.Selected() != nil {
			// The parser puts the command before what the command itself says.
			text = strings.TrimPrefix(text, parse.Context.Selected().Path()+": ")
		}
		text = plainly(text)
	}
	fmt.Fprintf(a.Stderr, "compactord: %s\n", terminal.Printable(text))
	todo, advised := terminal.AdvisedOn(err)
	var call *api.CallError
	switch {
	case advised:
		fmt.Fprintln(a.Stderr, terminal.Printable(a.Advised(todo)))
	case errors.As(err, &call) && call.OwnBug():
		fmt.Fprintln(a.Stderr, a.ReportIt())
	case errors.As(err, &call) && call.Todo().Text != "":
		fmt.Fprintln(a.Stderr, a.Advised(call.Todo()))
	}
	if parse != nil && parse.Context != nil {
		if store := storeInstead(text, parse.Context); store != "" {
			fmt.Fprintf(a.Stderr, "To name a store: %s --store %s\n", called(a, parse.Context), store)
		}
		fmt.Fprintf(a.Stderr, "For help: %s --help\n", called(a, parse.Context))
	}
}

// storeInstead returns the argument that a command did not expect where it is a file and the command takes a store: people
// leave out --store. It is empty otherwise.
func storeInstead(text string, c *kong.Context) string {
	word, unexpected := strings.CutPrefix(text, "unexpected argument ")
	node := c.Selected()
	if !unexpected || node == nil || !api.Exists(word) ||
		!slices.ContainsFunc(node.Flags, func(f *kong.Flag) bool { return f.Name == "store" }) {
		return ""
	}
	return terminal.Quoted(word)
}

// called returns the program with the command, as far as the parser understood it.
func called(a *api.App, c *kong.Context) string {
	program := cmp.Or(a.Name, terminal.ProgramName)
	if node := c.Selected(); node != nil {
		return program + " " + node.Name
	}
	return program
}
