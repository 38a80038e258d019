package sessiontest

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

func (g *Generator) compact(t *rapid.T) {
	m := g.Model()
	var places []uint32
	for _, index := range m.CutPlaces() {
		if index != m.Kept()[0].Index {
			places = append(places, index)
		}
	}
	if len(places) == 0 {
		return
	}
	cut := oneOf(t, "cut", places)
	g.made++
	entry := &compactordv1.CompactionEntry{
		Id: fmt.Sprintf("entry-%d", g.made), FirstKeptIndex: cut, Summary: g.words(t),
		PreviousEntryId: m.Entry.GetId(), Provenance: &compactordv1.Provenance{Reason: reason(t)},
	}
	if chance(t, 30, "slots") {
		entry.Slots = &compactordv1.Slots{
			OpenTodos:       []*compactordv1.Todo{{Text: g.words(t), InProgress: chance(t, 50, "in progress"), Index: 1}},
			LastUserRequest: &compactordv1.UserRequest{Index: 1, Text: g.words(t)},
		}
	}
	g.replay(t, m, entry)
	g.count(FirstCompaction, m.Entry == nil)
	g.count(LaterCompaction, m.Entry != nil)
	g.count(CompactionInTurn, !session.StartsTurn(m.Find(cut).Message))
	g.count(PinnedCovered, slices.ContainsFunc(m.Messages, func(a *Active) bool {
		return len(m.Lead()) > 0 && a.Index > m.Lead()[len(m.Lead())-1].Index && a.Index < cut && m.Pinned(a.Index)
	}))
	g.count(FoldCovered, slices.ContainsFunc(m.Kept(), func(a *Active) bool { return a.Index < cut && m.Folded(a) }))
	g.W.Write(&compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: entry}})
}

// replay makes the entry replay the last user message, covered or not.
func (g *Generator) replay(t *rapid.T, m *Model, entry *compactordv1.CompactionEntry) {
	if !chance(t, 25, "replay") {
		return
	}
	for _, a := range m.Messages {
		if session.StartsTurn(a.Message) {
			entry.ReplayedIndex = proto.Uint32(a.Index)
		}
	}
	g.count(ReplayMade, entry.ReplayedIndex != nil && entry.GetReplayedIndex() < entry.GetFirstKeptIndex())
}

func (g *Generator) prune(t *rapid.T) {
	m := g.Model()
	edits := g.possibleEdits(m)
	if len(edits) == 0 {
		return
	}
	var chosen []*compactordv1.Edit
	for range between(t, 1, 4, "edits") {
		e := proto.CloneOf(oneOf(t, "edit", edits))
		if slices.ContainsFunc(chosen, func(c *compactordv1.Edit) bool { return c.GetIndex() == e.GetIndex() }) {
			continue
		}
		if e.GetKind() != compactordv1.EditKind_EDIT_KIND_DROP_THINKING && chance(t, 80, "with text") {
			e.Replacement = "[" + g.words(t) + "]"
		}
		g.count(EditMade, true)
		g.count(EditOverEdit, len(m.edits[e.GetIndex()]) > 0)
		g.count(EditOverArrival, len(m.Find(e.GetIndex()).Arrival) > 0)
		g.count(StrayHidden, m.Find(e.GetIndex()).Place == compactordv1.ResultPlace_RESULT_PLACE_STRAY)
		if e.GetKind() == compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP {
			g.count(GroupCollapsed, true)
			lacks := func(c *Call) bool { return c.ClosedBy != nil }
			g.count(CollapsedMissing, slices.ContainsFunc(m.Find(e.GetIndex()).calls, lacks))
		}
		chosen = append(chosen, e)
	}
	by := &compactordv1.Provenance{Reason: reason(t)}
	entry := &compactordv1.PruneEntry{Id: fmt.Sprintf("prune-%d", g.made), Edits: chosen, Provenance: by}
	if chance(t, 50, "by a compaction") {
		by.OperationId, entry.WithCut = "operation", chance(t, 25, "with a cut")
	} else if chance(t, 50, "by a user message") {
		by.Reason = compactordv1.CompactionReason_COMPACTION_REASON_USER_MESSAGE
		g.count(PrunedByUser, true)
	}
	g.count(PruneCounted, by.GetOperationId() != "" && !entry.GetWithCut() && automatic(by.GetReason()))
	g.W.Write(&compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: entry}})
}

