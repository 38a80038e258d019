package recall_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/recall"
)

// Searched again from each place where the limit ended it, a text has each matching line once, and blocks show lines of
// the text unchanged.
func TestMatchLinesFindsAll(t *testing.T) {
	re := regexp.MustCompile(`^x|é$`)
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		lines := strings.SplitAfter(text, "\n")
		around := rapid.Uint32Range(0, 3).Draw(t, "around")
		limit := rapid.IntRange(1, 120).Draw(t, "limit")
		var want, got []uint32
		for i, line := range lines {
			if line != "" && re.MatchString(strings.TrimRight(line, "\r\n")) {
				want = append(want, uint32(i)+1)
			}
		}
		for next := uint32(1); next > 0; {
			m, err := recall.MatchLines(t.Context(), text, pattern(t, re.String()), next, around, limit, plenty())
			require.NoError(t, err)
			require.True(t, m.NextLine == 0 || m.NextLine > next, "it goes on")

			size := 0
			for i, b := range m.Blocks {
				size += len(b.GetText())
				require.NotEmpty(t, b.GetMatchingLines())
				require.True(t, slices.IsSorted(b.GetMatchingLines()))
				if i > 0 {
					before := m.Blocks[i-1]
					require.Greater(t, b.GetFirstLine(), before.GetFirstLine()+recall.LineCount(before.GetText())-1)
				}
				rest := strings.Join(lines[b.GetFirstLine()-1:], "")
				require.True(t, strings.HasPrefix(rest, b.GetText()))
				last := b.GetFirstLine() + recall.LineCount(b.GetText()) - 1
				for _, n := range want {
					if n >= b.GetFirstLine() && n <= last {
						require.Contains(t, b.GetMatchingLines(), n)
					}
				}
				for _, n := range b.GetMatchingLines() {
					require.Contains(t, want, n)
					if n >= next {
						got = append(got, n)
					}
				}
			}
			if size > limit {
				require.Len(t, m.Blocks, 1)
				requireWithin(t, m.Blocks[0].GetText(), limit)
			}
			next = m.NextLine
			require.Equal(t, next > 0, m.More && (m.End == 0 || strings.HasSuffix(text[:m.End], "\n")))
			if m.More && next == 0 {
				require.Len(t, m.Blocks, 1, "a line that is longer than the limit stands alone")
				if next = m.Blocks[0].GetFirstLine() + 1; next > recall.LineCount(text) {
					break
				}
			}
		}
		require.Equal(t, want, got)
	})
}

func TestMatchLinesShowsLinesAround(t *testing.T) {
	text := "1\n2\nx3\n4\n5\n6\n7\nx8\n9\nx10\n11\n12\n13\n"
	re := pattern(t, "x")
	m, err := recall.MatchLines(t.Context(), text, re, 1, 1, 1000, plenty())
	require.NoError(t, err)
	require.Len(t, m.Blocks, 2)
	require.Equal(t, "2\nx3\n4\n", m.Blocks[0].GetText())
	require.Equal(t, uint32(2), m.Blocks[0].GetFirstLine())
	require.Equal(t, []uint32{3}, m.Blocks[0].GetMatchingLines())
	require.Equal(t, "7\nx8\n9\nx10\n11\n", m.Blocks[1].GetText(), "blocks that touch are one")
	require.Equal(t, []uint32{8, 10}, m.Blocks[1].GetMatchingLines())
	require.Equal(t, "2\n", text[m.Start:m.Start+2])
	require.Equal(t, "12\n13\n", text[m.End:])

	m, err = recall.MatchLines(t.Context(), text, re, 4, 1, 1000, plenty())
	require.NoError(t, err)
	require.Len(t, m.Blocks, 1)
	_, err = recall.MatchLines(t.Context(), text, re, 14, 1, 1000, plenty())
	require.ErrorIs(t, err, recall.ErrBeyondEnd)

	// The second match does not fit, so it is not shown as a line around the first.
	m, err = recall.MatchLines(t.Context(), "x1\nx2\n", re, 1, 1, 16+5+7, plenty())
	require.NoError(t, err)
	require.Equal(t, "x1\n", m.Blocks[0].GetText())
	require.Equal(t, uint32(2), m.NextLine)
}

