package evidence_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

func TestLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"short ones are none", "abc\n  abc \n\n abcd ", []string{"abcd"}},
		{"an escaped break ends a part of a long one", `first one\nsecond one` + filler(240) + "\nthird one", []string{"first one", "second one" + strings.TrimRight(filler(240), " "), "third one"}},
		{"in a short one it is text", `printf("%d\n", keepRows)`, []string{`printf("%d\n", keepRows)`}},
		{"an arrow after its number", "  12→func keep() {", []string{"func keep() {"}},
		{"a tab after its number", "12\tfunc keep() {", []string{"func keep() {"}},
		{"an arrow without a number", "→ the next one", []string{"→ the next one"}},
		{"more digits than a line number has", "1234567→ rows", []string{"1234567→ rows"}},
		{"another sign", "12: func keep() {", []string{"12: func keep() {"}},
	} {
		require.Equal(t, c.want, slices.Collect(evidence.Lines(c.text)), c.name)
	}
}

// filler returns n bytes of short words.
func filler(n int) string { return strings.Repeat("of a row ", n/9+1)[:n-1] + " " }

// partsOf returns the parts that are quoted of a long line, in its order.
func partsOf(known, text string) []string {
	c := evidence.New(9)
	c.Know(known)
	c.Add(piece(1, evidence.Agent, text))
	return texts(slices.DeleteFunc(evidence.Arrange(c.Rank("", "", 100_000)), func(p evidence.Pick) bool { return p.Alone }))
}

// requireParts requires parts of a text, at the bounds of words and without white space around them.
func requireParts(t *testing.T, text string, parts []string, n int) {
	t.Helper()
	require.Len(t, parts, n)
	for _, part := range parts {
		require.Contains(t, " "+text+" ", " "+part+" ", "a word is cut")
		require.Equal(t, strings.TrimSpace(part), part)
	}
}

// A part is of the surroundings of names that the agent no longer sees.
func TestPartsAreAroundUnknownNames(t *testing.T) {
	t.Parallel()
	before := filler(200) + "keptName" + " " + filler(79) + "alphaOne " + filler(200)
	parts := partsOf("keptName", before)
	requireParts(t, before, parts, 1)
	require.NotContains(t, parts[0], "keptName")

	after := filler(200) + "alphaOne " + filler(60) + "keptName " + filler(200)
	parts = partsOf("keptName", after)
	requireParts(t, after, parts, 1)
	require.Less(t, len(parts[0]), 190)
}

func TestPartsAreNotTooLong(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	var names []string
	for i := range 40 {
		name := "name" + strings.Repeat(string(rune('A'+i%26)), 2) + strings.Repeat("x", 1+i/26) + "End"
		names = append(names, name)
		text.WriteString(filler(20) + name + " ")
	}
	parts := partsOf("", text.String())
	for _, name := range names {
		require.Contains(t, strings.Join(parts, "\n"), name)
	}

	// A name that a part shows, at its ends too, is not taken alone after it.
	c := evidence.New(9)
	c.Add(piece(1, evidence.Agent, text.String()))
	var shown strings.Builder
	for _, p := range c.Rank("", "", 100_000) {
		require.LessOrEqual(t, len(p.Text), 320)
		require.False(t, p.Alone && strings.Contains(shown.String(), p.Text), p.Text)
		shown.WriteString(p.Text + "\n")
	}

	// Words that are longer than all parts are in none.
	require.Empty(t, partsOf("", "alphaOne is "+strings.Repeat("aB/", 400)+" "+filler(300)))
}

// Parts that overlap become one, as far as it does not become too long. So each byte of the line comes once.
func TestPartsThatOverlapAreJoined(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 26 {
		text.WriteString("name" + string(rune('A'+i)) + "End " + filler(60+i))
	}
	line := strings.TrimSpace(text.String())
	parts := partsOf("", line)
	require.Greater(t, len(parts), 1)
	rest := line
	for _, part := range parts {
		require.LessOrEqual(t, len(part), 800)
		before, after, found := strings.Cut(rest, part)
		require.True(t, found, part)
		require.Empty(t, strings.TrimSpace(before))
		rest = after
	}
	require.Less(t, len(rest), 100)

	// Parts that are far from each other, or of other lines, stay apart.
	require.Len(t, partsOf("", "alphaOne "+filler(300)+"bravoTwo "+filler(100)), 2)
	two := filler(300) + "alphaOne " + filler(100) + "\n" + filler(330) + "bravoTwo " + filler(100)
	require.Len(t, partsOf("", two), 2)
}

// A name at the end of a part, from where its surroundings are missing, is shown again with them.
func TestSurroundingsAreMostOfThem(t *testing.T) {
	t.Parallel()
	text := filler(80) + "alphaOne " + filler(71) + "bravoTwo " + filler(61) + "charlieX " + "and then the end of it " + filler(200)
	parts := partsOf("", text)
	require.Contains(t, strings.Join(parts, "\n"), "charlieX and then the end of it", "%q", parts)
	require.Contains(t, strings.Join(parts, "\n"), "alphaOne", "%q", parts)
}

