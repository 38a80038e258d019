package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/dialects/overflow"
	"github.com/compactord/compactord/service/trusted"
	"github.com/compactord/compactord/summarizers"
)

// maxFileBytes is more than any file of settings has.
const maxFileBytes = 4 << 20

// settings are the keys and values of a YAML file.
type settings map[string]any

// File is a YAML file: the settings that are flags too, and those that are not.
type File struct {
	Settings settings
	// Overflow adds to the rules of ClassifyError.
	Overflow overflow.Extra
	// profiles are the models that write summaries, sorted by name.
	profiles []*profile
}

// ReadFile reads a YAML file. An unknown key is an error: a misspelt key must not leave a setting at its default.
func ReadFile(path string) (*File, error) {
	s, err := readSettings(path)
	if err != nil {
		return nil, err
	}
	file := &File{Settings: s}
	var problems [2]error
	file.Overflow, problems[0] = readOverflow(s[overflowKey])
	file.profiles, problems[1] = readSummarizers(s[summarizersKey])
	delete(s, overflowKey)
	delete(s, summarizersKey)
	if err := errors.Join(problems[:]...); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// Models returns the summarizers that the file names. It reads their API keys.
func (f *File) Models() ([]summarizers.Summarizer, error) {
	return models(f.profiles, f.Overflow)
}

// CheckSummarizer returns an error that lists the summarizers if none has this name.
func (f *File) CheckSummarizer(flag, name string) error {
	return checkSummarizer(flag, name, f.profiles)
}

// LogModels logs the models, without their addresses and keys.
func (f *File) LogModels(ctx context.Context, logger *slog.Logger, defaultSummarizer string) {
	for _, p := range f.profiles {
		logger.InfoContext(ctx, "summarizer", "name", p.name, "kind", p.kind, "model", p.model,
			"default", p.name == defaultSummarizer)
	}
}

func readSettings(path string) (settings, error) {
	content, err := trusted.Read(path, maxFileBytes+1)
	if err != nil {
		return nil, terminal.Unreadable(path, err)
	}
	if len(content) > maxFileBytes {
		return nil, fmt.Errorf("%s has more than %s bytes", path, terminal.Number(maxFileBytes))
	}
	var s settings
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	if err := decoder.Decode(&s); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s is not a YAML mapping of settings: %w", path, err)
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s has more than one YAML document", path)
	}
	mappings := []string{overflowKey, summarizersKey}
	known := append(settingKeys(), mappings...)
	for _, key := range slices.Sorted(maps.Keys(s)) {
		if !slices.Contains(known, key) {
			return nil, fmt.Errorf("%s: there is no setting %q; there are %s", path, key, strings.Join(known, ", "))
		}
		switch s[key].(type) {
		case string, int, float64, bool:
		default:
			if !slices.Contains(mappings, key) {
				return nil, fmt.Errorf("%s: %s must be a text, a number, or true or false", path, key)
			}
		}
	}
	return s, nil
}

// settingKeys returns the keys of the settings that are flags, in the order of Config: the flags' names with underscores,
// which their variables have too.
func settingKeys() []string {
	var keys []string
	for field := range reflect.TypeFor[Config]().Fields() {
		keys = append(keys, strings.ToLower(strings.TrimPrefix(field.Tag.Get("env"), variablePrefix)))
	}
	return keys
}

// variablePrefix is what the names of all variables begin with.
const variablePrefix = "COMPACTORD_"

// Validate is part of kong.Resolver.
func (s settings) Validate(*kong.Application) error { return nil }

// Resolve returns the value of a flag that is not on the command line. The environment takes precedence over the file.
func (s settings) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return nil, nil
		}
	}
	value, ok := s[keyOf(flag.Name)]
	if !ok {
		return nil, nil
	}
	return fmt.Sprint(value), nil
}
