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
	if extra.Patterns, err = overflowPatterns("patterns", s.Patterns); err != nil {
		return extra, err
	}
	if extra.Exclusions, err = overflowPatterns("exclusions", s.Exclusions); err != nil {
		return extra, err
	}
	if _, err := overflow.New(extra); err != nil {
		return extra, fmt.Errorf("%s.%w", overflowKey, err)
	}
	return extra, nil
}

func overflowPatterns(list string, entries []overflowEntry) ([]overflow.Pattern, error) {
	patterns := make([]overflow.Pattern, 0, len(entries))
	for i, e := range entries {
		class := compactordv1.ErrorClass_value["ERROR_CLASS_"+strings.ToUpper(e.Class)]
		if e.Class != "" && (class == 0 || e.Class != strings.ToLower(e.Class)) {
			return nil, fmt.Errorf("%s.%s[%d]: id %q: there is no class %q", overflowKey, list, i, e.ID, e.Class)
		}
		patterns = append(patterns, overflow.Pattern{
			ID: e.ID, Expression: e.Pattern, Class: compactordv1.ErrorClass(class),
		})
	}
	return patterns, nil
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
