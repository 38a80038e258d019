package dialect

import (
	"encoding/json"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// RawArgumentsKey is the field that holds arguments that are no JSON object, where the provider demands an object.
const RawArgumentsKey = "_raw"

// ArgumentsObject returns a call's arguments as a JSON object. Arguments that are no object become an object that holds
// them as text, and changed is true.
func ArgumentsObject(arguments string) (object json.RawMessage, changed bool) {
	raw := json.RawMessage(trimSpace(arguments))
	if len(raw) == 0 {
		return json.RawMessage("{}"), false
	}
	if rawjson.KindOf(raw) == rawjson.ObjectKind && rawjson.Valid(raw) {
		return raw, false
	}
	return rawjson.Object{RawArgumentsKey: rawjson.Quote(arguments)}.Encode(), true
}

func trimSpace(text string) string {
	first, end := 0, len(text)
	for first < end && isSpace(text[first]) {
		first++
	}
	for first < end && isSpace(text[end-1]) {
		end--
	}
	return text[first:end]
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }
