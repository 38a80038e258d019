package session_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/session"
)

// texts are short and full of line ends and characters of several bytes.
func texts() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "é", "語", "😀", "\n", "\r\n", "x", " "}), 0, 30),
		func(pieces []string) string { return strings.Join(pieces, "") })
}

// Ranges that follow one another, however short, put together are the whole text: by bytes until all is read, by bytes
// as far as the limit goes, and by lines.
func TestRangesPutTogetherAreTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		length := rapid.Uint32Range(0, 12).Draw(t, "length")

		var got strings.Builder
		for at := 0; at < len(text); {
			x, err := session.Characters(text, uint32(at), length, limit)
			require.NoError(t, err)
			require.Equal(t, at, x.Start)
			require.Greater(t, x.End, x.Start, "at least one character")
			require.True(t, utf8.ValidString(text[x.Start:x.End]))
			requireWithin(t, text[x.Start:x.End], limit)
			if length > 0 {
				requireWithin(t, text[x.Start:x.End], int(length))
			}
			got.WriteString(text[x.Start:x.End])
			at = x.End
		}
		require.Equal(t, text, got.String())

		got.Reset()
		count := rapid.Uint32Range(0, 3).Draw(t, "count")
		for line := uint32(1); line <= session.LineCount(text); {
			x, err := session.Lines(text, line, count, limit)
			require.NoError(t, err)
			require.Greater(t, x.End, x.Start)
			requireWithin(t, text[x.Start:x.End], limit)
			got.WriteString(text[x.Start:x.End])
			if line = session.NextLine(text, x.End); line > 0 {
				continue
			}
			// The line alone passes the limit: on by bytes, to its end.
			require.True(t, x.More)
			require.NotContains(t, text[x.Start:x.End], "\n")
			end := x.End + strings.IndexByte(text[x.End:]+"\n", '\n') + 1
			end = min(end, len(text))
			got.WriteString(text[x.End:end])
			line = session.NextLine(text, end)
		}
		require.Equal(t, text, got.String())
	})
}

// requireWithin allows one character more than the limit only where that is all there is.
func requireWithin(t require.TestingT, text string, limit int) {
	if len(text) > limit {
		require.Equal(t, 1, utf8.RuneCountInString(text))
	}
}

// A range of bytes is the smallest run of whole characters that begins in it and ends in it.
func TestCharactersAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		offset := rapid.Uint32Range(0, 120).Draw(t, "offset")
		length := rapid.Uint32Range(0, 130).Draw(t, "length")
		x, err := session.Characters(text, offset, length, 1000)
		if int(offset) >= len(text) && (text != "" || offset > 0) {
			require.ErrorIs(t, err, session.ErrBeyondEnd)
			return
		}
		require.NoError(t, err)
		require.False(t, x.More)
		end := len(text)
		if length > 0 {
			end = min(end, int(offset)+int(length))
		}
		// The model: all characters that begin before the end and are whole by then, from the one that holds the offset.
		start, want := -1, ""
		for at, r := range text {
			width := utf8.RuneLen(r)
			if at+width <= int(offset) {
				continue
			}
			if start < 0 {
				start, want = at, string(r)
				continue
			}
			if at+width <= end {
				want += string(r)
			}
		}
		require.Equal(t, want, text[x.Start:x.End])
		if text != "" {
			require.Equal(t, start, x.Start)
		}
	})
}

func TestBytes(t *testing.T) {
	data := []byte("0123456789")
	for _, c := range []struct {
		offset, length uint32
		limit          int
		want           string
		more           bool
	}{
		{0, 0, 100, "0123456789", false},
		{0, 0, 10, "0123456789", false},
		{0, 0, 9, "012345678", true},
		{9, 0, 100, "9", false},
		{3, 4, 100, "3456", false},
		{3, 4, 4, "3456", false},
		{3, 4, 3, "345", true},
		{3, 4294967295, 100, "3456789", false},
	} {
		x, err := session.Bytes(data, c.offset, c.length, c.limit)
		require.NoError(t, err)
		require.Equal(t, c.want, string(data[x.Start:x.End]), c)
		require.Equal(t, c.more, x.More, c)
	}
	for _, offset := range []uint32{10, 11, 4294967295} {
		_, err := session.Bytes(data, offset, 0, 100)
		require.ErrorIs(t, err, session.ErrBeyondEnd)
	}
	_, err := session.Bytes(nil, 0, 0, 1)
	require.NoError(t, err)
	_, err = session.Bytes(nil, 1, 0, 1)
	require.ErrorIs(t, err, session.ErrBeyondEnd)
}

