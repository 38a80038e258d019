package recall_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/recall"
)

// A reference to a child's message names the child, whatever its id is, and no reference to the log itself does.
func TestReferencesToChildren(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringMatching(`[A-Za-z0-9]|[A-Za-z0-9][!-~]{0,20}[A-Za-z0-9]`).Draw(t, "id")
		own := rapid.SampledFrom([]string{"#0", "#12", "#12.0", "#4294967295.1.2"}).Draw(t, "reference")
		around := rapid.SampledFrom([][2]string{{"", ""}, {"[", "]"}, {" ", "\n"}, {"recall ", "."}, {"[recall ", "]"}}).Draw(t, "around")
		session, reference := recall.CutSession(around[0] + id + own + around[1])
		if !recall.Names(id) {
			require.Empty(t, session, "%q has the mark itself", id)
			return
		}
		require.Equal(t, id, session)
		require.Equal(t, own, reference)
		session, reference = recall.CutSession(around[0] + own + around[1])
		require.Empty(t, session)
		require.Equal(t, around[0]+own+around[1], reference)
	})
	for _, other := range []string{"", "12", "#12", "index 12, part 0", "see a#1", "a#", "a#x", "a#1.2.3.4", "a b#1", "-a#1", "ä#1"} {
		session, reference := recall.CutSession(other)
		require.Empty(t, session, other)
		require.Equal(t, other, reference)
	}
	for _, id := range []string{"", "#", "a#b", "a!", "-a", "a b", "ä"} {
		require.False(t, recall.Names(id), id)
	}
}
