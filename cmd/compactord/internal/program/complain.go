package program

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

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
		text = terminal.Plainly(text)
		if word, unexpected := strings.CutPrefix(text, "unexpected argument "); unexpected && parse.Context != nil && parse.Context.Selected() == nil {
			text = "there is no command " + word
		}
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
