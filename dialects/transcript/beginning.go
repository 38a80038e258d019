package transcript

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// parseBeginning returns the object, or the elements of the array, of a JSON document that can be cut off anywhere.
func parseBeginning(cut []byte) []beginning {
	raw := json.RawMessage(closeOff(cut))
	if o, err := rawjson.ParseObject(raw); err == nil {
		return []beginning{{Object: o}}
	}
	elements, err := rawjson.ParseArray(raw)
	if err != nil {
		return nil
	}
	found := make([]beginning, 0, len(elements))
	for _, element := range elements {
		if o, err := rawjson.ParseObject(element); err == nil {
			found = append(found, beginning{Object: o, array: true})
		}
	}
	return found
}

// closeOff completes a document that is cut off: it ends the document after the last complete value, and closes every
// open bracket. It looks only at brackets and quotes, so the result can be invalid JSON.
func closeOff(cut []byte) []byte {
	var open []byte // the brackets to close
	quoted, escaped, key := false, false, false
	whole := 0
	for i, b := range cut {
		switch {
		case escaped:
			escaped = false
		case quoted && b == '\\':
			escaped = true
		case b == '"':
			quoted = !quoted
			if !quoted && !key {
				whole = i + 1
			}
		case quoted:
		case b == '{', b == '[':
			// In ASCII a closing bracket is the opening one + 2.
			open = append(open, b+2)
			key = b == '{'
			whole = i + 1
		case b == '}', b == ']':
			if len(open) <= 1 {
				return cut[:i+1]
			}
			open = open[:len(open)-1]
			whole = i + 1
		case b == ':':
			key = false
		case b == ',':
			// Only here is it known that a number or a name has ended.
			key = len(open) > 0 && open[len(open)-1] == '}'
			whole = i
		}
	}
	closed := append([]byte(nil), cut[:whole]...)
	for i := len(open) - 1; i >= 0; i-- {
		closed = append(closed, open[i])
	}
	return closed
}
