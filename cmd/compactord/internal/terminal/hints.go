package terminal

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Hint is a command that the user could run next. It repeats those arguments of the command line that name the
// conversation and its place, so that it can be pasted.
type Hint struct {
	// command is the command's name. Empty means the command that ran, with all its arguments.
	command string
	// args are additional arguments. A flag among them replaces the same flag of the command line.
	args []string
	// without are flags of the command line to leave out.
	without []string
}

// Command returns a hint at another command.
func Command(name string, args ...string) Hint { return Hint{command: name, args: args} }

// Again returns a hint at the command that ran, with additional or replaced flags.
func Again(args ...string) Hint { return Hint{args: args} }

// But leaves out flags of the command line.
func (h Hint) But(flags ...string) Hint {
	h.without = append(slices.Clone(h.without), flags...)
	return h
}

// sharedFlags name the conversation, its place, how it is read and the model. They have the same meaning in every
// command that has them.
var sharedFlags = []string{
	"session", "store", "addr", "config", "format", "nth", "strict", "without-compactions",
	"preset", "policy", "context-window", "max-output-tokens", "max-input-tokens", "keep-recent-tokens",
}

// CommandLine is the parsed command line.
type CommandLine struct {
	// Program is the name under which the program was called.
	Program string
	// other returns what the parser knows of the command with a name, or nil.
	other   func(name string) *kong.Node
	command *kong.Node
	Given   []GivenArgument
}

// GivenArgument is a flag with its value, or another argument, as the user wrote it.
type GivenArgument struct {
	// Flag is the flag's name; empty for an argument that is no flag.
	Flag  string
	words []string
}

// Blank says whether the value of a flag is empty.
func (g GivenArgument) Blank() bool {
	last := g.words[len(g.words)-1]
	_, value, joined := strings.Cut(last, "=")
	return last == "" || len(g.words) == 1 && joined && value == ""
}

// NewCommandLine splits a command line that the parser accepted into its arguments. other returns what the parser knows of
// another command, or nil if there is none with this name.
func NewCommandLine(program string, parsed *kong.Context, other func(name string) *kong.Node) *CommandLine {
	l := &CommandLine{Program: program, other: other, command: parsed.Selected()}
	flags, words := parsed.Flags(), parsed.Args
	called := false
	for i := 0; i < len(words); i++ {
		word := words[i]
		flag := flagOf(flags, word)
		switch {
		case word == endOfFlags:
			l.Given = append(l.Given, GivenArgument{words: words[i:]})
			return l
		case flag == nil && !called && l.command != nil && word == l.command.Name:
			called = true
		case flag == nil:
			l.Given = append(l.Given, GivenArgument{words: words[i : i+1]})
		case flag.IsBool() || strings.Contains(word, "=") || i+1 == len(words):
			l.Given = append(l.Given, GivenArgument{flag.Name, words[i : i+1]})
		default:
			l.Given = append(l.Given, GivenArgument{flag.Name, words[i : i+2]})
			i++
		}
	}
	return l
}

// flagOf returns the flag that a word names, or nil.
func flagOf(flags []*kong.Flag, word string) *kong.Flag {
	name, long := strings.CutPrefix(word, "--")
	name, _, _ = strings.Cut(name, "=")
	for _, f := range flags {
		switch {
		case long && (name == f.Name || slices.Contains(f.Aliases, name) || f.Tag.Negatable != "" && name == "no-"+f.Name):
			return f
		case !long && f.Short != 0 && word == "-"+string(f.Short):
			return f
		}
	}
	return nil
}

// takes says whether a command has a flag.
func (l *CommandLine) takes(name, flag string) bool {
	node := l.other(name)
	return node != nil && slices.ContainsFunc(node.Flags, func(f *kong.Flag) bool { return f.Name == flag })
}

// IsCommand says whether the program has a command with this name.
func (l *CommandLine) IsCommand(name string) bool { return l.other(name) != nil }

// keeps says whether a hint repeats an argument of the command line.
func (l *CommandLine) keeps(h Hint, g GivenArgument) bool {
	if slices.Contains(h.without, g.Flag) || slices.Contains(h.args, "--"+g.Flag) {
		return false
	}
	return h.command == "" || slices.Contains(sharedFlags, g.Flag) && l.takes(h.command, g.Flag)
}

// Hinted returns a hint as text for a shell.
func (t *Terminal) Hinted(h Hint) string {
	l := t.Line
	words := append([]string{l.Program, h.command}, h.args...)
	if h.command == "" {
		words = []string{l.Program, l.command.Name}
	}
	var positional []string
	for _, g := range l.Given {
		switch {
		case !l.keeps(h, g):
		case g.words[0] == endOfFlags:
			positional = g.words
		default:
			words = append(words, g.words...)
		}
	}
	if h.command == "" {
		words = append(words, h.args...)
	}
	words = append(words, positional...)
	for i, word := range words[1:] {
		words[i+1] = Quoted(word)
	}
	if slices.Contains(h.without, "addr") && os.Getenv(addrVariable) != "" {
		words = append([]string{addrVariable + "="}, words...)
	}
	return strings.Join(words, " ")
}

// endOfFlags is the argument after which no argument is a flag.
const endOfFlags = "--"

// addrVariable is the environment variable for --addr.
const addrVariable = "COMPACTORD_ADDR"

// Quoted quotes a word for a shell.
func Quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_@%+=:,./-", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Advice is what a person can do about an error: a text with a %s for each hint.
type Advice struct {
	Text  string
	Hints []Hint
}

// Advised returns an advice as text.
func (t *Terminal) Advised(what Advice) string {
	if len(what.Hints) == 0 {
		return what.Text
	}
	written := make([]any, len(what.Hints))
	for i, h := range what.Hints {
		written[i] = t.Hinted(h)
	}
	return fmt.Sprintf(what.Text, written...)
}

// The program's name, and its package for users who start it with `go run`.
const (
	ProgramName = "compactord"
	MainPackage = "github.com/compactord/compactord/cmd/compactord"
)

// CalledAs returns how a person can run this program again. A path of `go run` would not help: it is in a temporary
// folder.
func CalledAs(arg0 string) string {
	switch {
	case arg0 == "":
		return ProgramName
	case strings.Contains(filepath.ToSlash(arg0), "/go-build"):
		return "go run " + MainPackage
	default:
		return Quoted(arg0)
	}
}
