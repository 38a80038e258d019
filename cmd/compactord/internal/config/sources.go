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

// parse reads a value of the file or the environment. Its error names that source, where kong would name the flag.
func (s Sources) parse(flag *kong.Flag, text string, into reflect.Value) error {
	scanned := kong.Scan().PushTyped(text, kong.FlagValueToken)
	value := *flag.Value
	if patient, is := value.Mapper.(*patientMapper); is {
		value.Mapper = patient.Mapper
	}
	if err := value.Parse(scanned, into); err != nil {
		return fmt.Errorf("%s: %s", s.Of(flag.Name), strings.TrimPrefix(err.Error(), flag.ShortSummary()+": "))
	}
	return nil
}

// ofFile names what sets the path of the file; empty where it is an argument.
func (s Sources) ofFile(flags []*kong.Flag, path string) string {
	for _, flag := range flags {
		if flag.Name == fileFlag && flag.Target.String() == path {
			return s.Of(fileFlag) + ": "
		}
	}
	return ""
}

// keyOf returns the key of a flag in the file.
func keyOf(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// flagNamed returns the flag of a key.
func flagNamed(key string) string { return strings.ReplaceAll(key, "_", "-") }
