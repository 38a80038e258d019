// Command compactord keeps the conversations of language model agents within their context window. It is a daemon that
// serves the gRPC API, and commands that do the same work on a transcript in a file.
//
// Every command is a client of the API. Without a daemon it starts the same service in its own process.
package main

import (
	"context"
	"os"

	"golang.org/x/term"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/program"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

func main() {
	os.Exit(start())
}

func start() int {
	a := &api.App{Terminal: terminal.Terminal{
		Name:        terminal.CalledAs(os.Args[0]),
		Stdin:       os.Stdin,
		Stdout:      os.Stdout,
		Stderr:      os.Stderr,
		OutTerminal: isTerminal(os.Stdout),
		ErrTerminal: isTerminal(os.Stderr),
		Columns:     columns(os.Stdout),
		Asks:        term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd())),
	}}
	ctx, stop := untilSignal(context.Background(), a)
	defer stop()
	return program.Run(ctx, a, os.Args[1:])
}

// columns returns the width of a terminal; 0 where it is none, or does not say.
func columns(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" }
