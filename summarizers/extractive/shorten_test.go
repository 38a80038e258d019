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

// Where a long word begins the text and another one ends it, both were cut within.
func TestShorteningKeepsOneEndOfLongWords(t *testing.T) {
	t.Parallel()
	const line = "./harbour/quays_test.go:2111:13: undefined: extractMooringLinesOfQuay"
	require.Equal(t, "./harbour/quays_test.go:2111:13: …", extractive.Shorten(line, 40))
	require.Equal(t, "… undefined: extractMooringLinesOfQuay", extractive.Shorten("."+strings.Repeat("/harbour", 8)+" undefined: extractMooringLinesOfQuay", 60))
	for n := len("./harbour/quays_test.go:2111:13: …"); n < len(line); n++ {
		for _, word := range strings.Fields(extractive.Shorten(line, n)) {
			require.True(t, word == "…" || strings.Contains(" "+line+" ", " "+word+" "), "%d: %q", n, word)
		}
	}
}

// Where neither the first word nor the last one fits, both were cut within.
func TestShorteningCutsOneLongWordAtMost(t *testing.T) {
	t.Parallel()
	const line = "./harbour/quays_test.go:2111:13: https://example.org/a/b/c?d=e&f=g"
	for n := 20; n <= 33; n++ {
		short := extractive.Shorten(line, n)
		require.LessOrEqual(t, len([]rune(short)), n)
		require.True(t, strings.HasPrefix(short, "./harb"), short)
		require.NotContains(t, short, "=g")
	}
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

// A gap divides no code span, bracket pair, link, quotation or word with an apostrophe. Each example is cut at every
// length.
func TestShorteningDividesNoPair(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, pair, after string }{
		"code span":         {"The pager reads its limit again in the function", "`readLimit(cursor, page)`", "before it counts the rows of each page in the export"},
		"two backquotes":    {"The pager reads its limit again in the function", "``read `limit` twice``", "before it counts the rows of each page in the export"},
		"brackets":          {"The pager reads its limit again for each page", "(500 rows [or the rest] of them)", "before it counts the rows of each page in the export"},
		"link":              {"The pager reads its limit again as described in", "[the notes on paging](https://pager.example/notes)", "before it counts the rows of each page"},
		"quotation":         {"The pager prints the words of the old message", `"all rows were read twice"`, "before it counts the rows of each page in the export"},
		"German quotation":  {"Der Pager schreibt die Worte der alten Meldung", "„alle Zeilen gelesen“", "bevor er die Zeilen jeder Seite im Export zählt"},
		"Chinese quotation": {"分页器会先写出旧的消息然后再次读取它的限制", "「所有的行都读了两次」", "然后再数每一页导出的行数并写到文件里面去"},
		"apostrophe":        {"The pager counts the rows of all of the pages that", "haven't", "been counted before by the export that ran last week"},
		"typographic":       {"The pager counts the rows of all of the pages that", "haven’t", "been counted before by the export that ran last week"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := c.before + " " + c.pair + " " + c.after
			for n := 3 * len(c.pair) / 2; n < utf8.RuneCountInString(text); n++ {
				short := extractive.Shorten(text, n)
				require.LessOrEqual(t, utf8.RuneCountInString(short), n)
				require.True(t, strings.Contains(short, c.pair) || !strings.ContainsAny(short, "`()[]\"„“「」'’"), "%d: %q", n, short)
				require.False(t, strings.HasSuffix(short, "haven …") || strings.Contains(short, "haven … ") || strings.Contains(short, "… t "), short)
			}
		})
	}
}

// A pair that is most of a text is divided, but closed.
func TestALongPairStaysClosed(t *testing.T) {
	t.Parallel()
	span := "Ran `go test -run Export ./export ./pager ./rows ./pages ./limits` and saw that all of it still passes"
	for n := 40; n < 100; n++ {
		short := extractive.Shorten(span, n)
		require.Zero(t, strings.Count(short, "`")%2, "%d: %q", n, short)
		require.LessOrEqual(t, utf8.RuneCountInString(short), n)
		require.Greater(t, utf8.RuneCountInString(short), n/3, short)
	}
}

// What is left of a code span is in a span, or in two.
func TestShorteningLeavesGapsBetweenCodeSpans(t *testing.T) {
	t.Parallel()
	code := "`go test -run Export" + strings.Repeat(" ./export", 9)
	for text, want := range map[string]string{
		code + "` fails":                    "`go test -run Export ./export` … `./export` fails",
		code + " -count 3` fails":           "`go test -run Export ./export` … `-count 3` fails",
		code + "` fails at the second page": "`go test -run Export ./export` … at the second page",
		code + "` fails on every page":      "`go test -run Export ./export` … fails on every page",
	} {
		short := extractive.Shorten(text, 60)
		require.Equal(t, want, short)
		require.LessOrEqual(t, utf8.RuneCountInString(short), 60)
	}
}
