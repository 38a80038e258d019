package extractive_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers/extractive"
)

// wholeWords are texts of words that no cut may divide.
var wholeWords = []string{
	strings.Repeat("keepRecent in src/export/pager.go, ", 40),
	strings.Repeat("größeÄnderung пример früher ", 40),
	strings.Repeat("fu\u0308nfZeilen u\u0308ber ", 40),
	strings.Repeat("請 parseConfigを読む。", 60),
}

// requireWholeWords requires that a shortened text has only words of the text, apart from the gap.
func requireWholeWords(t *testing.T, text, short string) {
	t.Helper()
	require.True(t, utf8.ValidString(short))
	head, tail, ok := strings.Cut(short, " … ")
	require.True(t, ok, short)
	require.True(t, strings.HasPrefix(text, head) && strings.HasSuffix(text, tail), short)
	word := func(text string, at int) bool {
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at:])
		letter := func(r rune) bool { return r < 0x2E80 && !strings.ContainsRune(" ,…", r) }
		return letter(before) && letter(after)
	}
	require.False(t, word(text, len(head)) || word(text, len(text)-len(tail)), "a word is cut: %q", short)
}

func TestShorteningCutsNoWord(t *testing.T) {
	t.Parallel()
	for _, text := range wholeWords {
		for n := 60; n < 100; n++ {
			short := extractive.Shorten(text, n)
			requireWholeWords(t, text, short)
			require.LessOrEqual(t, utf8.RuneCountInString(short), n)
		}
		for n := 700; n < 740; n++ {
			short := extractive.Clip(text, n)
			requireWholeWords(t, text, short)
			require.LessOrEqual(t, len(short), n+len(" … "))
		}
	}
}

// A word that fits neither before nor behind the gap is left out, if it is not the only one.
func TestShorteningLeavesOutLongWords(t *testing.T) {
	t.Parallel()
	path := strings.Repeat("deep/", 30) + "pager.go"
	require.Equal(t, "go test -run Export …", extractive.Shorten("go test -run Export ./"+path, 60))
	require.Equal(t, "… fails at line 12", extractive.Shorten(path+" fails at line 12", 60))
}

// A word that is too long is cut, between two characters, and so are texts of scripts without spaces.
func TestShorteningKeepsMostOfItsLength(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"start " + strings.Repeat("请修改配置文件", 400) + " end", strings.Repeat("y", 3000), strings.Repeat("é", 3000),
		strings.Repeat("ab", 5) + strings.Repeat("ü", 3000) + "z",
	} {
		for n := 60; n < 70; n++ {
			short := extractive.Shorten(text, n)
			require.True(t, utf8.ValidString(short))
			require.Greater(t, utf8.RuneCountInString(short), n-15, short)
		}
		for n := 900; n < 920; n++ {
			short := extractive.Clip(text, n)
			require.True(t, utf8.ValidString(short))
			require.Greater(t, len(short), n-2*210)
			head, tail, _ := strings.Cut(short, " … ")
			require.Greater(t, len(head), n*2/3-210)
			require.Greater(t, len(tail), n/3-210)
		}
	}
}
