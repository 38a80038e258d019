package session

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Written is what a record leaves behind.
type Written struct {
	// Record is the record, complete: its place and what it changes in views are filled in.
	Record *compactordv1.Record
	// State is the state after it; its head has the figures of the view.
	State *State
}

// Write puts a record at the end of the log that before is the state of. load gives the state of a head that cannot be
// told from before alone: that of a Revert (whose head at its point is at), a Pin or an Unpin, or before itself with a
// covered message that a compaction shows again.
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
	// The thinking that a change makes invalid comes after what it changes, so what it changes is found without.
	h, err := Apply(before.Head, r, at)
	if err != nil {
		return nil, err
	}
	from, err := before.withReplayed(r, load)
	if err != nil {
		return nil, err
	}
	after := from.then(r, h)
	if after == nil {
		if after, err = load(h); err != nil {
			return nil, err
		}
	}
	if change != nil {
		change.ChangedFrom = ChangedFrom(before, after)
		if after.Head, err = Apply(before.Head, r, at); err != nil {
			return nil, err
		}
	}
	after.Head = after.HeadAfter(r)
	return &Written{Record: r, State: after}, nil
}

// withReplayed is the state with what a compaction is about to show again, where an earlier one covers that already. No
// more than that is taken from what is loaded: what was written just before is not stored yet.
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

// viewChange returns the record's, made where it must have one; nil for records that change no view.
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

// then is the state after a record that only takes away from what is shown, or edits it; nil for the others.
func (s *State) then(r *compactordv1.Record, h *storagev1.Head) *State {
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
		next.Edits = make(map[uint32][]*compactordv1.Edit, len(s.Edits))
		for index, edits := range s.Edits {
			next.Edits[index] = slices.Clone(edits)
		}
		for _, e := range k.Prune.GetEdits() {
			next.Edits[e.GetIndex()] = append(next.Edits[e.GetIndex()], e)
		}
	case *compactordv1.Record_PolicyChange:
		next.Policy = k.PolicyChange.GetResolved()
	case *compactordv1.Record_Attempt, *compactordv1.Record_Checkpoint:
	default:
		return nil
	}
	return &next
}

// ChangesView says whether a change of policy changes what views are made from.
func ChangesView(before, after *compactordv1.Policy) bool {
	return thinkingPolicy(before, compactordv1.ThinkingPolicy_THINKING_POLICY_UNSPECIFIED) !=
		thinkingPolicy(after, compactordv1.ThinkingPolicy_THINKING_POLICY_UNSPECIFIED) ||
		before.GetSummary().GetPlacement() != after.GetSummary().GetPlacement()
}
