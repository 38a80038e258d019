package terminal

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Hint is a command that a person is told to run next. It is written with all that the command line has said of where to
// work, so that it can be pasted.
type Hint struct {
	// Command is what to run; empty is the command that ran, with all that it was given.
	command string
	// args are the arguments of the command. A flag among them takes the place of the one that was given.
	args []string
	// without are flags that were given and are left out.
	without []string
}

// Command is a hint at another command.
func Command(name string, args ...string) Hint { return Hint{command: name, args: args} }

// Again is a hint at the command that ran, with these flags in place of, or beside, those that it was given.
func Again(args ...string) Hint { return Hint{args: args} }

// But leaves out flags of those that were given.
func (h Hint) But(flags ...string) Hint {
	h.without = append(slices.Clone(h.without), flags...)
	return h
}

// sharedFlags say which conversation is worked on, where, how it is read and for which model. They mean the same to every
// command that takes them.
var sharedFlags = []string{
	"session", "store", "addr", "config", "format", "nth", "strict", "without-compactions",
	"preset", "context-window", "max-output-tokens", "max-input-tokens", "keep-recent-tokens",
}

// CommandLine is how the program was called.
type CommandLine struct {
	// Program is how it was called itself.
	Program string
	model   *kong.Application
	command *kong.Node
	Given   []GivenArgument
}

// GivenArgument is a flag with its value, or another argument, in the words in which it was given.
type GivenArgument struct {
	// Flag is the flag's name; empty for what is no flag.
	Flag  string
	words []string
}

// Blank says whether the value of a flag is empty.
func (g GivenArgument) Blank() bool {
	last := g.words[len(g.words)-1]
	_, value, joined := strings.Cut(last, "=")
	return last == "" || len(g.words) == 1 && joined && value == ""
}

// NewCommandLine takes apart the words of a command line that the parser has understood.
func NewCommandLine(program string, parsed *kong.Context) *CommandLine {
	l := &CommandLine{Program: program, model: parsed.Model, command: parsed.Selected()}
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

// flagOf is the flag that a word names; nil where it names none.
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
	for _, node := range l.model.Children {
		if node.Name == name {
			return slices.ContainsFunc(node.Flags, func(f *kong.Flag) bool { return f.Name == flag })
		}
	}
	return false
}

// IsCommand says whether the program has a command of that name.
func (l *CommandLine) IsCommand(name string) bool {
	return slices.ContainsFunc(l.model.Children, func(node *kong.Node) bool { return node.Name == name })
}

// keeps says whether a hint has an argument that was given.
func (l *CommandLine) keeps(h Hint, g GivenArgument) bool {
	if slices.Contains(h.without, g.Flag) || slices.Contains(h.args, "--"+g.Flag) {
		return false
	}
	return h.command == "" || slices.Contains(sharedFlags, g.Flag) && l.takes(h.command, g.Flag)
}

// Hinted writes a hint as a shell reads it.
func (t *Terminal) Hinted(h Hint) string {
	l := t.Line
	words := append([]string{l.Program, h.command}, h.args...)
	if h.command == "" {
		words = []string{l.Program, l.command.Name}
	}
	var behind []string
	for _, g := range l.Given {
		switch {
		case !l.keeps(h, g):
		case g.words[0] == endOfFlags:
			behind = g.words
		default:
			words = append(words, g.words...)
		}
	}
	if h.command == "" {
		words = append(words, h.args...)
	}
	words = append(words, behind...)
	for i, word := range words[1:] {
		words[i+1] = quoted(word)
	}
	if slices.Contains(h.without, "addr") && os.Getenv(addrVariable) != "" {
		words = append([]string{addrVariable + "="}, words...)
	}
	return strings.Join(words, " ")
}

// endOfFlags says that what follows is no flag, whatever it looks like.
const endOfFlags = "--"

// addrVariable names the daemon where no flag does.
const addrVariable = "COMPACTORD_ADDR"

// quoted writes a word so that a shell reads it as it is.
func quoted(word string) string {
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

// Advised writes an advice.
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

// The program's name, and its package for who has no program but `go run`.
const (
	ProgramName = "compactord"
	MainPackage = "github.com/compactord/compactord/cmd/compactord"
)

// CalledAs is how a person runs this program again: as it was called. What `go run` has built is nothing to name: it lies
// in a folder of Go's own.
func CalledAs(arg0 string) string {
	switch {
	case arg0 == "":
		return ProgramName
	case strings.Contains(filepath.ToSlash(arg0), "/go-build"):
		return "go run " + MainPackage
	default:
		return quoted(arg0)
	}
}
