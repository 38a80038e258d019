package evidence_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// piece is a piece of message index.
func piece(index uint32, voice evidence.Voice, text string) evidence.Piece {
	return evidence.Piece{Message: index, Voice: voice, Text: text}
}

// texts returns the texts of picks.
func texts(picks []evidence.Pick) []string {
	var all []string
	for _, p := range picks {
		all = append(all, p.Text)
	}
	return all
}

func TestWhatTheAgentStillSeesIsNotQuoted(t *testing.T) {
	t.Parallel()
	c := evidence.New(9)
	c.Know("The cap is maxPageSize in internal/export/pager.go.")
	c.Add(piece(1, evidence.Result, "internal/export/pager.go: maxPageSize\nexport/pager.go\nlimitRows = 500"))
	require.Equal(t, []string{"limitRows"}, texts(c.Rank("", "", 1000)))
}

func TestWhatIsWrittenAlreadyIsNotQuoted(t *testing.T) {
	t.Parallel()
	c := evidence.New(9)
	c.Add(piece(1, evidence.Agent, "I set limitRows to 500 rows"))
	require.Equal(t, []string{"I set limitRows to 500 rows"}, texts(evidence.Arrange(c.Rank("", "", 1000))))
	require.Empty(t, c.Rank("limitRows is set", "", 1000))
}

// What the agent wrote itself comes before what only a tool returned, new before old, and what is like the kept messages
// before what is not.
func TestOrderOfPicks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ known, better, worse evidence.Piece }{
		"voice": {better: piece(5, evidence.Agent, "alphaOne"), worse: piece(5, evidence.Result, "bravoTwo")},
		"age":   {better: piece(400, evidence.Agent, "alphaOne"), worse: piece(5, evidence.Agent, "bravoTwo")},
		"like":  {known: piece(0, 0, "see alphaNine"), better: piece(5, evidence.Agent, "alphaOne"), worse: piece(5, evidence.Agent, "bravoTwo")},
		"beside": {
			known: piece(0, 0, "see keptName"), better: piece(5, evidence.Agent, "keptName alphaOne"), worse: piece(5, evidence.Agent, "otherOne bravoTwo"),
		},
	} {
		collector := evidence.New(500)
		collector.Know(c.known.Text)
		collector.Add(c.worse)
		collector.Add(c.better)
		require.Contains(t, collector.Rank("", "", 1000)[0].Text, "alphaOne", name)
	}
}

// firstOf returns the first pick of pieces, which come in this order.
func firstOf(known string, pieces ...evidence.Piece) string {
	c := evidence.New(1000)
	c.Know(known)
	for _, p := range pieces {
		c.Add(p)
	}
	return c.Rank("", "", 10_000)[0].Text
}