// possibleEdits returns the possible edits of what the view shows: nothing pinned, collapsed or left out.
func (g *Generator) possibleEdits(m *Model) []*compactordv1.Edit {
	var edits []*compactordv1.Edit
	for _, a := range slices.Concat(m.OutOfPlace(), m.Kept()) {
		leader := a.leader()
		if m.Pinned(a.Index) || a.Failed() || leader != nil && m.collapsed(leader) {
			continue
		}
		switch a.Place {
		case compactordv1.ResultPlace_RESULT_PLACE_STRAY:
			edits = append(edits, &compactordv1.Edit{
				Index: a.Index, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT,
			})
			continue
		case compactordv1.ResultPlace_RESULT_PLACE_VOID:
			continue
		default:
		}
		for part, p := range a.Message.GetParts() {
			for _, kind := range kindsFor(p, m.editsOf(a), part) {
				edits = append(edits, &compactordv1.Edit{Index: a.Index, Part: uint32(part), Kind: kind})
			}
		}
		calls := a.calls
		if len(calls) > 0 && !slices.ContainsFunc(calls, func(c *Call) bool { return c.Open }) {
			edits = append(edits, &compactordv1.Edit{Index: a.Index, Kind: compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP})
		}
	}
	return edits
}

func kindsFor(p *compactordv1.Part, before []*compactordv1.Edit, part int) []compactordv1.EditKind {
	done := func(kind compactordv1.EditKind) bool {
		return slices.ContainsFunc(before, func(e *compactordv1.Edit) bool {
			return e.GetKind() == kind && int(e.GetPart()) == part
		})
	}
	hasMedia := func(rp *compactordv1.ResultPart) bool { return rp.GetMedia() != nil }
	var kinds []compactordv1.EditKind
	switch {
	case p.GetToolResult() != nil:
		kinds = []compactordv1.EditKind{
			compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, compactordv1.EditKind_EDIT_KIND_TRUNCATE_RESULT,
			compactordv1.EditKind_EDIT_KIND_OFFLOAD_RESULT, compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT,
		}
		if slices.ContainsFunc(p.GetToolResult().GetParts(), hasMedia) {
			kinds = append(kinds, compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA)
		}
	case p.GetToolCall() != nil:
		kinds = []compactordv1.EditKind{compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS}
	case p.GetThinking() != nil:
		kinds = []compactordv1.EditKind{compactordv1.EditKind_EDIT_KIND_DROP_THINKING}
	case p.GetMedia() != nil:
		kinds = []compactordv1.EditKind{compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA}
	default:
	}
	// Content that an edit has dropped or replaced cannot be edited again.
	once := func(kind compactordv1.EditKind) bool {
		return (kind == compactordv1.EditKind_EDIT_KIND_DROP_THINKING ||
			kind == compactordv1.EditKind_EDIT_KIND_REPLACE_MEDIA) && done(kind)
	}
	return slices.DeleteFunc(kinds, once)
}

func (g *Generator) pin(t *rapid.T) {
	m := g.Model()
	indexes := g.someActive(t, m)
	if len(indexes) == 0 {
		return
	}
	for _, index := range m.WithGroups(indexes) {
		a := m.Find(index)
		g.count(EditedThenPinned, len(m.editsOn(a)) > 0)
		g.count(FoldedThenPinned, m.Folded(a))
		g.count(FoldTextPinned, m.Folded(a) && !m.insideFold(a))
		open := func(c *Call) bool { return c.Open && c.Owner == a }
		g.count(PinOpenGroup, slices.ContainsFunc(m.Calls, open))
	}
	g.count(PinMade, true)
	g.W.Write(&compactordv1.Record{Kind: &compactordv1.Record_Pin{
		Pin: &compactordv1.PinChange{Indexes: indexes, Members: m.WithGroups(indexes)},
	}})
}

