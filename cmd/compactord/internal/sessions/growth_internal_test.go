package sessions

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// rewritesInForce agrees with a reader that applies one record after the other.
func TestRewritesInForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint32Range(1, 30).Draw(t, "records")
		var records []*compactordv1.Record
		inForce := make(map[uint32][]uint32)
		var now []uint32
		for sequence := range n {
			r := &compactordv1.Record{Sequence: sequence}
			switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
			case kind == 0:
				r.Kind = &compactordv1.Record_Compaction{Compaction: &compactordv1.CompactionEntry{}}
				now = append([]uint32{sequence}, now...)
			case kind == 1:
				r.Kind = &compactordv1.Record_Prune{Prune: &compactordv1.PruneEntry{}}
				now = append([]uint32{sequence}, now...)
			case kind == 2 && sequence > 0:
				point := rapid.Uint32Range(0, sequence-1).Draw(t, "point")
				r.Kind = &compactordv1.Record_Revert{Revert: &compactordv1.Revert{Point: point}}
				now = inForce[point]
			default:
				r.Kind = &compactordv1.Record_Pin{Pin: &compactordv1.PinChange{}}
			}
			records = append(records, r)
			inForce[sequence] = now
		}
		for point := range n {
			var found []uint32
			for _, r := range rewritesInForce(records, point) {
				found = append(found, r.GetSequence())
			}
			require.Equal(t, inForce[point], found, "at point %d", point)
		}
	})
}
