package recall_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/recall"
)

// texts are short, with many line ends and characters of several bytes.
func texts() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "é", "語", "😀", "\n", "\r\n", "x", " "}), 0, 30),
		func(pieces []string) string { return strings.Join(pieces, "") })
}

// Consecutive ranges of any length add up to the whole text: by bytes to the end, by bytes up to the limit, and by
// lines.
func TestRangesPutTogetherAreTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		length := rapid.Uint32Range(0, 12).Draw(t, "length")

		var got strings.Builder
		for at := 0; at < len(text); {
			x, err := recall.Characters(text, uint32(at), length, limit)
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
		for line := uint32(1); line <= recall.LineCount(text); {
			x, err := recall.Lines(text, line, count, limit)
			require.NoError(t, err)
			require.Greater(t, x.End, x.Start)
			requireWithin(t, text[x.Start:x.End], limit)
			got.WriteString(text[x.Start:x.End])
			if line = recall.NextLine(text, x.End); line > 0 {
				continue
			}
			// The line alone exceeds the limit: continue by bytes, to its end.
			require.True(t, x.More)
			require.NotContains(t, text[x.Start:x.End], "\n")
			end := x.End + strings.IndexByte(text[x.End:]+"\n", '\n') + 1
			end = min(end, len(text))
			got.WriteString(text[x.End:end])
			line = recall.NextLine(text, end)
		}
		require.Equal(t, text, got.String())
	})
}

// requireWithin allows more than the limit only for a single character.
func requireWithin(t require.TestingT, text string, limit int) {
	if len(text) > limit {
		require.Equal(t, 1, utf8.RuneCountInString(text))
	}
}

// A range of bytes is the smallest range of whole characters that begins and ends in it.
func TestCharactersAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts().Draw(t, "text")
		offset := rapid.Uint32Range(0, 120).Draw(t, "offset")
		length := rapid.Uint32Range(0, 130).Draw(t, "length")
		x, err := recall.Characters(text, offset, length, 1000)
		if int(offset) >= len(text) && (text != "" || offset > 0) {
			require.ErrorIs(t, err, recall.ErrBeyondEnd)
			return
		}
		require.NoError(t, err)
		require.False(t, x.More)
		end := len(text)
		if length > 0 {
			end = min(end, int(offset)+int(length))
		}
		// The model: all characters that end within the range, from the one that contains the offset on.
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
		x, err := recall.Bytes(data, c.offset, c.length, c.limit)
		require.NoError(t, err)
		require.Equal(t, c.want, string(data[x.Start:x.End]), c)
		require.Equal(t, c.more, x.More, c)
	}
	for _, offset := range []uint32{10, 11, 4294967295} {
		_, err := recall.Bytes(data, offset, 0, 100)
		require.ErrorIs(t, err, recall.ErrBeyondEnd)
	}
	_, err := recall.Bytes(nil, 0, 0, 1)
	require.NoError(t, err)
	_, err = recall.Bytes(nil, 1, 0, 1)
	require.ErrorIs(t, err, recall.ErrBeyondEnd)
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
		x, err := recall.Lines(text, c.first, c.count, c.limit)
		require.NoError(t, err)
		require.Equal(t, c.want, text[x.Start:x.End], c)
		require.Equal(t, c.more, x.More, c)
		require.Equal(t, c.next, recall.NextLine(text, x.End), c)
	}
	for _, first := range []uint32{5, 4294967295} {
		_, err := recall.Lines(text, first, 0, 100)
		require.ErrorIs(t, err, recall.ErrBeyondEnd)
	}
	_, err := recall.Lines("", 1, 0, 100)
	require.NoError(t, err)
	_, err = recall.Lines("a\n", 2, 0, 100)
	require.ErrorIs(t, err, recall.ErrBeyondEnd)
	require.Equal(t, []uint32{0, 1, 1, 2, 2}, []uint32{
		recall.LineCount(""), recall.LineCount("a"), recall.LineCount("\n"), recall.LineCount("\na"), recall.LineCount("\n\n"),
	})
}
