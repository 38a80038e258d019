package dialecttest

import (
	"encoding/json"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// mutate changes one place of a JSON value, mostly a deep one.
func mutate(t *rapid.T, value json.RawMessage) json.RawMessage {
	value = trimmed(value)
	if chance(t, 15) {
		return replacement(t)
	}
	switch rawjson.KindOf(value) {
	case rawjson.ObjectKind:
		o, err := rawjson.ParseObject(value)
		if err != nil || len(o) == 0 {
			return replacement(t)
		}
		return mutateObject(t, o)
	case rawjson.Array:
		list, err := rawjson.ParseArray(value)
		if err != nil || len(list) == 0 {
			return replacement(t)
		}
		return rawjson.EncodeArray(mutateList(t, list))
	default:
		return replacement(t)
	}
}

func trimmed(value json.RawMessage) json.RawMessage {
	var compact json.RawMessage
	if json.Unmarshal(value, &compact) != nil {
		return value
	}
	return compact
}

func mutateObject(t *rapid.T, o rawjson.Object) json.RawMessage {
	keys := slices.Sorted(maps.Keys(o))
	key := oneOf(t, keys)
	switch dice(t, 8) {
	case 6:
		delete(o, key)
	case 7:
		o[oneOf(t, wordsOfDialects)] = replacement(t)
	default:
		o[key] = mutate(t, o[key])
	}
	return o.Encode()
}

func mutateList(t *rapid.T, list []json.RawMessage) []json.RawMessage {
	list = slices.Clone(list)
	at, other := dice(t, len(list)), dice(t, len(list))
	switch dice(t, 10) {
	case 5:
		return slices.Delete(list, at, at+1)
	case 6:
		return slices.Insert(list, other, list[at])
	case 7:
		list[at], list[other] = list[other], list[at]
	case 8:
		return slices.Insert(list, at, replacement(t))
	default:
		list[at] = mutate(t, list[at])
	}
	return list
}

// wordsOfDialects are fields, types and roles of the dialects.
var wordsOfDialects = []string{
	"role", "content", "parts", "type", "text", "id", "call_id", "tool_call_id", "tool_use_id", "tool_calls", "system",
	"user", "assistant", "model", "tool", "function", "developer", "function_call", "function_call_output", "reasoning",
	"message", "tool_use", "tool_result", "thinking", "redacted_thinking", "image", "input_text", "output_text", "refusal",
	"functionCall", "functionResponse", "inlineData", "thought", "arguments", "input", "output", "name", "source", "data",
	"messages", "contents", "choices", "candidates", "cache_control", "signature", "is_error", "summary", "server_tool_use",
}

func replacement(t *rapid.T) json.RawMessage {
	if chance(t, 50) {
		return rawjson.Quote(oneOf(t, wordsOfDialects))
	}
	return arbitrary(t, 2)
}

// arbitrary draws any JSON value, with fields of the dialects.
func arbitrary(t *rapid.T, depth int) json.RawMessage {
	if depth == 0 || chance(t, 20) {
		return raw(oneOf(t, append([]string{`"a"`, `"user"`, "0", "[]", "{}", `[""]`}, oddValues...)))
	}
	if chance(t, 40) {
		var list []json.RawMessage
		for range dice(t, 4) {
			list = append(list, arbitrary(t, depth-1))
		}
		return rawjson.EncodeArray(list)
	}
	o := rawjson.Object{}
	for range dice(t, 5) {
		key := oneOf(t, wordsOfDialects)
		if o[key] = arbitrary(t, depth-1); key == "role" || key == "type" {
			o[key] = rawjson.Quote(oneOf(t, wordsOfDialects))
		}
	}
	return o.Encode()
}
