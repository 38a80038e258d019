package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/compactord/compactord/session/misspelt"
)

// setting is a key of a mapping in the file, and the target of its value.
type setting struct {
	key string
	// into is a pointer to a string, bool, whole number, float64, time.Duration or list of texts, to a pointer to one of
	// these, or to a yaml.Node. It may be marked, as secret or public.
	into any
}

// target returns the pointer of a setting that may be marked.
func (s setting) target() any {
	if m, is := s.into.(marked); is {
		return m.into
	}
	return s.into
}

// decodeSettings decodes a mapping. It returns one error for each problem, under the path of its key. The errors quote
// no value, since it may be a misplaced secret.
func decodeSettings(path string, node *yaml.Node, settings []setting) []error {
	if node.Kind == 0 || node.Tag == "!!null" {
		return nil
	}
	given := make(map[string]yaml.Node)
	if err := node.Decode(&given); err != nil {
		return []error{fmt.Errorf("%s must be a mapping of %s", path, keysOf(settings))}
	}
	var problems []error
	for _, key := range slices.Sorted(maps.Keys(given)) {
		i := slices.IndexFunc(settings, func(s setting) bool { return s.key == key })
		if i < 0 {
			known := strings.Split(keysOf(settings), ", ")
			problems = append(problems, fmt.Errorf("%s has no key %q%s; there are %s", path, key, misspelt.Of(key, known), keysOf(settings)))
			continue
		}
		value := given[key]
		if err := value.Decode(settings[i].target()); err != nil {
			problems = append(problems, fmt.Errorf("%s.%s must be %s", path, key, wantedBy(settings[i].target())))
		}
	}
	return problems
}

func keysOf(settings []setting) string {
	keys := make([]string, 0, len(settings))
	for _, s := range settings {
		keys = append(keys, s.key)
	}
	return strings.Join(keys, ", ")
}

// wantedBy describes the values that a setting accepts.
func wantedBy(into any) string {
	switch into.(type) {
	case *bool, **bool:
		return "true or false"
	case *map[string]yaml.Node:
		return "a mapping of names"
	case **[]string:
		return "a list of texts"
	case *uint32, *int, **uint64, **int:
		return "a whole number"
	case *float64, **float64:
		return "a number"
	case *time.Duration:
		return "a time such as 90s or 2m"
	default:
		return "a text"
	}
}
