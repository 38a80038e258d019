package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/certificates"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/trusted"
	"github.com/compactord/compactord/storage/keyring"
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
		s.Sources = s.With(path, s.File)
	}
	unread := len(problems) > 0
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
			text = fmt.Sprint(s.file[key])
		case FromFlag:
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
	if !unread {
		problems = append(problems, s.checkModels()...)
		problems = append(problems, s.checkJWT()...)
		problems = append(problems, s.File.CheckPolicy(s.Of("default-policy"), s.DefaultPolicy))
	}
	problems = append(problems, s.checkCertificates(), s.checkTokens(), s.checkStoreKeys(), s.checkTraceFiles())
	return s, errors.Join(problems...)
}

// checkModels reads the keys of the models. Models that could not be read would only report other problems again.
func (s *Settled) checkModels() []error {
	_, err := s.File.Models()
	problems := beginning(s.path, []error{err})
	if err := s.File.CheckSummarizer(s.Of("default-summarizer"), s.DefaultSummarizer); err != nil {
		problems = append(problems, err)
	}
	return problems
}

// checkCertificates reads the files of TLS, unless only one of two is set.
func (s *Settled) checkCertificates() error {
	if s.TLSCert == "" || s.TLSKey == "" {
		return nil
	}
	if _, err := certificates.ReadPair(s.TLSCert, s.TLSKey); err != nil {
		return fmt.Errorf("%s: %w", s.Of("tls-cert"), err)
	}
	if s.TLSClientCA == "" {
		return nil
	}
	if _, err := certificates.ReadAuthorities(s.TLSClientCA); err != nil {
		return fmt.Errorf("%s: %w", s.Of("tls-client-ca"), err)
	}
	return nil
}

// Keys returns the keys of the store; nil where none are named.
func (c *Config) Keys() (*keyring.Ring, error) {
	return api.StoreKeys{StoreKeys: c.StoreKeys, StoreKeysEnv: c.StoreKeysEnv}.Read()
}

// checkStoreKeys reads the keys of the store, unless two places are named.
func (s *Settled) checkStoreKeys() error {
	if s.StoreKeys != "" && s.StoreKeysEnv != "" {
		return nil
	}
	if _, err := s.Keys(); err != nil {
		flag := "store-keys"
		if s.StoreKeysEnv != "" {
			flag = "store-keys-env"
		}
		return fmt.Errorf("%s: %w", s.Of(flag), err)
	}
	return nil
}

// checkTraceFiles reads the files of traces.
func (s *Settled) checkTraceFiles() error {
	if s.TracesEndpoint == "" || len(s.checkTraces(s.Sources)) > 0 {
		return nil
	}
	_, err := s.Traces()
	return err
}

// checkTokens reads the tokens of other clients.
func (s *Settled) checkTokens() error {
	if s.Tokens == "" {
		return nil
	}
	content, err := trusted.Read(s.Tokens, access.MaxTokensBytes+1)
	if err == nil {
		_, err = access.ParseTokens(content)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Of("tokens"), err)
	}
	return nil
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
var keyPath = regexp.MustCompile(`^([A-Za-z0-9_.\[\]-]+):? (.*)$`)

// unknownKey matches a problem with a key that no setting has, after the path of its mapping.
var unknownKey = regexp.MustCompile(`^(?:there is no setting|([A-Za-z0-9_.\[\]-]+) has no key) "([^"]*)"`)

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
			if unknown := unknownKey.FindStringSubmatch(inFile); unknown != nil {
				p.Key = strings.TrimPrefix(unknown[1]+"."+unknown[2], ".")
			} else if parts := keyPath.FindStringSubmatch(inFile); parts != nil {
				p.Key, p.Message = parts[1], parts[2]
			}
		}
		problems = append(problems, p)
	}
	return problems
}
