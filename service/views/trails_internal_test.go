package views

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// trailOf returns a trail of a list with so many messages.
func trailOf(point uint32, messages int) *trail {
	sum := &renderedList{report: &compactordv1.ViewReport{}}
	last := &step{digests: make([]digest, messages), sum: sum}
	last.size = last.ownSize()
	return &trail{point: point, last: last}
}

// Of each list, the two newest trails are found as long as nothing newer needed their room. All of them never pass the
// limit.
func TestTrailsStayWithinTheirBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 10*trailOf(0, 10).size()).Draw(t, "limit")
		k := &Trails{MaxBytes: limit}
		newest := make(map[string][]*trail)
		for point := range uint32(rapid.IntRange(1, 50).Draw(t, "steps")) {
			uid := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "session")
			one := trailOf(point, rapid.IntRange(0, 40).Draw(t, "messages"))
			k.put(session.ViewToken{UID: uid}, one)
			newest[uid] = append(newest[uid], one)
			size := 0
			for at := k.order.Front(); at != nil; at = at.Next() {
				kept, ok := at.Value.(*keptTrails)
				require.True(t, ok)
				size += kept.size()
			}
			require.Equal(t, size, k.bytes)
			require.LessOrEqual(t, k.bytes, limit)
			require.Len(t, k.byKey, k.order.Len())
			for uid, all := range newest {
				for i, one := range all {
					found := k.of(session.ViewToken{UID: uid, Point: one.point})
					require.True(t, found == nil || found == one && i >= len(all)-2)
				}
			}
			if one.size() <= limit {
				require.Same(t, one, k.of(session.ViewToken{UID: uid, Point: point}))
			}
		}
	})
	var none *Trails
	none.put(session.ViewToken{}, trailOf(0, 1))
	require.Nil(t, none.of(session.ViewToken{}))
}

// A client whose answer got lost asks again from the view before. It is gone on from, too.
func TestTrailsHaveTheViewBefore(t *testing.T) {
	t.Parallel()
	k := &Trails{MaxBytes: 1 << 20}
	for point := range uint32(3) {
		k.put(session.ViewToken{UID: "u"}, trailOf(point, 1))
		k.put(session.ViewToken{UID: "u"}, trailOf(point, 1))
	}
	require.Nil(t, k.of(session.ViewToken{UID: "u", Point: 0}))
	require.NotNil(t, k.of(session.ViewToken{UID: "u", Point: 1}))
	require.NotNil(t, k.of(session.ViewToken{UID: "u", Point: 2}))
}