// Of names that are worth the same, the newest is first. So the pieces of each case come in reverse order.
func TestWorth(t *testing.T) {
	t.Parallel()
	result := func(index uint32, text string) evidence.Piece { return piece(index, evidence.Result, text) }
	for _, c := range []struct {
		name, known string
		pieces      []evidence.Piece
		want        string
	}{
		{"equal", "", []evidence.Piece{result(999, "bravoTwo"), result(999, "alphaOne")}, "bravoTwo"},
		{"user", "", []evidence.Piece{result(999, "bravoTwo"), piece(999, evidence.User, "alphaOne")}, "alphaOne"},
		{"arguments", "", []evidence.Piece{result(999, "bravoTwo"), piece(999, evidence.Arguments, "alphaOne")}, "alphaOne"},
		{"an earlier summary", "", []evidence.Piece{result(999, "bravoTwo"), piece(999, evidence.Quoted, "alphaOne")}, "alphaOne"},
		{"a new mention and a very old one", "", []evidence.Piece{piece(10, evidence.Agent, "bravoTwo"), result(999, "alphaOne")}, "alphaOne"},
		{"a new mention and an old one", "", []evidence.Piece{result(999, "bravoTwo"), piece(900, evidence.Agent, "alphaOne")}, "alphaOne"},
		{"a message after the last one", "", []evidence.Piece{result(999, "bravoTwo"), piece(2000, evidence.Agent, "alphaOne")}, "alphaOne"},
		{"said in two messages", "", []evidence.Piece{result(999, "bravoTwo"), result(998, "alphaOne"), result(999, "alphaOne")}, "alphaOne"},
		{"said twice in one message", "", []evidence.Piece{result(999, "bravoTwo;"), result(999, "alphaOne, alphaOne")}, "bravoTwo"},
		{"said in two kinds of lines of one message", "", []evidence.Piece{result(999, "bravoTwo;"), result(999, "alphaOne\nalphaOne;")}, "bravoTwo"},
		{"said in a better line of one message", "", []evidence.Piece{result(999, "bravoTwo"), result(999, "alphaOne\nalphaOne;")}, "alphaOne"},
		{"before a known name", "keptName", []evidence.Piece{result(999, "bravoTwo"), result(999, "alphaOne "+filler(50)+"keptName")}, "alphaOne"},
		{"after a known name", "keptName", []evidence.Piece{result(999, "bravoTwo"), result(999, "keptName "+filler(50)+"alphaOne")}, "alphaOne"},
		{"far from a known name", "keptName", []evidence.Piece{result(999, "bravoTwo;"), result(999, "keptName "+filler(150)+"alphaOne")}, "bravoTwo"},
		{"a known word in other letters", "KeptAlpha", []evidence.Piece{result(999, "one_bravo"), result(999, "one_alpha")}, "one_alpha"},
		{"a known word before a sign", "alpha_kept", []evidence.Piece{result(999, "bravo_one"), result(999, "alpha_one")}, "alpha_one"},
		{"a known word of two letters", "zq_keptName", []evidence.Piece{result(999, "xy_bravoTwo"), result(999, "zq_alphaOne")}, "xy_bravoTwo"},
		{
			"a known word that is rare", "common_kept rarest_kept",
			[]evidence.Piece{result(999, "common_aaaa common_bbbb"), result(999, "common_cccc;"), result(999, "rarest_dddd;")},
			"rarest_dddd",
		},
		{"a path and an identifier", "", []evidence.Piece{result(999, "bravoTwoOfThem"), result(999, "in/pager.go")}, "in/pager.go"},
		{"an identifier and a number", "", []evidence.Piece{result(999, "123456"), result(999, "alphaOne")}, "alphaOne"},
		{"an address of e-mail that only a tool returned", "", []evidence.Piece{result(999, "b@a.cc"), result(999, "alphaOne")}, "alphaOne"},
		{"an absolute path of a file", "", []evidence.Piece{result(999, "in/pager.go"), result(999, "/at/pager.go")}, "/at/pager.go"},
		{"an absolute path of a folder", "", []evidence.Piece{result(999, "in/pager.go"), result(999, "/at/pagers")}, "in/pager.go"},
	} {
		slices.Reverse(c.pieces)
		require.Equal(t, c.want, firstOf(c.known, c.pieces...), c.name)
	}
}

// Of names and of lines that are worth the same, the newest is first.
func TestTiesGoToTheNewest(t *testing.T) {
	t.Parallel()
	for _, voice := range []evidence.Voice{evidence.Result, evidence.Quoted} {
		c := evidence.New(9)
		c.Add(piece(9, voice, "alphaOne"))
		c.Add(piece(9, voice, "bravoTwo"))
		c.Add(piece(9, voice, "deltaTen"))
		require.Equal(t, []string{"deltaTen", "bravoTwo", "alphaOne"}, texts(c.Rank("", "", 1000)))
	}
	c := evidence.New(9)
	c.Add(piece(9, evidence.Result, "alphaOne"))
	c.Add(piece(12, evidence.Result, "bravoTwo"))
	c.Add(piece(10, evidence.Result, "alphaSix"))
	require.Equal(t, []string{"bravoTwo", "alphaSix", "alphaOne"}, texts(c.Rank("", "", 1000)))
}

