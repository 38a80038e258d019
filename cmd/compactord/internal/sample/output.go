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

// Document decodes stdout, which must be exactly one JSON document.
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

// HintIn matches commands in the output. A command ends its line.
var HintIn = regexp.MustCompile(`(?m)(?:^  |: )((?:COMPACTORD_ADDR= )?compactord [a-z]+.*)$`)

// Unquoted splits a line into words as a shell does, with single quotes and backslashes.
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

// FirstWords returns the first word of each line.
func FirstWords(lines string) []string {
	var words []string
	for line := range strings.Lines(lines) {
		words = append(words, strings.Fields(line)[0])
	}
	return words
}

// Contains requires a part of a text. On failure it prints at most 2,000 bytes of the text.
func Contains(t *testing.T, text, part string) {
	t.Helper()
	const most = 2000
	if !strings.Contains(text, part) {
		require.Failf(t, "a text is missing", "%q is not in: %.*s", part, most, text)
	}
}

// Narrow requires that the lines of a text have at most 100 columns, except commands to paste.
func Narrow(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "  compactord ") {
			continue
		}
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), 100, line)
	}
}

// Elements returns the list under a key of a document.
func Elements(t *testing.T, doc map[string]any, key string) []any {
	t.Helper()
	list, ok := At(t, doc, key).([]any)
	require.True(t, ok, "%s is no list", key)
	require.NotEmpty(t, list)
	return list
}
