package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/dialects/overflow"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/policies"
	"github.com/compactord/compactord/service/retention"
	"github.com/compactord/compactord/service/trusted"
	"github.com/compactord/compactord/session/misspelt"
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
	// Retention says which sessions are deleted by themselves.
	Retention retention.Policy
	// sections are the values of the keys that are no flags.
	sections settings
	// profiles are the models that write summaries, sorted by name.
	profiles []*profile
	// jwt is nil where no JWTs are accepted.
	jwt *access.JWT
	// quotas bound what each tenant takes.
	quotas quotas
	// policies are the named policies, and the defaults of tenants.
	policies policies.Set
	// unread says that nothing of the file could be read.
	unread bool
}

// ReadFile reads a YAML file. An unknown key is an error: a misspelt key must not leave a setting at its default.
func ReadFile(path string) (*File, error) {
	file, problems := readFile(path)
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return file, nil
}

// readFile reads a YAML file, and returns every problem with it under its path. What can be read is in the file all the
// same.
func readFile(path string) (*File, []error) {
	s, problems := readSettings(path)
	file := &File{Settings: s, sections: settings{}, unread: s == nil && len(problems) > 0}
	for _, key := range sectionKeys {
		if section, there := s[key]; there {
			file.sections[key] = section
			delete(s, key)
		}
	}
	var err error
	if file.Overflow, err = readOverflow(file.sections[overflowKey]); err != nil {
		problems = append(problems, err)
	}
	if file.Retention, err = readRetention(file.sections[retentionKey]); err != nil {
		problems = append(problems, err)
	}
	if file.profiles, err = readSummarizers(file.sections[summarizersKey]); err != nil {
		problems = append(problems, err)
	}
	if file.quotas, err = readQuotas(file.sections[quotasKey]); err != nil {
		problems = append(problems, err)
	}
	if file.jwt, err = readJWT(file.sections[jwtKey]); err != nil {
		problems = append(problems, err)
	}
	problems = append(problems, file.readPolicies()...)
	return file, beginning(path, problems)
}

// beginning puts the path of a file before each of its problems that does not name it.
func beginning(path string, problems []error) []error {
	problems = each(errors.Join(problems...))
	for i, problem := range problems {
		if !strings.Contains(problem.Error(), path) {
			problems[i] = fmt.Errorf("%s: %w", path, problem)
		}
	}
	return problems
}

// each returns the errors of which an error is joined.
func each(err error) []error {
	if err == nil {
		return nil
	}
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return []error{err}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, each(one)...)
	}
	return all
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

// sectionKeys are the keys of the file that are no flags.
var sectionKeys = []string{jwtKey, policiesKey, tenantPoliciesKey, overflowKey, quotasKey, retentionKey, summarizersKey}

// readSettings reads the keys that are known, and returns every problem.
func readSettings(path string) (settings, []error) {
	content, err := trusted.Read(path, maxFileBytes+1)
	if err != nil {
		return nil, []error{terminal.Unreadable(path, err)}
	}
	if len(content) > maxFileBytes {
		return nil, []error{fmt.Errorf("%s has more than %s bytes", path, terminal.Number(maxFileBytes))}
	}
	var s settings
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	if err := decoder.Decode(&s); err != nil && !errors.Is(err, io.EOF) {
		return nil, []error{fmt.Errorf("%s is not a YAML mapping of settings: %w", path, err)}
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, []error{fmt.Errorf("%s has more than one YAML document", path)}
	}
	known := append(settingKeys(), sectionKeys...)
	var problems []error
	for _, key := range slices.Sorted(maps.Keys(s)) {
		if problem := checkKey(known, key, s[key]); problem != nil {
			problems = append(problems, problem)
			delete(s, key)
		}
	}
	return s, problems
}

// checkKey returns an error for a key that is unknown, and for a value that no flag can have.
func checkKey(known []string, key string, value any) error {
	if !slices.Contains(known, key) {
		return fmt.Errorf("there is no setting %q%s; there are %s", key, misspelt.Of(key, known), strings.Join(known, ", "))
	}
	switch value := value.(type) {
	case string, int, float64, bool:
		return nil
	case []any:
		if slices.Contains(listKeys(), key) {
			return checkTexts(key, value)
		}
	}
	if slices.Contains(sectionKeys, key) {
		return nil
	}
	return fmt.Errorf("%s must be a text, a number, or true or false", key)
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