func TestLines(t *testing.T) {
	const text = "one\ntwo\n\nfour"
	for _, c := range []struct {
		first, count uint32
		limit        int
		want         string
		more         bool
		next         uint32
	}{
		{1, 0, 100, text, false, 5},
		{1, 1, 100, "one\n", false, 2},
		{2, 2, 100, "two\n\n", false, 4},
		{3, 1, 100, "\n", false, 4},
		{4, 0, 100, "four", false, 5},
		{4, 4294967295, 100, "four", false, 5},
		{1, 0, 8, "one\ntwo\n", true, 3},
		{1, 2, 8, "one\ntwo\n", false, 3},
		{1, 2, 7, "one\n", true, 2},
		{1, 0, 3, "one", true, 0},
		{4, 0, 3, "fou", true, 0},
	} {
		x, err := session.Lines(text, c.first, c.count, c.limit)
		require.NoError(t, err)
		require.Equal(t, c.want, text[x.Start:x.End], c)
		require.Equal(t, c.more, x.More, c)
		require.Equal(t, c.next, session.NextLine(text, x.End), c)
	}
	for _, first := range []uint32{5, 4294967295} {
		_, err := session.Lines(text, first, 0, 100)
		require.ErrorIs(t, err, session.ErrBeyondEnd)
	}
	_, err := session.Lines("", 1, 0, 100)
	require.NoError(t, err)
	_, err = session.Lines("a\n", 2, 0, 100)
	require.ErrorIs(t, err, session.ErrBeyondEnd)
	require.Equal(t, []uint32{0, 1, 1, 2, 2}, []uint32{
		session.LineCount(""), session.LineCount("a"), session.LineCount("\n"), session.LineCount("\na"), session.LineCount("\n\n"),
	})
}

// Matches, asked for again from where the limit ended them, are all lines that match, each told once, and what blocks
// show are lines of the text as they are.
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
			m, err := session.MatchLines(t.Context(), text, pattern(t, re.String()), next, around, limit, plenty())
			require.NoError(t, err)
			require.True(t, m.NextLine == 0 || m.NextLine > next, "it goes on")

			size := 0
			for i, b := range m.Blocks {
				size += len(b.GetText())
				require.NotEmpty(t, b.GetMatchingLines())
				require.True(t, slices.IsSorted(b.GetMatchingLines()))
				if i > 0 {
					before := m.Blocks[i-1]
					require.Greater(t, b.GetFirstLine(), before.GetFirstLine()+session.LineCount(before.GetText())-1)
				}
				rest := strings.Join(lines[b.GetFirstLine()-1:], "")
				require.True(t, strings.HasPrefix(rest, b.GetText()))
				last := b.GetFirstLine() + session.LineCount(b.GetText()) - 1
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
				if next = m.Blocks[0].GetFirstLine() + 1; next > session.LineCount(text) {
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
	m, err := session.MatchLines(t.Context(), text, re, 1, 1, 1000, plenty())
	require.NoError(t, err)
	require.Len(t, m.Blocks, 2)
	require.Equal(t, "2\nx3\n4\n", m.Blocks[0].GetText())
	require.Equal(t, uint32(2), m.Blocks[0].GetFirstLine())
	require.Equal(t, []uint32{3}, m.Blocks[0].GetMatchingLines())
	require.Equal(t, "7\nx8\n9\nx10\n11\n", m.Blocks[1].GetText(), "blocks that touch are one")
	require.Equal(t, []uint32{8, 10}, m.Blocks[1].GetMatchingLines())
	require.Equal(t, "2\n", text[m.Start:m.Start+2])
	require.Equal(t, "12\n13\n", text[m.End:])

	m, err = session.MatchLines(t.Context(), text, re, 4, 1, 1000, plenty())
	require.NoError(t, err)
	require.Len(t, m.Blocks, 1)
	_, err = session.MatchLines(t.Context(), text, re, 14, 1, 1000, plenty())
	require.ErrorIs(t, err, session.ErrBeyondEnd)

	// The second match does not fit: it is not shown as a line around the first.
	m, err = session.MatchLines(t.Context(), "x1\nx2\n", re, 1, 1, 16+5+7, plenty())
	require.NoError(t, err)
	require.Equal(t, "x1\n", m.Blocks[0].GetText())
	require.Equal(t, uint32(2), m.NextLine)
}

// Lines shown around a match that match too are told, also those before the first line that was searched.
func TestMatchLinesTellsOfAllMatchingLines(t *testing.T) {
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
		m, err := session.MatchLines(t.Context(), text, pattern(t, "m"), c.first, c.around, 1000, plenty())
		require.NoError(t, err)
		require.Len(t, m.Blocks, 1)
		require.Equal(t, c.shown, m.Blocks[0].GetText())
		require.Equal(t, c.matching, m.Blocks[0].GetMatchingLines())
	}
	m, err := session.MatchLines(t.Context(), text, pattern(t, "m"), 3, 2, 16+6+2*5, plenty())
	require.NoError(t, err)
	require.Equal(t, "m3\n", m.Blocks[0].GetText(), "with a line around, all that match among them do not fit")
	require.Equal(t, uint32(5), m.NextLine)
}

