package evidence_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// room is a small one, of some hundreds of lines.
const room = 1 << 18

// distinctLines returns a result of lines with names that are nowhere else.
func distinctLines(message uint32, count int) evidence.Piece {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, "the rows of readPage%d_%d are in src/part%d/page%d.go\n", message, i, message, i)
	}
	return piece(message, evidence.Result, b.String())
}

// heapOf returns how many bytes of the heap a collector takes after this many messages.
func heapOf(messages uint32) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	c := evidence.New(messages)
	c.LimitTo(room)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range messages {
		c.Add(distinctLines(i, 50))
		// Words and lines that are no longer true take memory, too.
		c.Add(piece(i, evidence.Agent, fmt.Sprintf("the old word%x_%xOf it", r.Uint64(), r.Uint64())))
		for j := range 50 {
			c.Drop(i, fmt.Sprintf("what was said %d times in %d", j, i))
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(c)
	return max(after.HeapAlloc, before.HeapAlloc+1) - before.HeapAlloc
}

// Ten times the distinct lines take no more memory, once there is no room for them.
func TestMemoryIsBounded(t *testing.T) {
	few := max(heapOf(100), room/4)
	require.Less(t, heapOf(1000), 3*few)
}

// Where all names are worth the same, the newest are kept, and what was said before by others than tools.
func TestFullRoomKeepsTheBest(t *testing.T) {
	t.Parallel()
	bounded, all := evidence.New(400), evidence.New(400)
	bounded.LimitTo(room)
	for i := range uint32(400) {
		pieces := []evidence.Piece{distinctLines(i, 50)}
		if i%100 == 50 {
			pieces = append(pieces, piece(i, evidence.User, fmt.Sprintf("Never touch the file keep/this%d.go please", i)))
		}
		for _, p := range pieces {
			bounded.Add(p)
			all.Add(p)
		}
	}
	want := texts(all.Rank("", "", 4000))
	require.Equal(t, want, texts(bounded.Rank("", "", 4000)))
	require.Contains(t, strings.Join(want, "\n"), "keep/this350.go")
	require.Less(t, len(bounded.Rank("", "", 1<<24)), len(all.Rank("", "", 1<<24))/2, "nothing was forgotten")
}

// What a name was said before counts, where it was kept: it comes before those that were said as late, but once.
func TestNamesAreRememberedWhileTheRoomFills(t *testing.T) {
	t.Parallel()
	c := evidence.New(300)
	c.LimitTo(room)
	for i := range uint32(300) {
		c.Add(distinctLines(i, 50))
		c.Add(piece(i, evidence.Result, "see oftenNamed in it"))
	}
	require.Contains(t, c.Rank("", "", 1000)[0].Text, "oftenNamed")
}

// A name that the agent still sees stays known, and with it how much names like it are worth.
func TestKnownNamesStayKnown(t *testing.T) {
	t.Parallel()
	c := evidence.New(300)
	c.LimitTo(room)
	c.Know("see keptAlphaName in it")
	for i := range uint32(300) {
		c.Add(distinctLines(i, 50))
	}
	c.Add(piece(299, evidence.Result, "see keptAlphaName\nsee otherAlphaName\nsee otherBravoName"))
	picks := texts(c.Rank("", "", 1<<24))
	require.Contains(t, picks[0], "otherAlphaName")
	require.NotContains(t, strings.Join(picks, "\n"), "keptAlphaName")
}

// A line that is no longer true is not quoted, whether or not the room was full meanwhile.
func TestDroppedLinesAreNotKept(t *testing.T) {
	t.Parallel()
	c := evidence.New(300)
	c.LimitTo(room)
	c.Add(piece(299, evidence.User, "ship exportPager on 2026-11-23"))
	c.Drop(299, "ship exportPager on 2026-11-23")
	for i := range uint32(300) {
		c.Add(distinctLines(i, 50))
	}
	require.NotContains(t, strings.Join(texts(c.Rank("", "", 1<<24)), "\n"), "exportPager on")
}

// With little room, the same pieces still give the same picks, which are lines or names of the pieces.
func TestPicksWithLittleRoom(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		pieces := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) evidence.Piece {
			return evidence.Piece{
				Message: rapid.Uint32Range(0, 20).Draw(t, "message"), Text: anyText().Draw(t, "text"),
				Voice: rapid.SampledFrom([]evidence.Voice{evidence.User, evidence.Agent, evidence.Arguments, evidence.Result}).Draw(t, "voice"),
			}
		}), 1, 20).Draw(rt, "pieces")
		limit := rapid.IntRange(0, 4000).Draw(rt, "room")
		picks := func() []evidence.Pick {
			c := evidence.New(21)
			c.LimitTo(limit)
			c.Know(pieces[0].Text)
			for _, p := range pieces {
				c.Add(p)
			}
			return c.Rank("", "", 1<<20)
		}
		first := picks()
		require.Equal(rt, first, picks())
		for _, p := range first {
			require.True(rt, slices.ContainsFunc(pieces, func(from evidence.Piece) bool {
				return strings.Contains(from.Text, p.Text) || p.Alone && strings.Contains(from.Text, p.Text[1:len(p.Text)-1])
			}), p.Text)
		}
	})
}

// A line of many megabytes without a break is looked at in stretches.
func TestVeryLongLines(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, sign := range []string{" ", "=", "é", "-A"} {
		var b strings.Builder
		for b.Len() < 2*evidence.LongestLine {
			fmt.Fprintf(&b, "readPage%d%s", r.IntN(1<<30), sign)
		}
		b.WriteString(" see lastOfThem")
		line := b.String()
		c := evidence.New(2)
		c.Add(piece(1, evidence.Result, line))
		picks := c.Rank("", "", 4000)
		require.NotEmpty(t, picks)
		for _, p := range picks {
			require.True(t, p.Alone || strings.Contains(line, p.Text), sign)
		}
	}
}
