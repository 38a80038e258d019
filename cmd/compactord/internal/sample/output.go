package sample

import (
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// Document decodes the one JSON document that must be all of stdout.
func Document(t *testing.T, out string) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(out))
	var doc map[string]any
	require.NoError(t, decoder.Decode(&doc), out)
	require.ErrorIs(t, decoder.Decode(new(any)), io.EOF, "more than one document")
	return doc
}

// At follows keys into a document.
func At(t *testing.T, doc any, keys ...string) any {
	t.Helper()
	for _, key := range keys {
		object, ok := doc.(map[string]any)
		require.True(t, ok, "no object that could hold %s", key)
		require.Contains(t, object, key)
		doc = object[key]
	}
	return doc
}

// HintIn finds commands in what was printed: a hint ends its line.
var HintIn = regexp.MustCompile(`(?m)(?:^  |: )((?:COMPACTORD_ADDR= )?compactord [a-z]+.*)$`)

// Unquoted takes a line apart as a shell does that knows single quotes and the backslash.
func Unquoted(line string) []string {
	var words []string
	var word strings.Builder
	quote, begun := false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote && c == '\'':
			quote = false
		case quote:
			word.WriteByte(c)
		case c == '\'':
			quote, begun = true, true
		case c == '\\':
			i++
			word.WriteByte(line[i])
		case c == ' ':
			words = append(words, word.String())
			word.Reset()
			begun = false
		default:
			begun = true
			word.WriteByte(c)
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}

// FirstWords are the first words of lines.
func FirstWords(lines string) []string {
	var words []string
	for line := range strings.Lines(lines) {
		words = append(words, strings.Fields(line)[0])
	}
	return words
}

// Contains demands a part of a text, and shows no more of a long text than a person reads.
func Contains(t *testing.T, text, part string) {
	t.Helper()
	const most = 2000
	if !strings.Contains(text, part) {
		require.Failf(t, "a text is missing", "%q is not in: %.*s", part, most, text)
	}
}

// Narrow demands that a text fits into 100 columns, but for commands to paste, which are in one line.
func Narrow(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "  compactord ") {
			continue
		}
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), 100, line)
	}
}

// Elements are those of a list in a document.
func Elements(t *testing.T, doc map[string]any, key string) []any {
	t.Helper()
	list, ok := At(t, doc, key).([]any)
	require.True(t, ok, "%s is no list", key)
	require.NotEmpty(t, list)
	return list
}