// Lines pay for their length, and each a little more.
func TestLinesPayForTheirLength(t *testing.T) {
	t.Parallel()
	quoted := func(text string) evidence.Piece { return piece(999, evidence.Quoted, text) }
	const one, two, four = "alphaOne", "bravoOne charlieTwo", "bravoOne charlieTwo deltaThree echoFour"
	require.Equal(t, two, firstOf("", quoted(one), quoted(two)))
	require.Equal(t, four, firstOf("", quoted(one), quoted(four)))
	require.Equal(t, one, firstOf("", quoted(one), quoted(one+" "+filler(40))))
	require.Equal(t, "newerOne", firstOf("", quoted(one), quoted("newerOne")), "of equal lines, the newest is first")
	require.Equal(t, one, firstOf("", piece(999, evidence.Agent, strings.Repeat(one+" ", 5))), "a name counts once in a line")
}

// A word that a name repeats counted as several names, and made worths negative.
func TestRepeatedWordsAreNoManyNames(t *testing.T) {
	t.Parallel()
	c := evidence.New(9)
	c.Know("the foo_known of it")
	c.Add(piece(1, evidence.Agent, "foo_foo_foo_bar_baz_qux_long"))
	require.NotEmpty(t, c.Rank("", "", 1000))
}

// What a longer name holds need not be named beside it.
func TestNamesWithinNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ longer, within string }{
		{"/var/of/some/deep/export/pager.go", "of/some/deep/export/pager.go"},
		{"src/export/pager.go", "/export/pager.go"},
		{"src/export/pager.go", "export/pager.go"},
		{"src/keep_recent_rows.go", "keep_recent_rows"},
		{"https://x.test/shop/pager.go", "shop/pager.go"},
	} {
		known := evidence.New(9)
		known.Know(c.longer)
		known.Add(piece(1, evidence.Agent, "now we have "+c.within))
		require.Empty(t, known.Rank("", "", 1000), c.within)

		written := evidence.New(9)
		written.Add(piece(1, evidence.Agent, c.within))
		require.Empty(t, written.Rank("it is "+c.longer, "", 1000), c.within)

		both := evidence.New(9)
		both.Add(piece(1, evidence.Result, c.within))
		both.Add(piece(1, evidence.Agent, c.longer))
		require.Equal(t, []string{c.longer}, texts(evidence.Arrange(both.Rank("", "", 1000))))
	}
}

// A name that was taken alone is left out beside a line with a name that holds it.
func TestArrangeLeavesOutNamesWithinNames(t *testing.T) {
	t.Parallel()
	c := evidence.New(20)
	for i := range uint32(15) {
		c.Add(piece(i, evidence.Agent, "export/pager.go"))
	}
	const line = "now we have src/export/pager.go in it"
	c.Add(piece(15, evidence.Agent, line))
	picks := c.Rank("", "", 1000)
	require.Equal(t, "export/pager.go", picks[0].Text)
	require.Equal(t, []string{line}, texts(evidence.Arrange(picks)))
}

func TestArrangeOrdersByMessageAndPlace(t *testing.T) {
	t.Parallel()
	c := evidence.New(9)
	c.Add(piece(7, evidence.Agent, "then we had alphaOne\nthen we had bravoTwo and deltaFour and echoFive\nthen we had charlieThree"))
	c.Add(piece(3, evidence.Agent, "then we had foxtrotSix"))
	require.Equal(t, []string{
		"then we had foxtrotSix",
		"then we had alphaOne", "then we had bravoTwo and deltaFour and echoFive", "then we had charlieThree",
	}, texts(evidence.Arrange(c.Rank("", "", 1000))))
}