// Of the lines before the first one only those are searched that can be shown.
func TestMatchLinesLooksBackNoFurtherThanItShows(t *testing.T) {
	text := strings.Repeat("no\n", 1000) + "m"
	work := plenty()
	before := work.Left()
	_, err := session.MatchLines(t.Context(), text, pattern(t, "m"), 1001, 3, 1000, work)
	require.NoError(t, err)
	require.Less(t, before-work.Left(), 10*20)
}

// A matching line that is cut says so, whether or not another follows.
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
		m, err := session.MatchLines(t.Context(), c.text, pattern(t, "é"), 1, 3, 11, plenty())
		require.NoError(t, err)
		require.Equal(t, c.text[:c.end], m.Blocks[0].GetText(), c.text)
		require.Equal(t, c.end, m.End)
		require.Equal(t, c.more, m.More, c.text)
		require.Equal(t, c.next, m.NextLine, c.text)
	}
}

// Where the work of a call is done, the answer goes no further, and says where to go on. Each call gets further.
func TestMatchLinesStopsWhereItsWorkIsDone(t *testing.T) {
	text := "x1\n2\n3\n4\nx5\n6\n"
	p := pattern(t, "x")
	enough := plenty()
	before := enough.Left()
	_, err := session.MatchLines(t.Context(), text, p, 1, 0, 1000, enough)
	require.NoError(t, err)
	all := before - enough.Left()
	var matching []uint32
	calls := 0
	for first := uint32(1); first > 0; calls++ {
		m, err := session.MatchLines(t.Context(), text, p, first, 1, 1000, session.NewWork(all/3))
		require.NoError(t, err)
		require.Equal(t, m.NextLine > 0, m.More)
		for _, b := range m.Blocks {
			matching = append(matching, b.GetMatchingLines()...)
			last := b.GetFirstLine() + session.LineCount(b.GetText()) - 1
			require.True(t, m.NextLine == 0 || last < m.NextLine, "no line is shown that was not searched")
		}
		require.True(t, m.NextLine == 0 || m.NextLine > first)
		first = m.NextLine
	}
	require.Equal(t, []uint32{1, 5}, matching)
	require.Greater(t, calls, 1)
	m, err := session.MatchLines(t.Context(), text, p, 1, 1, 1000, session.NewWork(1))
	require.NoError(t, err)
	require.Equal(t, "x1\n", m.Blocks[0].GetText())
	require.Equal(t, uint32(2), m.NextLine)
	require.Equal(t, 3, m.End)
}
