package evidence_test

import (
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

// A word that a name repeats counted as several names, and made worths negative.
func TestRepeatedWordsAreNoManyNames(t *testing.T) {
	t.Parallel()
	c := evidence.New(9)
	c.Know("the foo_known of it")
	c.Add(piece(1, evidence.Agent, "foo_foo_foo_foo_foo_bar"))
	require.NotEmpty(t, c.Rank("", "", 1000))
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
