package program

import (
	"cmp"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/config"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// grammar returns what the parser needs for a command line that begins with a word: the command of this name alone, since
// the flags of all of them take longer to prepare than many a command runs. It is nil if there is no such command.
func grammar(name string) any {
	commands := reflect.TypeFor[Commands]()
	for i := range commands.NumField() {
		if field := commands.Field(i); commandName(field) == name {
			return reflect.New(reflect.StructOf([]reflect.StructField{field})).Interface()
		}
	}
	return nil
}

// commandName returns the name of the command that a field of Commands stands for.
func commandName(field reflect.StructField) string {
	return cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name))
}

// newParser returns a parser for all commands, or for those of a grammar.
func newParser(a *api.App, grammar any) (*kong.Kong, error) {
	if grammar == nil {
		grammar = &Commands{}
	}
	parser, err := kong.New(grammar,
		kong.Name(terminal.ProgramName),
		kong.Description(description),
		Variables(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 110}),
		kong.Writers(a.Out, a.Stderr),
		kong.Exit(func(code int) { panic(kongExit(code)) }),
	)
	if err != nil {
		return nil, err
	}
	config.BePatient(parser.Model.Node)
	return parser, nil
}

// commandNode returns what the parser knows of a command, or nil if there is none of this name.
func commandNode(a *api.App, name string) *kong.Node {
	only := grammar(name)
	if only == nil {
		return nil
	}
	parser, err := newParser(a, only)
	if err != nil {
		return nil
	}
	return parser.Model.Children[0]
}
