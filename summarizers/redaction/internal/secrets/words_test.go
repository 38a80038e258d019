package secrets

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Words that overlap or contain each other are found as strings.Contains finds them.
func TestWordSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfDistinct(rapid.StringMatching(`[ab密\x00]{1,4}|key=`), func(w string) string { return w }).Draw(t, "words")
		text := rapid.StringMatching(`([abAB密\x00]|k|key=|KEY=|é){0,30}`).Draw(t, "text")
		set := newWordSet(words)
		var want, have []int
		for i, word := range words {
			if strings.Contains(strings.ToLower(text), word) {
				want = append(want, i)
			}
		}
		set.each(text, func(word int) bool { have = append(have, word); return true })
		slices.Sort(have)
		require.Equal(t, want, slices.Compact(have))
		require.Equal(t, len(want) > 0, set.any(text))
	})
}

func TestWordSetOfAllBytes(t *testing.T) {
	var words []string
	for b := range 256 {
		if b < 'A' || b > 'Z' {
			words = append(words, string([]byte{byte(b)}))
		}
	}
	set := newWordSet(words)
	for i, word := range words {
		set.each(word, func(found int) bool { require.Equal(t, i, found); return true })
		require.True(t, set.any(word))
	}
	require.False(t, newWordSet(nil).any("text"))
}