// Names that an earlier summary lists keep the messages that they may be of.
func TestNamesOfAnEarlierSummary(t *testing.T) {
	t.Parallel()
	c := evidence.New(20)
	c.AddNames(3, 9, "keepRecent")
	picks := c.Rank("", "", 1000)
	require.Equal(t, []string{"keepRecent"}, texts(picks))
	require.Equal(t, []any{uint32(3), uint32(9), true}, []any{picks[0].First, picks[0].Last, picks[0].Alone})
	c.Add(piece(5, evidence.Result, "keepRecent"))
	require.Equal(t, uint32(9), c.Rank("", "", 1000)[0].Last, "the last mention is the newest")
}

// A quotation alone is known again by its marks.
func TestQuotationsAlone(t *testing.T) {
	t.Parallel()
	for said, shown := range map[string]string{
		`"the keepRecent of it"`:     `"the keepRecent of it"`,
		"`the keepRecent of it`":     `"the keepRecent of it"`,
		"`the \"keepRecent\" of it`": "`the \"keepRecent\" of it`",
		"'a \"keepRecent\" of `it`'": "'a \"keepRecent\" of `it`'",
		"\"a `keepRecent` of it's\"": "\"a `keepRecent` of it's\"",
	} {
		c := evidence.New(9)
		c.AddNames(3, 9, said)
		require.Equal(t, []string{shown}, texts(evidence.Arrange(c.Rank("", "", 1000))))
	}
}

// A line in context is quoted as a whole, a name without any is quoted alone, and no name is in both.
func TestNamesAlone(t *testing.T) {
	t.Parallel()
	c := evidence.New(9)
	c.Add(piece(1, evidence.Result, strings.Repeat("padding of many words ", 9)+"thresholdOfRows"))
	c.Add(piece(2, evidence.Result, "thresholdOfRows means 500 of them"))
	picks := evidence.Arrange(c.Rank("", "", 1000))
	require.Equal(t, []string{"thresholdOfRows means 500 of them"}, texts(picks))
	require.False(t, picks[0].Alone)
}

func TestPartsOfALongLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("some words before it ", 30) + "the name isLongEnough stands here " + strings.Repeat("and words behind ", 30)
	c := evidence.New(9)
	c.Add(piece(1, evidence.Agent, long))
	picks := c.Rank("", "", 10000)
	at := slices.IndexFunc(picks, func(p evidence.Pick) bool { return !p.Alone })
	require.GreaterOrEqual(t, at, 0)
	part := picks[at].Text
	require.Less(t, len(part), 260)
	require.Contains(t, part, "the name isLongEnough stands here")
	require.Contains(t, long, " "+part+" ", "a word was cut")
}

func TestLineNumbersAreLeftOut(t *testing.T) {
	t.Parallel()
	c := evidence.New(9)
	c.Add(piece(1, evidence.Result, "  330→func keepRecentRows(rows int) error {"))
	require.Equal(t, []string{"func keepRecentRows(rows int) error {"}, texts(evidence.Arrange(c.Rank("", "", 1000))))
}

// Each pick stands in a text of its message, lines come once, and the limit holds but for the last pick.
func TestPicksStandInTheirMessage(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		said := rapid.SliceOfN(anyText(), 1, 8).Draw(rt, "texts")
		c := evidence.New(uint32(len(said)))
		c.Know(anyText().Draw(rt, "known"))
		for i, text := range said {
			c.Add(piece(uint32(i), evidence.Voice(i%4), text))
		}
		limit := rapid.IntRange(0, 400).Draw(rt, "limit")
		picks := c.Rank(anyText().Draw(rt, "written"), "", limit)
		seen, size := map[string]bool{}, 0
		for _, p := range picks {
			require.Less(rt, size, limit)
			size += len(p.Text)
			text := p.Text
			if p.Alone {
				text = strings.Trim(text, "\"`'")
			}
			require.Contains(rt, said[p.Last], text)
			require.False(rt, seen[text], "twice: %s", text)
			seen[text] = true
		}
		last := uint32(0)
		for _, p := range evidence.Arrange(picks) {
			require.GreaterOrEqual(rt, p.Last, last)
			last = p.Last
		}
	})
}

