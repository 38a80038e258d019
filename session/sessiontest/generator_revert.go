package sessiontest

import (
	"slices"

	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func (g *Generator) revert(t *rapid.T) {
	point := g.revertPoint(t)
	m := g.Model()
	then := g.W.ModelAt(point)
	g.count(RevertMade, true)
	g.count(RevertToEmpty, len(then.Messages) == 0 && len(m.Messages) > 0)
	g.count(RevertFold, slices.ContainsFunc(then.Kept(), func(a *Active) bool {
		return !then.Folded(a) && slices.ContainsFunc(m.edits[a.Index], isFold)
	}))
	g.count(RevertCompaction, m.Entry != nil && then.Entry.GetId() != m.Entry.GetId())
	g.count(RevertAgain, g.lastRevert != nil && *g.lastRevert == point)
	g.count(RevertIntoLoop, len(then.OpenCalls()) > 0)
	g.count(RevertToRevert, g.W.Log.Items[point].Record.GetRevert() != nil)
	g.count(RevertOfRevert, int(point)+1 < len(g.W.Log.Items) && g.W.Log.Items[point+1].Record.GetRevert() != nil)
	g.lastRevert = &point
	g.W.Write(&compactordv1.Record{Kind: &compactordv1.Record_Revert{Revert: &compactordv1.Revert{Point: point}}})
}

// revertPoint returns a point with a special meaning, or any.
func (g *Generator) revertPoint(t *rapid.T) uint32 {
	newest := g.W.Log.Newest()
	var special []uint32
	for sequence, item := range g.W.Log.Items {
		switch item.Record.GetKind().(type) {
		case *compactordv1.Record_Revert, *compactordv1.Record_Compaction, *compactordv1.Record_Pin:
			special = append(special, uint32(sequence), uint32(sequence)-1)
		default:
		}
	}
	switch drawn := between(t, 0, 99, "revert"); {
	case drawn < 40:
		// A few steps back.
		return newest - min(newest, uint32(between(t, 0, 8, "back")))
	case drawn < 75 && len(special) > 0:
		return oneOf(t, "special point", special)
	case drawn < 80 && g.lastRevert != nil:
		return *g.lastRevert
	case drawn < 85:
		return 0
	default:
		return uint32(between(t, 0, int(newest), "point"))
	}
}
