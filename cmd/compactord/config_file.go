package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"github.com/compactord/compactord/dialects/overflow"
)

// settings are those of a YAML file, by key.
type settings map[string]any

// readSettings reads a YAML file, and what it adds to the rules of errors. What it does not know is an error: a key that
// is spelt wrong must not quietly leave a setting at its default.
func readSettings(path string, flags []string) (settings, overflow.Extra, error) {
	var none overflow.Extra
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, none, unreadable(path, err)
	}
	var s settings
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	if err := decoder.Decode(&s); err != nil && !errors.Is(err, io.EOF) {
		return nil, none, fmt.Errorf("%s is not a YAML mapping of settings: %w", path, err)
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, none, fmt.Errorf("%s holds more than one YAML document", path)
	}
	known := append(slices.Clone(flags), overflowKey)
	for _, key := range slices.Sorted(maps.Keys(s)) {
		if !slices.Contains(known, key) {
			return nil, none, fmt.Errorf("%s: there is no setting %q; there are %s", path, key, strings.Join(known, ", "))
		}
		switch s[key].(type) {
		case string, int, bool:
		default:
			if key != overflowKey {
				return nil, none, fmt.Errorf("%s: %s must be a text, a number, or true or false", path, key)
			}
		}
	}
	extra, err := readOverflow(s[overflowKey])
	if err != nil {
		return nil, none, fmt.Errorf("%s: %w", path, err)
	}
	delete(s, overflowKey)
	return s, extra, nil
}

// settingKeys are the keys that a YAML file may hold for flags, in the order of Config.
func settingKeys() []string {
	var keys []string
	for field := range reflect.TypeFor[Config]().Fields() {
		keys = append(keys, settingKey(field.Name))
	}
	return keys
}

// settingKey is the key of a field of Config: its flag, with underscores.
func settingKey(field string) string {
	var b strings.Builder
	for i, r := range field {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

// Validate is part of kong.Resolver.
func (s settings) Validate(*kong.Application) error { return nil }

// Resolve gives kong the value of a flag that is not on the command line. The environment comes before the file.
func (s settings) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return nil, nil
		}
	}
	value, ok := s[strings.ReplaceAll(flag.Name, "-", "_")]
	if !ok {
		return nil, nil
	}
	return fmt.Sprint(value), nil
}
