package strategies

import (
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// merged returns a plan that does what both plans do. The first was made for state s, the second for the state that the
// first would leave.
func merged(s *session.State, first, second *compactordv1.CompactionPlan) *compactordv1.CompactionPlan {
	all := &compactordv1.CompactionPlan{
		TokensBefore: first.GetTokensBefore(),
		Edits:        mergedEdits(s, first.GetEdits(), second.GetEdits()),
		Cut:          first.GetCut(),
	}
	if cut := second.GetCut(); cut != nil {
		all.Cut = &compactordv1.Cut{
			FirstKeptIndex: cut.GetFirstKeptIndex(),
			Summarized: &compactordv1.IndexRange{
				Start: session.KeptFrom(s.Head), End: cut.GetFirstKeptIndex(),
			},
			SplitTurnStart: cut.SplitTurnStart, MaxSummaryTokens: cut.GetMaxSummaryTokens(),
		}
	}
	if all.GetCut() == nil {
		return all
	}
	// Messages that the cut covers need no edit: the summarizer reads them unchanged.
	all.Edits = slices.DeleteFunc(all.GetEdits(), func(e *compactordv1.Edit) bool {
		return e.GetIndex() < all.GetCut().GetFirstKeptIndex()
	})
	at, _ := position(s, all.GetCut().GetFirstKeptIndex())
	all.SummarizerInputTokens = inputTokens(s, at)
	return all
}

// mergedEdits returns earlier edits and those of a later plan, without earlier ones that no view would show. The later
// edit at the same place then also frees what they would have freed. s is the state for which the earlier edits were
// made.
func mergedEdits(s *session.State, earlier, later []*compactordv1.Edit) []*compactordv1.Edit {
	later = slices.Clone(later)
	cover := newCover(later)
	left := make([]*compactordv1.Edit, 0, len(earlier)+len(later))
	for _, e := range earlier {
		i, covered := cover.of(s, e)
		if !covered {
			left = append(left, e)
			continue
		}
		over := proto.CloneOf(later[i])
		over.TokensFreed += e.GetTokensFreed()
		later[i] = over
	}
	return append(left, later...)
}

// cover finds the edits that leave nothing visible of a result, of a tool group, or of a whole message. It holds their
// positions in a list.
type cover struct {
	results map[place]int
	// folds are indexed by all messages that are folded, and are the edits that carry the folds.
	folds map[uint32]int
	// groups are indexed by the message that begins the group.
	groups map[uint32]int
}

func newCover(edits []*compactordv1.Edit) cover {
	c := cover{results: make(map[place]int), folds: make(map[uint32]int), groups: make(map[uint32]int)}
	carrier := 0
	for i, e := range edits {
		switch e.GetKind() {
		case compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT,
			compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT, compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT:
			c.results[place{e.GetIndex(), e.GetPart()}] = i
		case compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP:
			c.groups[e.GetIndex()] = i
		case compactordv1.EditKind_EDIT_KIND_FOLD:
			if session.Carries(e) {
				carrier = i
			}
			c.folds[e.GetIndex()] = carrier
		default:
		}
	}
	return c
}

// of returns the edit that covers another, if there is one. A message of a collapsed group keeps its text and loses
// only its calls.
func (c cover) of(s *session.State, e *compactordv1.Edit) (i int, covered bool) {
	if i, covered = c.folds[e.GetIndex()]; covered {
		return i, true
	}
	if i, covered = c.results[place{e.GetIndex(), e.GetPart()}]; covered {
		return i, true
	}
	if e.GetKind() == compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS {
		i, covered = c.groups[e.GetIndex()]
		return i, covered
	}
	at, kept := position(s, e.GetIndex())
	if !kept || s.Kept[at].GetResultPlace() != compactordv1.ResultPlace_RESULT_PLACE_ANSWER {
		return 0, false
	}
	i, covered = c.groups[s.Kept[at].GetAnswers().GetIndex()]
	return i, covered
}
