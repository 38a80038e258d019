package extractive_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive/internal/planted"
)

var (
	// joined are words, alone or joined by the signs of paths, identifiers, URLs and versions.
	joined = regexp.MustCompile(`[\pL\pN]+(?:[/\\._:@+-]+[\pL\pN]+)*`)
	// ownNumber is a reference, or how many results there are: the numbers that are the digest's own.
	ownNumber = regexp.MustCompile(`\[[^\]\n]*#\d+[^\]\n]*\]|#\d+|\d+ (?:results|files)\b`)
)

// strangers returns the entities of a digest that are nowhere in its source, or only as a part of a word.
func strangers(digest, source string) []string {
	var found []string
	for _, e := range joined.FindAllString(ownNumber.ReplaceAllString(digest, " "), -1) {
		if strings.ContainsAny(e, `/\._:@+-0123456789`) && !slices.Contains(found, e) && !hasWhole(source, e) {
			found = append(found, e)
		}
	}
	return found
}

// hasWhole reports whether a text has these words, and no letter or digit directly before or after them.
func hasWhole(text, words string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], words)
		if at < 0 {
			return false
		}
		from += at
		before, _ := utf8.DecodeLastRuneInString(text[:from])
		after, _ := utf8.DecodeRuneInString(text[from+len(words):])
		if !wordRune(before) && !wordRune(after) {
			return true
		}
		from += len(words)
	}
}

func wordRune(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// sourceOf returns all text of messages, and the values of JSON within it.
func sourceOf(tb testing.TB, messages []*compactordv1.LoggedMessage) string {
	tb.Helper()
	var source strings.Builder
	for _, l := range messages {
		raw, err := protojson.Marshal(l.GetMessage())
		require.NoError(tb, err)
		writeJSON(&source, raw)
	}
	return source.String()
}

func writeJSON(to *strings.Builder, raw []byte) {
	numbers := json.NewDecoder(bytes.NewReader(raw))
	numbers.UseNumber()
	var value any
	if numbers.Decode(&value) == nil {
		writeValue(to, value)
	}
}

func writeValue(to *strings.Builder, value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, v := range value {
			fmt.Fprintln(to, key)
			writeValue(to, v)
		}
	case []any:
		for _, v := range value {
			writeValue(to, v)
		}
	case string:
		fmt.Fprintln(to, value)
		if strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[") {
			writeJSON(to, []byte(value))
		}
	default:
		fmt.Fprintln(to, value)
	}
}

// Whatever a digest names is in what it was made from: nothing is cut within a word, joined, or made up.
func TestEveryEntityIsInItsSource(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		lang := languages[rapid.SampledFrom(slices.Sorted(maps.Keys(languages))).Draw(rt, "language")]
		rounds := planted.Rounds(rapid.Uint64().Draw(rt, "seed"), lang, 2, oneRound)
		source, text := "", ""
		var earlier []*compactordv1.LoggedMessage
		for _, round := range rounds {
			source += sourceOf(t, round.Messages)
			text = summarize(t, &summarizers.Request{
				Messages: round.Messages, PreviousSummary: text, MaxTokens: rapid.Uint32Range(64, 4000).Draw(rt, "budget"),
				Earlier: earlier[rapid.IntRange(0, len(earlier)).Draw(rt, "earlier"):],
			})
			earlier = append(earlier, round.Messages...)
			require.Empty(rt, strangers(text, source), text)
		}
	})
}

func TestEveryEntityIsInItsSourceOfRecordings(t *testing.T) {
	t.Parallel()
	for _, path := range corpusFiles(t) {
		log, _ := loadConversation(t, path)
		lead, log := splitLead(log)
		source := sourceOf(t, append(slices.Clone(lead), log...))
		for _, budget := range []uint32{300, 1000, 4000} {
			text := summarize(t, &summarizers.Request{Lead: lead, Messages: log, MaxTokens: budget})
			for _, s := range strangers(text, source) {
				t.Errorf("%s at %d: %q", filepath.Base(path), budget, s)
			}
		}
	}
}