func (g *Generator) unpin(t *rapid.T) {
	m := g.Model()
	indexes := g.someActive(t, m)
	if pinned := g.head().GetPins(); len(pinned) > 0 {
		indexes = append(indexes, oneOf(t, "pinned", pinned))
	}
	if len(indexes) == 0 {
		return
	}
	g.count(UnpinMade, slices.ContainsFunc(indexes, m.Pinned))
	g.count(FoldedUnpinned, slices.ContainsFunc(m.WithGroups(indexes), func(index uint32) bool {
		return m.Pinned(index) && m.foldOf(m.Find(index)) != nil
	}))
	g.count(ArrivalUnpinned, slices.ContainsFunc(m.WithGroups(indexes), func(index uint32) bool {
		return m.Pinned(index) && len(m.Find(index).Arrival) > 0
	}))
	g.W.Write(&compactordv1.Record{Kind: &compactordv1.Record_Unpin{
		Unpin: &compactordv1.PinChange{Indexes: indexes, Members: m.WithGroups(indexes)},
	}})
}

func (g *Generator) someActive(t *rapid.T, m *Model) []uint32 {
	var indexes []uint32
	for range between(t, 0, 2, "messages") {
		if len(m.Messages) > 0 {
			indexes = append(indexes, oneOf(t, "message", m.Messages).Index)
		}
	}
	return indexes
}

func (g *Generator) changePolicy(t *rapid.T) {
	policy := proto.CloneOf(g.W.Policy)
	switch between(t, 0, 2, "policy") {
	case 0:
		thinking := compactordv1.ThinkingPolicy(between(t, 0, 4, "thinking"))
		g.count(ThinkingChanged, thinking != policy.GetThinking())
		policy.Thinking = &thinking
	case 1:
		placement := compactordv1.SummaryPlacement(between(t, 0, 3, "placement"))
		g.count(PlacementChanged, placement != policy.GetSummary().GetPlacement())
		policy.Summary = &compactordv1.SummaryPolicy{Placement: &placement}
	default:
		policy.ContextWindow, policy.MaxInputTokens, policy.Trigger = window(t), inputLimit(t), trigger(t)
		g.count(PolicyUnrelated, true)
	}
	g.W.Write(&compactordv1.Record{Kind: &compactordv1.Record_PolicyChange{
		PolicyChange: &compactordv1.PolicyChange{Given: policy, Resolved: policy},
	}})
}

// note writes a record that changes no view.
func (g *Generator) note(t *rapid.T) {
	if chance(t, 20, "child end") {
		g.endChild(t)
		return
	}
	if chance(t, 50, "checkpoint") {
		g.count(CheckpointMade, true)
		h := g.head()
		g.W.Write(&compactordv1.Record{Kind: &compactordv1.Record_Checkpoint{
			Checkpoint: &compactordv1.Checkpoint{Id: h.GetLastCheckpoint() + 1, Point: h.GetNextSequence()},
		}})
		return
	}
	g.count(AttemptMade, true)
	attempt := &compactordv1.CompactionAttempt{
		Provenance: &compactordv1.Provenance{Reason: reason(t)},
		Outcome: oneOf(t, "outcome", []compactordv1.AttemptOutcome{
			compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_FAILED, compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_FAILED,
			compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_SKIPPED, compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_CANCELLED,
		}),
	}
	failed := attempt.GetOutcome() == compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_FAILED
	if failed && chance(t, 30, "interrupted") {
		attempt.ErrorReason = compactordv1.ErrorReason_ERROR_REASON_INTERRUPTED
	}
	interrupted := attempt.GetErrorReason() == compactordv1.ErrorReason_ERROR_REASON_INTERRUPTED
	g.count(AttemptInterrupted, automatic(attempt.GetProvenance().GetReason()) && interrupted)
	g.count(AttemptCounted, automatic(attempt.GetProvenance().GetReason()) && !interrupted &&
		attempt.GetOutcome() != compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_CANCELLED)
	g.W.Write(&compactordv1.Record{Kind: &compactordv1.Record_Attempt{Attempt: attempt}})
}
