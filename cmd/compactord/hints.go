package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// hint is a command that a person is told to run next. It is written with all that the command line has said of where to
// work, so that it can be pasted.
type hint struct {
	// command is what to run; empty is the command that ran, with all that it was given.
	command string
	// args are the arguments of the command. A flag among them takes the place of the one that was given.
	args []string
	// without are flags that were given and are left out.
	without []string
}

// command is a hint at another command.
func command(name string, args ...string) hint { return hint{command: name, args: args} }

// again is a hint at the command that ran, with these flags in place of, or beside, those that it was given.
func again(args ...string) hint { return hint{args: args} }

// but leaves out flags of those that were given.
func (h hint) but(flags ...string) hint {
	h.without = append(slices.Clone(h.without), flags...)
	return h
}

// sharedFlags say which conversation is worked on, where, how it is read and for which model. They mean the same to every
// command that takes them.
var sharedFlags = []string{
	"session", "store", "addr", "config", "format", "nth", "strict", "without-compactions",
	"preset", "context-window", "max-output-tokens", "max-input-tokens", "keep-recent-tokens",
}

// commandLine is how the program was called.
type commandLine struct {
	// program is how it was called itself.
	program string
	model   *kong.Application
	command *kong.Node
	given   []givenArgument
}

// givenArgument is a flag with its value, or another argument, in the words in which it was given.
type givenArgument struct {
	// flag is the flag's name; empty for what is no flag.
	flag  string
	words []string
}

// blank says whether the value of a flag is empty.
func (g givenArgument) blank() bool {
	last := g.words[len(g.words)-1]
	_, value, joined := strings.Cut(last, "=")
	return last == "" || len(g.words) == 1 && joined && value == ""
}

// newCommandLine takes apart the words of a command line that the parser has understood.
func newCommandLine(program string, parsed *kong.Context) *commandLine {
	l := &commandLine{program: program, model: parsed.Model, command: parsed.Selected()}
	flags, words := parsed.Flags(), parsed.Args
	called := false
	for i := 0; i < len(words); i++ {
		word := words[i]
		flag := flagOf(flags, word)
		switch {
		case word == endOfFlags:
			l.given = append(l.given, givenArgument{words: words[i:]})
			return l
		case flag == nil && !called && l.command != nil && word == l.command.Name:
			called = true
		case flag == nil:
			l.given = append(l.given, givenArgument{words: words[i : i+1]})
		case flag.IsBool() || strings.Contains(word, "=") || i+1 == len(words):
			l.given = append(l.given, givenArgument{flag.Name, words[i : i+1]})
		default:
			l.given = append(l.given, givenArgument{flag.Name, words[i : i+2]})
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
func (l *commandLine) takes(name, flag string) bool {
	for _, node := range l.model.Children {
		if node.Name == name {
			return slices.ContainsFunc(node.Flags, func(f *kong.Flag) bool { return f.Name == flag })
		}
	}
	return false
}

// isCommand says whether the program has a command of that name.
func (l *commandLine) isCommand(name string) bool {
	return slices.ContainsFunc(l.model.Children, func(node *kong.Node) bool { return node.Name == name })
}

// keeps says whether a hint has an argument that was given.
func (l *commandLine) keeps(h hint, g givenArgument) bool {
	if slices.Contains(h.without, g.flag) || slices.Contains(h.args, "--"+g.flag) {
		return false
	}
	return h.command == "" || slices.Contains(sharedFlags, g.flag) && l.takes(h.command, g.flag)
}

// hinted writes a hint as a shell reads it.
func (t *terminal) hinted(h hint) string {
	l := t.line
	words := append([]string{l.program, h.command}, h.args...)
	if h.command == "" {
		words = []string{l.program, l.command.Name}
	}
	var behind []string
	for _, g := range l.given {
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

// advice is what a person can do about an error: a text with a %s for each hint.
type advice struct {
	text  string
	hints []hint
}

// advised writes an advice.
func (t *terminal) advised(what advice) string {
	if len(what.hints) == 0 {
		return what.text
	}
	written := make([]any, len(what.hints))
	for i, h := range what.hints {
		written[i] = t.hinted(h)
	}
	return fmt.Sprintf(what.text, written...)
}

// The program's name, and its package for who has no program but `go run`.
const (
	programName = "compactord"
	mainPackage = "github.com/compactord/compactord/cmd/compactord"
)

// calledAs is how a person runs this program again: as it was called. What `go run` has built is nothing to name: it lies
// in a folder of Go's own.
func calledAs(arg0 string) string {
	switch {
	case arg0 == "":
		return programName
	case strings.Contains(filepath.ToSlash(arg0), "/go-build"):
		return "go run " + mainPackage
	default:
		return quoted(arg0)
	}
}