// A URL was cut where its query begins.
func TestPartsCutNoURL(t *testing.T) {
	t.Parallel()
	const address = "https://shop.example.test/export?page=3&rows=500&sort=customer%20name&filter=open#top"
	text := filler(200) + "alphaOne " + filler(45) + address + " " + filler(200)
	for _, part := range partsOf(address, text) {
		if strings.Contains(part, "https:") {
			require.Contains(t, part, address)
		}
	}
	require.NotEmpty(t, partsOf(address, text))
}

// A part of JSON began with a value whose key was cut away, with half of a quotation, or with a comma.
func TestPartsOfJSONBeginWithAKey(t *testing.T) {
	t.Parallel()
	flight := func(number string, letters int) string {
		return `{"note": "` + strings.Repeat("x", letters) + `", "flight": "` + number + `", "seats": {"basic": 8, "wide": 9}, "by": "day"}, `
	}
	before := map[string]int{}
	for letters := range 60 {
		some := strings.Repeat(flight("same", 3), 5)
		for _, part := range partsOf("same basic wide", "["+some+flight("HAT172", letters)+some+"]") {
			require.Regexp(t, `^["{\[]`, part)
			key, _, _ := strings.Cut(part, ":")
			before[key]++
		}
	}
	for _, key := range []string{`"wide"`, `"by"`, `"note"`, `"basic"`, `{"note"`} {
		require.Contains(t, before, key)
	}
}

// Lines of a script without spaces were cut nowhere, and so not quoted at all.
func TestPartsOfScriptsWithoutSpaces(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("请修改配置文件，然后再看一遍、", 30) + "parseConfig" + strings.Repeat("は、これを読む、", 40)
	parts := partsOf("", text)
	require.Len(t, parts, 1)
	require.Contains(t, text, parts[0])
	require.True(t, utf8.ValidString(parts[0]))
	require.Contains(t, parts[0], "再看一遍、parseConfigは、これを")
	require.Less(t, len(parts[0]), 180)
}

// A name is in context where three words are on its line, on either side.
func TestNamesInContext(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"words before it", "now these use alphaOne", []string{"now these use alphaOne"}},
		{"words after it", "alphaOne is used now", []string{"alphaOne is used now"}},
		{"words on both sides", "now these alphaOne use", []string{"now these alphaOne use"}},
		{"too few words", "these use alphaOne", []string{"alphaOne"}},
		{"characters of a script without spaces", "请修改parseConfig", []string{"请修改parseConfig"}},
		{"two such characters", "修改parseConfig", []string{"parseConfig"}},
		{"punctuation", "——…parseConfig……", []string{"parseConfig"}},
		{"a path is one word", "in/the-new/path alphaOne", []string{"alphaOne"}},
		{
			"words after its second mention", "alphaOne " + strings.Repeat("=", 130) + " alphaOne of them all",
			[]string{"alphaOne " + strings.Repeat("=", 130) + " alphaOne of them all"},
		},
	} {
		collector := evidence.New(9)
		collector.Add(piece(1, evidence.Agent, c.text))
		require.Equal(t, c.want, texts(evidence.Arrange(collector.Rank("", "", 1000))), c.name)
	}
}

// The first of equal lines is quoted.
func TestLinesComeOnce(t *testing.T) {
	t.Parallel()
	c := evidence.New(9)
	c.Add(piece(1, evidence.Agent, "now these use alphaOne"))
	c.Add(piece(7, evidence.Agent, "now these use alphaOne"))
	picks := evidence.Arrange(c.Rank("", "", 1000))
	require.Equal(t, []string{"now these use alphaOne"}, texts(picks))
	require.Equal(t, uint32(1), picks[0].Last)
}

// Lines of an earlier summary are quoted again as a whole, or not at all.
func TestQuotedLinesStayWhole(t *testing.T) {
	t.Parallel()
	quoted := func(text string) []string {
		c := evidence.New(9)
		c.Add(piece(1, evidence.Quoted, text))
		return texts(c.Rank("", "", 10_000))
	}
	for _, text := range []string{"12→alphaOne", "alphaOne " + filler(500) + "end", `alphaOne\nand bravoTwo`} {
		require.Equal(t, []string{text}, quoted(text))
	}
	require.Empty(t, quoted("alphaOne "+filler(900)+"end"))
}

// The hashes in a diff's index line are of no use later; other lines that begin with this word are.
func TestIndexLinesOfDiffsAreNotQuoted(t *testing.T) {
	t.Parallel()
	c := evidence.New(9)
	c.Add(piece(1, evidence.Result, "index 5227612a95..a927a99f1e 100644\nindex fooBarBaz..2 of the table"))
	require.Equal(t, []string{"index fooBarBaz..2 of the table"}, texts(evidence.Arrange(c.Rank("", "", 1000))))
}

// Of a long line of prose, whole sentences were not quoted: a part began and ended in the middle of one.
func TestPartsOfProseAreSentences(t *testing.T) {
	t.Parallel()
	const sentence = "The cause, i.e. what drops them, is alphaOne in v2.4 of the loader!"
	for _, text := range []string{
		filler(200) + "end. " + sentence + " " + strings.ToUpper(filler(200)),
		strings.Repeat("再看一遍。", 60) + sentence + " " + strings.Repeat("再看一遍。", 60),
	} {
		require.Equal(t, []string{sentence}, partsOf("", text))
	}
	require.Empty(t, partsOf("alphaOne", filler(200)+sentence), "the agent still sees it")
}
