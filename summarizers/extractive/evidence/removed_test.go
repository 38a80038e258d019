package evidence_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// TestRemovedNamesAreWorthLess: a name that was removed, and that no later message has, comes after others.
func TestRemovedNamesAreWorthLess(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		removed map[string]uint32
		gone    []string
		first   string
	}{
		{nil, nil, "skipEmptyPages"},
		{map[string]uint32{"skipEmptyPages": 3}, []string{"skipEmptyPages"}, "countEachPages"},
		{map[string]uint32{"skipEmptyPages": 1}, nil, "skipEmptyPages"},
		{map[string]uint32{"neverNamedPages": 3}, nil, "skipEmptyPages"},
	} {
		c := evidence.New(9)
		c.Add(evidence.Piece{Message: 1, Voice: evidence.Result, Text: "rows = countEachPages(list)"})
		c.Add(evidence.Piece{Message: 2, Voice: evidence.Result, Text: "rows = skipEmptyPages(list)"})
		gone := c.Remove(tt.removed)
		require.Len(t, gone, len(tt.gone))
		for _, name := range tt.gone {
			require.True(t, gone[name])
		}
		picks := c.Rank("", "", 4000)
		require.Contains(t, picks[0].Text, tt.first)
	}
}
