package sdkcheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// readable decodes JSON without the fields in passedOver. Numbers that no float64 can hold become 0, since the SDKs
// hold arguments in Go's own types.
func readable(raw json.RawMessage, passedOver map[string]bool) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return plain(value, passedOver), nil
}

func plain(value any, passedOver map[string]bool) any {
	switch v := value.(type) {
	case json.Number:
		f, err := strconv.ParseFloat(v.String(), 64)
		if err != nil {
			return 0.0
		}
		return f
	case []any:
		for i := range v {
			v[i] = plain(v[i], passedOver)
		}
	case map[string]any:
		for key := range v {
			if passedOver[key] {
				delete(v, key)
				continue
			}
			v[key] = plain(v[key], passedOver)
		}
	}
	return value
}

// lost returns what of one value is missing in another. A field with the zero value may be missing.
func lost(path string, want, have any) error {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: an object became %T", path, have)
		}
		for _, key := range slices.Sorted(maps.Keys(w)) {
			value, there := h[key]
			if !there && isZero(w[key]) {
				continue
			}
			if !there {
				return fmt.Errorf("%s.%s: is lost", path, key)
			}
			if err := lost(path+"."+key, w[key], value); err != nil {
				return err
			}
		}
		return nil
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			return fmt.Errorf("%s: %d elements became another number or kind", path, len(w))
		}
		for i := range w {
			if err := lost(fmt.Sprintf("%s[%d]", path, i), w[i], h[i]); err != nil {
				return err
			}
		}
		return nil
	case string:
		// A text can stand for a list of one.
		if list, ok := have.([]any); ok && len(list) == 1 {
			return lost(path, map[string]any{"text": w}, list[0])
		}
	}
	if want != have && (!isZero(want) || !isZero(have)) {
		return fmt.Errorf("%s: a %T became another", path, want)
	}
	return nil
}

func isZero(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	default:
		return v == "" || v == false || v == 0.0
	}
}
