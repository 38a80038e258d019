package session

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Written is the result of Write.
type Written struct {
	// Record is the complete record, with its place and what it changes in views.
	Record *compactordv1.Record
	// State is the state after the record. Its head has the figures of the view.
	State *State
}

// Write completes a record for the end of the log whose state is before, and returns it with the state after it. at is
// the head at a Revert's point. load returns the state of a head where before does not hold all its messages: after a
// Revert, a Pin or an Unpin, and where a compaction replays a message that is covered already.
func Write(
	before *State, record *compactordv1.Record, at *storagev1.Head, load func(*storagev1.Head) (*State, error),
) (*Written, error) {
	r := proto.CloneOf(record)
	r.Sequence, r.NextIndex = before.Head.GetNextSequence(), before.Head.GetNextIndex()
	change := viewChange(r)
	if change != nil {
		change.ViewFormat, change.NextIndex = ViewFormat, r.GetNextIndex()
		if r.GetRevert() != nil {
			change.ViewFormat = at.GetViewFormat()
		}
	}
	// Thinking that the change makes invalid comes after the change, so ChangedFrom can be found before it is known.
	h, err := Apply(before.Head, before.Policy, r, at)
	if err != nil {
		return nil, err
	}
	from, err := before.withReplayed(r, load)
	if err != nil {
		return nil, err
	}
	after := from.afterRecord(r, h)
	if after == nil {
		if after, err = load(h); err != nil {
			return nil, err
		}
	}
	if change != nil {
		change.ChangedFrom = ChangedFrom(before, after, firstChanged(r))
		if after.Head, err = Apply(before.Head, before.Policy, r, at); err != nil {
			return nil, err
		}
	}
	after.Head = after.headSince(before, r)
	return &Written{Record: r, State: after}, nil
}

// withReplayed returns the state with the message that a compaction will replay, where an earlier compaction covers it
// already. Only that message is taken from the loaded state, since records just written are not stored yet.
func (s *State) withReplayed(r *compactordv1.Record, load func(*storagev1.Head) (*State, error)) (*State, error) {
	again := r.GetCompaction().GetReplayedIndex()
	if r.GetCompaction() == nil || r.GetCompaction().ReplayedIndex == nil || s.Entry == nil || again >= KeptFrom(s.Head) {
		return s, nil
	}
	h := proto.CloneOf(s.Head)
	h.Compaction.ReplayedIndex = &again
	loaded, err := load(h)
	if err != nil {
		return nil, err
	}
	next := *s
	next.Head, next.OutOfPlace = h, loaded.OutOfPlace
	next.Edits = maps.Clone(s.Edits)
	if edits := loaded.Edits[again]; len(edits) > 0 {
		next.Edits[again] = edits
	}
	return &next, nil
}

// viewChange gives a record an empty ViewChange and returns it; nil for records that change no view.
func viewChange(r *compactordv1.Record) *compactordv1.ViewChange {
	vc := &compactordv1.ViewChange{}
	switch k := r.GetKind().(type) {
	case *compactordv1.Record_Compaction:
		k.Compaction.ViewChange, k.Compaction.Sequence = vc, r.GetSequence()
	case *compactordv1.Record_Prune:
		k.Prune.ViewChange, k.Prune.Sequence = vc, r.GetSequence()
	case *compactordv1.Record_Revert:
		k.Revert.ViewChange = vc
	case *compactordv1.Record_Pin:
		k.Pin.ViewChange = vc
	case *compactordv1.Record_Unpin:
		k.Unpin.ViewChange = vc
	case *compactordv1.Record_ContextBlocks:
		k.ContextBlocks.ViewChange = vc
	case *compactordv1.Record_Instructions:
		k.Instructions.ViewChange = vc
	case *compactordv1.Record_PolicyChange:
		if k.PolicyChange.GetViewChange() == nil {
			return nil
		}
		k.PolicyChange.ViewChange = vc
	default:
		return nil
	}
	return vc
}

// afterRecord returns the state after a record that only removes or edits messages of the view; nil for the others.
func (s *State) afterRecord(r *compactordv1.Record, h *storagev1.Head) *State {
	next := *s
	next.Head = h
	switch k := r.GetKind().(type) {
	case *compactordv1.Record_Compaction:
		next.Entry = k.Compaction
		cut := slices.IndexFunc(s.Kept, func(l *compactordv1.LoggedMessage) bool {
			return l.GetIndex() >= k.Compaction.GetFirstKeptIndex()
		})
		if cut < 0 {
			return nil
		}
		next.Kept = s.Kept[cut:]
		stay := OutOfPlaceIndexes(h)
		next.OutOfPlace = nil
		for _, l := range slices.Concat(s.OutOfPlace, s.Kept[:cut]) {
			if slices.Contains(stay, l.GetIndex()) {
				next.OutOfPlace = append(next.OutOfPlace, l)
			}
		}
	case *compactordv1.Record_Prune:
		next.Edits = s.WithEdits(k.Prune.GetEdits()).Edits
	case *compactordv1.Record_PolicyChange:
		next.Policy = k.PolicyChange.GetResolved()
	case *compactordv1.Record_ContextBlocks:
		next.Blocks = blocksOf(h, s, r.GetSequence(), k.ContextBlocks)
	case *compactordv1.Record_Instructions:
		next.Instructions = k.Instructions.GetMessages()
	case *compactordv1.Record_Attempt, *compactordv1.Record_Checkpoint:
	default:
		return nil
	}
	return &next
}

// ChangesView reports whether a change of policy changes views.
func ChangesView(before, after *compactordv1.Policy) bool {
	return thinkingPolicy(before, compactordv1.ThinkingPolicy_THINKING_POLICY_UNSPECIFIED) !=
		thinkingPolicy(after, compactordv1.ThinkingPolicy_THINKING_POLICY_UNSPECIFIED) ||
		before.GetSummary().GetPlacement() != after.GetSummary().GetPlacement() ||
		blockLimit(before) != blockLimit(after) || allowsOperator(before) != allowsOperator(after)
}
