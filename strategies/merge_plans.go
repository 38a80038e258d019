package strategies

import (
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// merged is what two plans do together. The first was made on the state s, the second on what the first would leave of it.
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
	// What the cut covers needs no edit: the summarizer reads it as the log has it.
	all.Edits = slices.DeleteFunc(all.GetEdits(), func(e *compactordv1.Edit) bool {
		return e.GetIndex() < all.GetCut().GetFirstKeptIndex()
	})
	at, _ := position(s, all.GetCut().GetFirstKeptIndex())
	all.SummarizerInputTokens = inputTokens(s, at)
	return all
}

// mergedEdits are earlier edits and those that a later plan adds, without the earlier ones that no view would show. The later
// edit in their place then frees what they would have freed, too. s is the state that the earlier ones were made on.
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

// cover finds the edits that leave nothing to see of a result or of a tool group, by their positions in a list.
type cover struct {
	results map[place]int
	// groups are by the message that leads the group.
	groups map[uint32]int
}

func newCover(edits []*compactordv1.Edit) cover {
	c := cover{results: make(map[place]int), groups: make(map[uint32]int)}
	for i, e := range edits {
		switch e.GetKind() {
		case compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT,
			compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT, compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT:
			c.results[place{e.GetIndex(), e.GetPart()}] = i
		case compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP:
			c.groups[e.GetIndex()] = i
		default:
		}
	}
	return c
}

// of returns which edit covers another, if any does. A message whose group is collapsed keeps its text, and loses only its
// calls.
func (c cover) of(s *session.State, e *compactordv1.Edit) (i int, covered bool) {
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
