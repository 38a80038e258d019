package rawjson

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Unmarshal decodes like json.Unmarshal, but upper and lower case in keys differ, as in an Object: a key that has only
// the letters of a field's key is unknown.
func Unmarshal(raw json.RawMessage, into any) error {
	keys := keysOf(reflect.TypeOf(into))
	if hasMisspelt(raw, keys) && json.Valid(raw) {
		raw = withoutMisspelt(raw, keys)
	}
	return json.Unmarshal(raw, into)
}

// keysByType holds what keysOf returned for each type, since it is called for each event of a stream.
var keysByType sync.Map

// keysOf returns the keys of a type's fields, at all depths.
func keysOf(t reflect.Type) []string {
	known, _ := keysByType.Load(t)
	if keys, ok := known.([]string); ok {
		return keys
	}
	keys := appendKeys(nil, t)
	slices.Sort(keys)
	keys = slices.Compact(keys)
	keysByType.Store(t, keys)
	return keys
}

func appendKeys(keys []string, t reflect.Type) []string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return appendKeys(keys, t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			key, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			keys = appendKeys(append(keys, key), t.Field(i).Type)
		}
		return keys
	default:
		return keys
	}
}

// misspelt says whether a key is one of keys in other letters of the same kind.
func misspelt(key string, keys []string) bool {
	return !slices.Contains(keys, key) && slices.ContainsFunc(keys, func(k string) bool { return strings.EqualFold(k, key) })
}

// hasMisspelt says whether a string in the JSON, which may be a key, is misspelt.
func hasMisspelt(raw json.RawMessage, keys []string) bool {
	for at := 0; at < len(raw); at++ {
		if raw[at] != '"' {
			continue
		}
		end := at + 1
		for end < len(raw) && raw[end] != '"' {
			if raw[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end, len(raw))
		if end-at <= longestKey {
			if text, err := textOf(raw[at:min(end+1, len(raw))]); err != nil || misspelt(text, keys) {
				return true
			}
		}
		at = end
	}
	return false
}

// longestKey is more bytes than a misspelt key of a provider can have, if each of its letters is escaped.
const longestKey = 400

// withoutMisspelt returns valid JSON without the fields whose keys are misspelt.
func withoutMisspelt(valid json.RawMessage, keys []string) json.RawMessage {
	if o, err := SplitObject(valid); err == nil {
		for key, value := range o {
			if misspelt(key, keys) {
				delete(o, key)
				continue
			}
			o[key] = withoutMisspelt(value, keys)
		}
		return o.Encode()
	}
	if elements, err := SplitArray(valid); err == nil {
		for i, element := range elements {
			elements[i] = withoutMisspelt(element, keys)
		}
		return EncodeArray(elements)
	}
	return valid
}
