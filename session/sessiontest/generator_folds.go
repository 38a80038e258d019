package sessiontest

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/wording"
)

// fold folds a range that can be folded, whether the view becomes smaller or not.
func (g *Generator) fold(t *rapid.T) {
	m := g.Model()
	ranges := m.FoldableRanges()
	if len(ranges) == 0 {
		return
	}
	chosen := oneOf(t, "range", ranges)
	folded := m.Foldable(chosen[0], chosen[1])
	calls := func(given func(*Call) bool) func(*Active) bool {
		return func(a *Active) bool { return slices.ContainsFunc(a.calls, given) }
	}
	g.count(FoldMade, true)
	g.count(FoldOfTurns, session.StartsTurn(folded[0].Message))
	g.count(FoldInTurn, !session.StartsTurn(folded[0].Message))
	g.count(FoldOverFold, slices.ContainsFunc(folded, m.Folded))
	g.count(FoldMissing, slices.ContainsFunc(folded, calls(func(c *Call) bool { return !c.Void && c.Result == nil })))
	g.count(FoldAtEnd, folded[len(folded)-1] == m.Newest())
	entry := &compactordv1.PruneEntry{
		Id:         fmt.Sprintf("fold-%d", g.made),
		Edits:      FoldEdits(folded, wording.Fold(chosen[0], chosen[1], g.words(t))),
		Provenance: &compactordv1.Provenance{Reason: compactordv1.CompactionReason_COMPACTION_REASON_MANUAL},
	}
	g.W.Write(&compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: entry}})
}

// FoldEdits returns the edits that fold messages into a text.
func FoldEdits(messages []*Active, text string) []*compactordv1.Edit {
	start, end := messages[0].Index, messages[len(messages)-1].Index+1
	var edits []*compactordv1.Edit
	for _, a := range messages {
		edits = append(edits, &compactordv1.Edit{
			Index: a.Index, Kind: compactordv1.EditKind_EDIT_KIND_FOLD, FoldStart: start, FoldEnd: end,
		})
	}
	edits[0].Replacement = text
	return edits
}
