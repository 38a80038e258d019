package config

import (
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// Sources say where the daemon's settings come from, so that an error names what is to be changed. The zero value names
// the flags.
type Sources struct {
	// given are the flags on the command line.
	given map[string]bool
	// variables are the flags that a variable sets, with its name.
	variables map[string]string
	path      string
	file      settings
}

// ReadSources returns the sources of the flags of a command line that kong has not resolved yet.
func ReadSources(k *kong.Context) Sources {
	s := Sources{given: map[string]bool{}, variables: map[string]string{}}
	for _, p := range k.Path {
		if p.Flag != nil {
			s.given[p.Flag.Name] = true
		}
	}
	for _, flag := range k.Flags() {
		for _, name := range flag.Envs {
			if _, set := os.LookupEnv(name); set {
				s.variables[flag.Name] = name
			}
		}
	}
	return s
}

// With returns the sources together with a file.
func (s Sources) With(path string, file *File) Sources {
	s.path, s.file = path, file.Settings
	return s
}

// Of names what sets a flag: the flag itself, a variable, or a key of the file.
func (s Sources) Of(flag string) string {
	key := keyOf(flag)
	_, inFile := s.file[key]
	switch variable, set := s.variables[flag]; {
	case s.given[flag]:
		return "--" + flag
	case set:
		return variable
	case inFile:
		return s.path + ": " + key
	default:
		return "--" + flag
	}
}

// Source is a kind of place where a setting comes from.
type Source string

// The kinds of places, from the first that applies.
const (
	FromFlag        Source = "flag"
	FromEnvironment Source = "environment"
	FromFile        Source = "file"
	FromDefault     Source = "default"
)

// Kind returns where a flag's value comes from.
func (s Sources) Kind(flag string) Source {
	_, inFile := s.file[keyOf(flag)]
	switch {
	case s.given[flag]:
		return FromFlag
	case s.variables[flag] != "":
		return FromEnvironment
	case inFile:
		return FromFile
	default:
		return FromDefault
	}
}

// CheckFile returns an error for a value of the file that is none of its flag, where that value applies. kong would name
// the flag.
func (s Sources) CheckFile(flags []*kong.Flag) error {
	for _, flag := range flags {
		value, inFile := s.file[keyOf(flag.Name)]
		if _, set := s.variables[flag.Name]; !inFile || set || s.given[flag.Name] {
			continue
		}
		if err := s.parse(flag, fmt.Sprint(value), reflect.New(flag.Target.Type()).Elem()); err != nil {
			return err
		}
	}
	return nil
}

// parse reads a value of the file or the environment. Its error names that source, where kong would name the flag.
func (s Sources) parse(flag *kong.Flag, text string, into reflect.Value) error {
	scanned := kong.Scan().PushTyped(text, kong.FlagValueToken)
	if err := flag.Parse(scanned, into); err != nil {
		return fmt.Errorf("%s: %s", s.Of(flag.Name), strings.TrimPrefix(err.Error(), flag.ShortSummary()+": "))
	}
	return nil
}

// keyOf returns the key of a flag in the file.
func keyOf(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// flagNamed returns the flag of a key.
func flagNamed(key string) string { return strings.ReplaceAll(key, "_", "-") }
