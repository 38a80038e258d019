package config

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/compactord/compactord/dialects/overflow"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// overflowKey is the key of the file that holds patterns of errors.
const overflowKey = "overflow"

// overflowSettings are the patterns that the file adds to the rules of ClassifyError.
type overflowSettings struct {
	Patterns   []overflowEntry `yaml:"patterns"`
	Exclusions []overflowEntry `yaml:"exclusions"`
}

type overflowEntry struct {
	ID      string `yaml:"id"`
	Pattern string `yaml:"pattern"`
	Class   string `yaml:"class"`
}

// readOverflow reads the setting from its YAML value; nil means none.
func readOverflow(setting any) (overflow.Extra, error) {
	var extra overflow.Extra
	if setting == nil {
		return extra, nil
	}
	var s overflowSettings
	err := decodeStrictly(overflowKey, "patterns and exclusions, lists of id, pattern and class", setting, &s)
	if err != nil {
		return extra, err
	}
	patterns, problems := overflowPatterns("patterns", s.Patterns)
	exclusions, more := overflowPatterns("exclusions", s.Exclusions)
	problems = append(problems, more...)
	extra = overflow.Extra{Patterns: patterns, Exclusions: exclusions}
	_, err = overflow.New(extra)
	for _, problem := range each(err) {
		problems = append(problems, fmt.Errorf("%s.%w", overflowKey, problem))
	}
	if len(problems) > 0 {
		// Whoever uses the rules would report the same problems again.
		return overflow.Extra{}, errors.Join(problems...)
	}
	return extra, nil
}

// overflowPatterns returns a list of patterns, and a problem for each class that is none.
func overflowPatterns(list string, entries []overflowEntry) (patterns []overflow.Pattern, problems []error) {
	for i, e := range entries {
		class := compactordv1.ErrorClass_value["ERROR_CLASS_"+strings.ToUpper(e.Class)]
		if e.Class != "" && (class == 0 || e.Class != strings.ToLower(e.Class)) {
			problems = append(problems, fmt.Errorf("%s.%s[%d]: id %q: there is no class %q", overflowKey, list, i, e.ID, e.Class))
			class = 0
		}
		patterns = append(patterns, overflow.Pattern{
			ID: e.ID, Expression: e.Pattern, Class: compactordv1.ErrorClass(class),
		})
	}
	return patterns, problems
}

// withoutLines removes the line numbers, which are not those of the file.
func withoutLines(err error) error {
	var wrong *yaml.TypeError
	if !errors.As(err, &wrong) {
		return err
	}
	texts := make([]string, 0, len(wrong.Errors))
	for _, text := range wrong.Errors {
		_, what, _ := strings.Cut(text, ": ")
		texts = append(texts, what)
	}
	return errors.New(strings.Join(texts, "; "))
}
