package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// listKeys returns the keys of the settings that are lists of texts: flags that may be repeated. In the environment a comma
// is between the texts; in the file they can be a list.
func listKeys() []string {
	var keys []string
	fields, all := reflect.TypeFor[Config](), settingKeys()
	for i, key := range all {
		if fields.Field(i).Type.Kind() == reflect.Slice {
			keys = append(keys, key)
		}
	}
	return keys
}

// checkTexts returns an error for a list of the file that has something else than texts without commas.
func checkTexts(key string, values []any) error {
	isNone := func(value any) bool {
		text, is := value.(string)
		return !is || strings.Contains(text, ",")
	}
	if slices.ContainsFunc(values, isNone) {
		return fmt.Errorf("%s must be a list of texts without commas", key)
	}
	return nil
}

// textOf returns a value of the file as the environment would have it.
func textOf(value any) string {
	values, is := value.([]any)
	if !is {
		return fmt.Sprint(value)
	}
	texts := make([]string, 0, len(values))
	for _, one := range values {
		texts = append(texts, fmt.Sprint(one))
	}
	return strings.Join(texts, ",")
}