// What is no longer true is not quoted, nor a name that nothing else has.
func TestDroppedTextsAreNotQuoted(t *testing.T) {
	t.Parallel()
	c := evidence.New(9)
	c.Add(piece(1, evidence.User, "DEADLINE: ship exportPager on 2026-11-23"))
	c.Add(piece(3, evidence.User, "DEADLINE: ship exportPager on 2026-12-01"))
	c.Drop(1, "DEADLINE: ship exportPager on 2026-11-23")
	require.Equal(t, []string{"DEADLINE: ship exportPager on 2026-12-01"}, texts(evidence.Arrange(c.Rank("", "", 1000))))
}

func TestWordsOfNamesAreAlikeInAnyCase(t *testing.T) {
	t.Parallel()
	c := evidence.New(10)
	c.Know("the agent still sees pager_rows")
	c.Add(evidence.Piece{Message: 5, Voice: evidence.Agent, Text: "firstPager"})
	c.Add(evidence.Piece{Message: 6, Voice: evidence.Agent, Text: "firstOther"})
	require.Equal(t, []string{"firstPager", "firstOther"}, texts(c.Rank("", "", 1000)))
}

// A line that stood there before counts as any other mention of its names, by whoever says it now.
func TestRepeatedLinesCount(t *testing.T) {
	t.Parallel()
	c := evidence.New(500)
	c.Add(piece(5, evidence.Result, "alphaOne"))
	c.Add(piece(250, evidence.Agent, "bravoTwo"))
	c.Add(piece(400, evidence.Agent, "alphaOne"))
	first := c.Rank("", "", 1000)[0]
	require.Equal(t, "alphaOne", first.Text)
	require.EqualValues(t, 400, first.First)
	c = evidence.New(9)
	c.Add(piece(5, evidence.Quoted, "alphaOne"))
	require.False(t, c.Rank("", "", 1000)[0].Alone)
	c.Add(piece(6, evidence.Agent, "alphaOne"))
	require.True(t, c.Rank("", "", 1000)[0].Alone, "it is no longer only of an earlier summary")
}

// A name is one name, however many others there are.
func TestManyNamesStayApart(t *testing.T) {
	t.Parallel()
	c := evidence.New(9)
	var want []string
	for i := range 3000 {
		want = append(want, fmt.Sprintf("numberedName%04d", i))
	}
	c.Add(piece(1, evidence.Agent, strings.Join(want, "\n")))
	c.Add(piece(2, evidence.Agent, strings.Join(want, "\n")))
	got := texts(c.Rank("", "", 1<<20))
	slices.Sort(got)
	require.Equal(t, want, got)
}

// Once all names are shown, further lines of tools say more about them: the best first, each once, and only those that say
// something besides.
func TestFurtherLines(t *testing.T) {
	t.Parallel()
	c := evidence.New(9)
	tool := func(index uint32, text string) evidence.Piece {
		return evidence.Piece{Message: index, Voice: evidence.Result, Text: text, ByTool: true}
	}
	c.Add(piece(1, evidence.User, "Why is pageLimit so small?\nThe pageLimit was larger in spring."))
	c.Add(tool(2, "the cap of pageLimit is 500 rows\npageLimit is read from the file of settings\npageLimit\n- pageLimit has been updated"))
	c.Add(tool(3, "rowCache holds what pageLimit cuts off\nrowCache drops the oldest row first"))
	c.Add(piece(4, evidence.Agent, "So pageLimit is to be raised. I think that pageLimit is read once."))
	r := c.Ranking("", "", 10_000)
	more := true
	for more {
		_, more = r.Next()
	}
	var further []string
	r.Further()
	for p, ok := r.Next(); ok; p, ok = r.Next() {
		further = append(further, p.Text)
	}
	require.Equal(t, []string{
		"the cap of pageLimit is 500 rows", "rowCache holds what pageLimit cuts off", "pageLimit is read from the file of settings",
	}, further)
}
