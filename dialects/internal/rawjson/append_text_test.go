package rawjson_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// parsersQuote writes a text with encoding/json.
func parsersQuote(t require.TestingT, text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(text))
	return strings.TrimSuffix(b.String(), "\n")
}

// Texts of pieces that need escapes, at any distance from each other, are written as encoding/json writes them.
func TestQuoteIsTheParsersQuote(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"a", "word", "eight by", "\"", `\`, "\n", "\t", "\r", "\b", "\f", "\x00", "\x1f", " ", "\x7f", "\x80", "\xff", "\xe2\x80",
		"\xed\xa0\x80", "é", "修", "😀", "\u2028", "\u2029", "\ufffd", "<&>",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(t, "pieces"), "")
		require.Equal(t, parsersQuote(t, text), string(rawjson.Quote(text)), "%q", text)
	})
	for c := range 256 {
		for before := range 17 {
			text := strings.Repeat("x", before) + string([]byte{byte(c)}) + strings.Repeat("x", 9)
			require.Equal(t, parsersQuote(t, text), string(rawjson.Quote(text)), "%q", text)
		}
	}
}

// An object is written the same, whether a field of it was written before or is written in its place, and holds it then.
func TestFieldsWrittenInTheirPlace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"type", "role", "id", "name", "content", "a", "z", "\""}
		o, want := rawjson.Object{}, rawjson.Object{}
		for _, key := range rapid.SliceOf(rapid.SampledFrom(names)).Draw(t, "fields") {
			o[key], want[key] = json.RawMessage("1"), json.RawMessage("1")
		}
		key, text := rapid.SampledFrom(names).Draw(t, "field"), rapid.String().Draw(t, "text")
		want[key] = rawjson.Quote(text)
		w := rawjson.NewWriter(0)
		require.Equal(t, string(want.Encode()), string(w.ObjectWithText(o, key, text)))
		require.Equal(t, want, o)
	})
}

func TestNumbersAreFoundAnywhere(t *testing.T) {
	t.Parallel()
	for length := range 30 {
		text := strings.Repeat(`\n`, length) + "u"
		require.False(t, rawjson.HasNumbers(json.RawMessage(text)))
		for at := range length + 1 {
			for _, other := range []string{"u", `\`} {
				with := strings.Repeat(other, at) + `\u` + strings.Repeat("x", length-at)
				require.True(t, rawjson.HasNumbers(json.RawMessage(with)), with)
			}
		}
	}
}

func FuzzQuote(f *testing.F) {
	for _, seed := range []string{"", "plain", "\"\\\n\x01", "é\xff\u2028", "12345678\"2345678"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		require.Equal(t, parsersQuote(t, text), string(rawjson.Quote(text)))
	})
}

func BenchmarkQuote(b *testing.B) {
	text := strings.Repeat("The quick brown fox said: \"jump\".\n", 116)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		rawjson.Quote(text)
	}
}
