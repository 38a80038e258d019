package service_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// The summarizer of a compaction gets the messages that the summary before covers, whole, so that it can quote them anew.
func TestSummariesGetWhatTheOneBeforeCovers(t *testing.T) {
	t.Parallel()
	messages := working(10, 4000)
	d, writer := caseDaemon(t, 1000, messages...)
	first := d.completed(nil)
	for _, req := range writer.seen() {
		require.Empty(t, req.Earlier)
	}

	d.append("s", working(10, 4000)[1:]...)
	d.completed(nil)
	var earlier []uint32
	for _, req := range writer.seen() {
		for _, m := range req.Earlier {
			require.Equal(t, summarizers.History, req.Kind)
			require.Equal(t, messages[m.GetIndex()].GetParts()[0].String(), m.GetMessage().GetParts()[0].String())
			earlier = append(earlier, m.GetIndex())
		}
	}
	var covered []uint32
	for index := uint32(1); index < first.GetFirstKeptIndex(); index++ {
		covered = append(covered, index)
	}
	require.Equal(t, covered, earlier)
}
