package dialecttest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// unknownKey is no key of any provider.
const unknownKey = "of_no_provider"

// keysInOtherLetters checks that keys in other letters, such as "Role" and "CONTENT", are read like any unknown key: they
// do not change what an answer is read as. It tries each key of some answers, streamed or not.
func keysInOtherLetters(t *testing.T, d dialect.Dialect) {
	t.Helper()
	type answer struct {
		body   json.RawMessage
		events []json.RawMessage
	}
	answers := rapid.Custom(func(t *rapid.T) answer {
		body, events := StreamOf(t, d.Kind())
		return answer{body, events}
	})
	tried := map[string]bool{}
	// Each key is tried once in bodies and events of one shape.
	try := func(kind string, original json.RawMessage, read func(json.RawMessage) reading) {
		kind += shapeOf(original)
		eachObject(original, "", func(path string, o rawjson.Object, within func(json.RawMessage) json.RawMessage) {
			for _, key := range slices.Sorted(maps.Keys(o)) {
				at := path + "." + key
				if tried[kind+at] || key == "" || unicode.IsUpper(rune(key[0])) {
					continue
				}
				tried[kind+at] = true
				without := maps.Clone(o)
				delete(without, key)
				for _, other := range inOtherLetters(key) {
					if _, ok := o[other]; ok {
						continue
					}
					for _, last := range []bool{false, true} {
						beside := func(name string) reading { return read(within(withField(o, name, unlike(o[key]), last))) }
						require.Equal(t, beside(unknownKey), beside(other), "%q beside %s in %s", other, at, original)
						alone := func(name string) reading { return read(within(withField(without, name, o[key], last))) }
						require.Equal(t, alone(unknownKey), alone(other), "%q in place of %s in %s", other, at, original)
					}
				}
			}
		})
	}
	for seed := range 12 {
		a := answers.Example(seed)
		try("body", a.body, func(body json.RawMessage) reading { return readBody(d, body) })
		for i, event := range a.events {
			try("event", event, func(event json.RawMessage) reading {
				events := slices.Clone(a.events)
				events[i] = event
				return readEvents(d, events)
			})
		}
	}
	require.Greater(t, len(tried), 20)
}

// reading is what an answer is read as, by the reader of answers and by the parser.
type reading struct {
	text   string
	answer dialect.Answer
	// isAnswer reports whether the reader accepts the answer.
	isAnswer bool
	// parsed are the message's texts, model, usage, stop reason and kinds of parts, or the word "error".
	parsed string
}

func readBody(d dialect.Dialect, body json.RawMessage) reading {
	reader := d.NewAnswer()
	piece, ok := reader.Body(body)
	return reading{piece.Text, *reader.Answer(), ok, parsedAs(d, body)}
}

func readEvents(d dialect.Dialect, events []json.RawMessage) reading {
	reader := d.NewAnswer()
	var text strings.Builder
	ok := true
	for _, event := range events {
		piece, err := reader.Event(event)
		ok = ok && err == nil
		text.WriteString(piece.Text)
		if piece.Last {
			break
		}
	}
	return reading{text.String(), *reader.Answer(), ok, parsedAs(d, rawjson.EncodeArray(events))}
}

// parsedAs describes what the parser reads.
func parsedAs(d dialect.Dialect, raw []byte) string {
	parsed, err := d.Parse(raw)
	if err != nil {
		return "error"
	}
	var b strings.Builder
	for _, m := range parsed.Messages {
		u := m.GetUsage()
		fmt.Fprintln(&b, m.GetRole(), m.GetModel(), m.GetStopReason(), textsIn(m), u.GetInputTokens(), u.GetOutputTokens(),
			u.GetCacheReadTokens(), u.GetCacheWriteTokens(), u.GetTotalTokens())
		for _, p := range m.GetParts() {
			fmt.Fprintf(&b, "%T\n", p.GetKind())
		}
	}
	return b.String()
}

// eachObject calls yield for each object in a JSON value, with its path, and a function that returns the whole value
// with other JSON in place of the object.
func eachObject(
	raw json.RawMessage, path string, yield func(path string, o rawjson.Object, within func(json.RawMessage) json.RawMessage),
) {
	var walk func(raw json.RawMessage, path string, within func(json.RawMessage) json.RawMessage)
	walk = func(raw json.RawMessage, path string, within func(json.RawMessage) json.RawMessage) {
		for i, element := range elementsOf(raw) {
			walk(element, path+"[]", func(changed json.RawMessage) json.RawMessage {
				elements := slices.Clone(elementsOf(raw))
				elements[i] = changed
				return within(rawjson.EncodeArray(elements))
			})
		}
		if !dialect.IsObject(raw) {
			return
		}
		o := fieldsOf(raw)
		yield(path, o, within)
		for _, key := range slices.Sorted(maps.Keys(o)) {
			walk(o[key], path+"."+key, func(changed json.RawMessage) json.RawMessage {
				fields := maps.Clone(o)
				fields[key] = changed
				return within(fields.Encode())
			})
		}
	}
	walk(raw, path, func(changed json.RawMessage) json.RawMessage { return changed })
}

// shapeOf returns a JSON value without its texts and numbers.
func shapeOf(raw json.RawMessage) string {
	switch rawjson.KindOf(raw) {
	case rawjson.Array:
		shapes := map[string]bool{}
		for _, element := range elementsOf(raw) {
			shapes[shapeOf(element)] = true
		}
		return fmt.Sprint(slices.Sorted(maps.Keys(shapes)))
	case rawjson.ObjectKind:
		shapes := map[string]string{}
		for key, value := range fieldsOf(raw) {
			shapes[key] = shapeOf(value)
		}
		return fmt.Sprint(shapes)
	default:
		return string(rawjson.KindOf(raw))
	}
}

// inOtherLetters returns a key with other letters that encoding/json takes for the same: with capitals, and with the
// characters beyond ASCII that are capitals or small letters of s and k.
func inOtherLetters(key string) []string {
	all := []string{
		strings.ToUpper(key[:1]) + key[1:], strings.ToUpper(key), strings.ToLower(key), strings.NewReplacer("s", "ſ", "k", "\u212a").Replace(key),
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(other string) bool { return other == key })
}

// withField returns an object with one more field, as the last one or as the first.
func withField(o rawjson.Object, key string, value json.RawMessage, last bool) json.RawMessage {
	field := string(rawjson.Quote(key)) + ":" + string(value)
	fields := strings.TrimSuffix(strings.TrimPrefix(string(o.Encode()), "{"), "}")
	switch {
	case fields == "":
		return raw("{" + field + "}")
	case last:
		return raw("{" + fields + "," + field + "}")
	default:
		return raw("{" + field + "," + fields + "}")
	}
}

// unlike returns another value of the same kind.
func unlike(value json.RawMessage) json.RawMessage {
	switch rawjson.KindOf(value) {
	case rawjson.String:
		return raw(`"another"`)
	case rawjson.Number:
		return raw(`7777777`)
	case rawjson.Bool:
		return raw(fmt.Sprint(string(value) != "true"))
	case rawjson.Array:
		return raw(`[]`)
	default:
		return raw(`{}`)
	}
}
