package extractive

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// argument is one field of a tool call's arguments. Its value is raw JSON.
type argument struct {
	key, raw string
}

// maxArguments limits how many fields of one call are read.
const maxArguments = 64

// argumentsOf reads the fields of the object that a tool was called with. Models also write invalid JSON: it then reads
// the fields before the error.
func argumentsOf(args string) []argument {
	i := skipSpace(args, 0)
	if i >= len(args) || args[i] != '{' {
		return nil
	}
	i++
	var list []argument
	for len(list) < maxArguments {
		i = skipSpace(args, i)
		if i < len(args) && args[i] == ',' {
			i = skipSpace(args, i+1)
		}
		if i >= len(args) || args[i] != '"' {
			break
		}
		end := skipString(args, i)
		key := args[i+1 : max(i+1, end-1)]
		i = skipSpace(args, end)
		if i >= len(args) || args[i] != ':' {
			break
		}
		i = skipSpace(args, i+1)
		end = skipValue(args, i)
		list = append(list, argument{key, args[i:end]})
		i = end
	}
	return list
}

// ownArguments returns the fields of the arguments of a call that is kept. Of long arguments, each has its own memory, so
// that what is kept of one does not hold all others.
func ownArguments(args string) []argument {
	list := argumentsOf(args)
	if len(args) > minLong {
		for i, a := range list {
			list[i] = argument{strings.Clone(a.key), strings.Clone(a.raw)}
		}
	}
	return list
}

// shortArguments returns arguments of which the long ones have only as much as is read of them, and a sum by which they
// differ.
func shortArguments(args []argument) []argument {
	short := slices.Clone(args)
	for i, a := range short {
		a.raw = compacted(a.raw)
		short[i].raw = a.raw
		if len(a.raw) > maxValue {
			sum := fnv.New64a()
			_, _ = io.WriteString(sum, a.raw)
			short[i].raw = clip(a.raw, maxValue) + strconv.FormatUint(sum.Sum64(), 16)
		}
	}
	return short
}

// compacted returns a list or an object without the white space between its parts, in which models write it now so and now
// so.
func compacted(raw string) string {
	if raw == "" || raw[0] != '[' && raw[0] != '{' {
		return raw
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(raw)) != nil {
		return raw
	}
	return b.String()
}

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the end of the string that begins at i.
func skipString(s string, i int) int {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(s)
}

// skipValue returns the end of the value that begins at i.
func skipValue(s string, i int) int {
	depth := 0
	for i < len(s) {
		switch s[i] {
		case '"':
			i = skipString(s, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			if depth == 0 {
				return i + 1
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// maxValue is how many bytes of a string value are decoded.
const maxValue = 16 << 10

// text returns the value as a person would write it: a string decoded, up to a limit, and any other value unchanged.
func (a argument) text() string {
	raw := a.raw
	if raw == "" || raw[0] != '"' {
		return strings.TrimSpace(clip(raw, maxValue))
	}
	if strings.IndexByte(raw, '\\') < 0 {
		return clip(strings.Trim(raw, `"`), maxValue)
	}
	if len(raw) > maxValue {
		raw = raw[:maxValue]
		// The cut must not leave half an escape or half a character at the end.
		for i := 0; i < utf8.UTFMax && !utf8.RuneStart(raw[len(raw)-1]); i++ {
			raw = raw[:len(raw)-1]
		}
		raw = raw[:len(raw)-1]
		if i := strings.LastIndexByte(raw, '\\'); i >= len(raw)-12 && i > 0 {
			raw = raw[:i]
			raw = strings.TrimRight(raw, `\`)
		}
		raw += `"`
	}
	if text, ok := unquote(raw); ok {
		return text
	}
	return clip(strings.Trim(raw, `"`), maxValue)
}

// isString says whether the value is a string.
func (a argument) isString() bool { return strings.HasPrefix(a.raw, `"`) }

// find returns the first of the named fields that exists and is not empty.
func find(args []argument, keys ...string) (argument, bool) {
	for _, key := range keys {
		for _, a := range args {
			if a.key == key && a.raw != "" && a.raw != `""` && a.raw != "null" {
				return a, true
			}
		}
	}
	return argument{}, false
}

// strings returns the elements of an array of strings.
func (a argument) strings() []string {
	var list []string
	if len(a.raw) > maxValue || !strings.HasPrefix(a.raw, "[") || json.Unmarshal([]byte(a.raw), &list) != nil {
		return nil
	}
	return list
}

// eachString calls yield for each string in a tool call's arguments that is no key. Arguments that are not JSON are one
// string.
func eachString(arguments string, yield func(text string)) {
	if !strings.HasPrefix(arguments[skipSpace(arguments, 0):], "{") {
		yield(arguments)
		return
	}
	for i := 0; i < len(arguments); {
		open := strings.IndexByte(arguments[i:], '"')
		if open < 0 {
			return
		}
		open += i
		end := skipString(arguments, open)
		i = skipSpace(arguments, end)
		if i < len(arguments) && arguments[i] == ':' {
			continue
		}
		if text, ok := unquote(arguments[open:end]); ok {
			yield(text)
		}
	}
}

// unquote decodes a JSON string. Go's own escapes are decoded much faster, and most of JSON's are the same.
func unquote(quoted string) (text string, ok bool) {
	if !strings.Contains(quoted, `\`) {
		return strings.Trim(quoted, `"`), true
	}
	if text, ok := unquoteLines(quoted); ok {
		return text, true
	}
	if text, err := strconv.Unquote(quoted); err == nil {
		return text, true
	}
	return text, json.Unmarshal([]byte(quoted), &text) == nil
}

// unquoteLines decodes a string whose escapes are line breaks, tabs, quotation marks and backslashes, as those of most
// texts and programs are. It copies what is between them as a whole. It returns false for any other string.
func unquoteLines(quoted string) (text string, ok bool) {
	rest, opened := strings.CutPrefix(quoted, `"`)
	rest, closed := strings.CutSuffix(rest, `"`)
	if !opened || !closed || strings.IndexByte(rest, '\n') >= 0 || !utf8.ValidString(rest) {
		return "", false
	}
	var b strings.Builder
	b.Grow(len(rest))
	for {
		plain, escaped, found := strings.Cut(rest, `\`)
		if strings.IndexByte(plain, '"') >= 0 {
			return "", false
		}
		b.WriteString(plain)
		if !found {
			return b.String(), true
		}
		if escaped == "" || escapes[escaped[0]] == 0 {
			return "", false
		}
		b.WriteByte(escapes[escaped[0]])
		rest = escaped[1:]
	}
}

// escapes are the bytes that follow a backslash, with what they stand for.
var escapes = [256]byte{'n': '\n', 't': '\t', 'r': '\r', '"': '"', '\\': '\\'}
