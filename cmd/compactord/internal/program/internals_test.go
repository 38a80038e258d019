package program

import (
	"bytes"

	"github.com/alecthomas/kong"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// Description exports the text of the help to external tests.
const Description = description

// Prepared returns what the parser prepares for a command line that begins with a word.
func Prepared(name string) (*kong.Kong, error) {
	a := &api.App{Terminal: terminal.Terminal{Stdout: new(bytes.Buffer), Stderr: new(bytes.Buffer)}}
	a.Buffer()
	return newParser(a, grammar(name))
}

// Node returns what hints know of a command.
func Node(name string) *kong.Node { return commandNode(&api.App{}, name) }
