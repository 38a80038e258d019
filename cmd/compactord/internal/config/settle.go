package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// Settled are the settings that are in effect together, and where they come from.
type Settled struct {
	Config
	Sources
	File *File
}

// Settle reads the settings of a command line that kong has applied, of the environment and of the file, which may be
// unnamed. It returns every problem, where kong would stop at the first one.
func Settle(k *kong.Context, path string) (*Settled, error) {
	return SettleFrom(ReadSources(k), k.Flags(), path)
}

// SettleFrom is Settle for flags whose sources were read before. It may be called again when the file has changed.
func SettleFrom(sources Sources, flags []*kong.Flag, path string) (*Settled, error) {
	s := &Settled{Sources: sources, File: &File{}}
	var problems []error
	if path != "" {
		s.File, problems = readFile(path)
		if s.File.unread {
			problems = []error{fmt.Errorf("%s%w", s.ofFile(flags, path), problems[0])}
		}
		s.Sources = s.With(path, s.File)
	}
	into := reflect.ValueOf(&s.Config).Elem()
	for i, key := range settingKeys() {
		flag := flagOf(flags, key)
		if flag.Default != "" {
			// A value that cannot be read leaves the default.
			if err := s.parse(flag, flag.Default, into.Field(i)); err != nil {
				problems = append(problems, err)
			}
		}
		var text string
		switch s.Kind(flag.Name) {
		case FromEnvironment:
			text = os.Getenv(s.variables[flag.Name])
		case FromFile:
			text = textOf(s.file[key])
		case FromFlag:
			if err := misread(flag); err != nil {
				problems = append(problems, fmt.Errorf("%s: %s", s.Of(flag.Name), terminal.Plainly(err.Error())))
				continue
			}
			into.Field(i).Set(flag.Target)
			continue
		case FromDefault:
			continue
		}
		value := reflect.New(into.Field(i).Type()).Elem()
		if err := s.parse(flag, text, value); err != nil {
			problems = append(problems, errors.New(terminal.Plainly(err.Error())))
			continue
		}
		into.Field(i).Set(value)
	}
	problems = append(problems, each(s.Check(s.Sources))...)
	problems = append(problems, s.checkSections()...)
	problems = append(problems, s.checkFiles()...)
	return s, errors.Join(problems...)
}

// checkSections returns every problem with what the sections of the file and the settings say together. What a section does
// not tell, since it could not be read, would only report the same problems again.
func (s *Settled) checkSections() []error {
	_, err := s.File.Models()
	problems := append(beginning(s.path, []error{err}), s.checkJWT()...)
	if s.File.unread {
		return problems
	}
	if _, err := mappingOf(summarizersKey, "", s.File.sections[summarizersKey]); err == nil {
		problems = append(problems, s.File.CheckSummarizer(s.Of("default-summarizer"), s.DefaultSummarizer))
	}
	if _, err := mappingOf(policiesKey, "", s.File.sections[policiesKey]); err == nil {
		problems = append(problems, s.File.CheckPolicy(s.Of("default-policy"), s.DefaultPolicy))
	}
	return problems
}

func flagOf(flags []*kong.Flag, key string) *kong.Flag {
	return flags[slices.IndexFunc(flags, func(f *kong.Flag) bool { return keyOf(f.Name) == key })]
}

// Problem is one problem with the settings.
type Problem struct {
	// Key is the path of the setting's key; empty for a file that cannot be read.
	Key    string `json:"key"`
	Source Source `json:"source"`
	// From is the flag, the variable, or the path of the file.
	From    string `json:"from"`
	Message string `json:"message"`
}

// keyPath matches the path of a key at the beginning of a problem with the file.
var keyPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([A-Za-z0-9_.\[\]-]+):? (.*)$`)
})

// unknownKey matches a problem with a key that no setting has, after the path of its mapping.
var unknownKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:there is no setting|([A-Za-z0-9_.\[\]-]+) has no key) "([^"]*)"`)
})

// Problems takes apart the errors of Settle.
func (s *Settled) Problems(err error) []Problem {
	errs := each(err)
	problems := make([]Problem, 0, len(errs))
	for _, one := range errs {
		text := one.Error()
		p := Problem{Source: FromFile, From: s.path, Message: text}
		from, message, _ := strings.Cut(text, ": ")
		inFile, ofKey := strings.CutPrefix(text, s.path+": ")
		switch flag, isFlag := strings.CutPrefix(from, "--"); {
		case isFlag:
			p = Problem{Key: keyOf(flag), Source: s.Kind(flag), From: from, Message: message}
		case strings.HasPrefix(from, variablePrefix):
			p = Problem{Key: strings.ToLower(strings.TrimPrefix(from, variablePrefix)), Source: FromEnvironment, From: from, Message: message}
		case s.path != "" && ofKey:
			p.Message = inFile
			if unknown := unknownKey().FindStringSubmatch(inFile); unknown != nil {
				p.Key = strings.TrimPrefix(unknown[1]+"."+unknown[2], ".")
			} else if parts := keyPath().FindStringSubmatch(inFile); parts != nil {
				p.Key, p.Message = parts[1], parts[2]
			}
		}
		problems = append(problems, p)
	}
	return problems
}