// The answer names all shown lines that match, also those before the first searched line.
func TestMatchLinesNamesAllMatchingLines(t *testing.T) {
	text := "m1\nm2\nm3\nno\nm5\n"
	for _, c := range []struct {
		first, around uint32
		shown         string
		matching      []uint32
	}{
		{3, 2, text, []uint32{1, 2, 3, 5}},
		{3, 1, text[3:], []uint32{2, 3, 5}},
		{5, 3, text[3:], []uint32{2, 3, 5}},
		{4, 1, "no\nm5\n", []uint32{5}},
	} {
		m, err := recall.MatchLines(t.Context(), text, pattern(t, "m"), c.first, c.around, 1000, plenty())
		require.NoError(t, err)
		require.Len(t, m.Blocks, 1)
		require.Equal(t, c.shown, m.Blocks[0].GetText())
		require.Equal(t, c.matching, m.Blocks[0].GetMatchingLines())
	}
	m, err := recall.MatchLines(t.Context(), text, pattern(t, "m"), 3, 2, 16+6+2*5, plenty())
	require.NoError(t, err)
	require.Equal(t, "m3\n", m.Blocks[0].GetText(), "with a line around, all that match among them do not fit")
	require.Equal(t, uint32(5), m.NextLine)
}

// Lines before the first one are searched only where they can be shown.
func TestMatchLinesLooksBackNoFurtherThanItShows(t *testing.T) {
	text := strings.Repeat("no\n", 1000) + "m"
	work := plenty()
	before := work.Left()
	_, err := recall.MatchLines(t.Context(), text, pattern(t, "m"), 1001, 3, 1000, work)
	require.NoError(t, err)
	require.Less(t, before-work.Left(), 10*20)
}

// Where the time is over while lines before the first one are searched, they are not shown, and the match is.
func TestMatchLinesLooksBackNoLongerThanItMay(t *testing.T) {
	text := "needle\n" + strings.Repeat("hay ", 1<<10) + "\nquick\nneedle\n"
	looks := 0
	work := recall.NewWork(recall.CallSteps).Until(func() bool { looks++; return looks > 1 })
	m, err := recall.MatchLines(t.Context(), text, pattern(t, "needle|(h|a|y| ){1,300}!"), 4, 3, 1000, work)
	require.NoError(t, err)
	require.Equal(t, "quick\nneedle\n", m.Blocks[0].GetText())
	require.Equal(t, uint32(3), m.Blocks[0].GetFirstLine())
	require.Equal(t, []uint32{4}, m.Blocks[0].GetMatchingLines())
}

// The answer says that a matching line is cut, whether or not another line follows.
func TestMatchLinesCutsLongLines(t *testing.T) {
	long := strings.Repeat("é", 50)
	for _, c := range []struct {
		text string
		end  int
		more bool
		next uint32
	}{
		{long, 10, true, 0},
		{long + "\n", 10, true, 0},
		{long + "\né\n", 10, true, 0},
		{"ééééé", 10, false, 0},
		{"ééééé\n", 11, false, 0},
		{"ééééé \n", 11, true, 0},
		{"éééé \n", 10, false, 0},
		{"éééé \né\n", 10, true, 2},
	} {
		m, err := recall.MatchLines(t.Context(), c.text, pattern(t, "é"), 1, 3, 11, plenty())
		require.NoError(t, err)
		require.Equal(t, c.text[:c.end], m.Blocks[0].GetText(), c.text)
		require.Equal(t, c.end, m.End)
		require.Equal(t, c.more, m.More, c.text)
		require.Equal(t, c.next, m.NextLine, c.text)
	}
}

// Where no work is left, the answer ends and says where to continue. Each call gets further.
func TestMatchLinesStopsWhereItsWorkIsDone(t *testing.T) {
	text := "x1\n2\n3\n4\nx5\n6\n"
	p := pattern(t, "x")
	enough := plenty()
	before := enough.Left()
	_, err := recall.MatchLines(t.Context(), text, p, 1, 0, 1000, enough)
	require.NoError(t, err)
	all := before - enough.Left()
	var matching []uint32
	calls := 0
	for first := uint32(1); first > 0; calls++ {
		m, err := recall.MatchLines(t.Context(), text, p, first, 1, 1000, recall.NewWork(all/3))
		require.NoError(t, err)
		require.Equal(t, m.NextLine > 0, m.More)
		for _, b := range m.Blocks {
			matching = append(matching, b.GetMatchingLines()...)
			last := b.GetFirstLine() + recall.LineCount(b.GetText()) - 1
			require.True(t, m.NextLine == 0 || last < m.NextLine, "no line is shown that was not searched")
		}
		require.True(t, m.NextLine == 0 || m.NextLine > first)
		first = m.NextLine
	}
	require.Equal(t, []uint32{1, 5}, matching)
	require.Greater(t, calls, 1)
	m, err := recall.MatchLines(t.Context(), text, p, 1, 1, 1000, recall.NewWork(1))
	require.NoError(t, err)
	require.Equal(t, "x1\n", m.Blocks[0].GetText())
	require.Equal(t, uint32(2), m.NextLine)
	require.Equal(t, 3, m.End)
}
