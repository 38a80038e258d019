package session

import (
	"slices"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// State is a head with the messages that its view shows. It is not changed once it is made.
type State struct {
	Head    *storagev1.Head
	Policy  *compactordv1.Policy
	Counter Counter
	// Lead are the leading messages. Where Instructions replace some, views do not show those.
	Lead []*compactordv1.LoggedMessage
	// Instructions are the instructions in force, if the head has some.
	Instructions []*compactordv1.Message
	// Blocks are the context blocks in force, in the order of the head's.
	Blocks []*compactordv1.ContextBlock
	// Entry is the compaction in effect; nil where there is none.
	Entry *compactordv1.CompactionEntry
	// OutOfPlace are the covered messages that the view shows after the summary, pinned or replayed, in the order of
	// the log.
	OutOfPlace []*compactordv1.LoggedMessage
	// Kept are the active messages from KeptFrom on, in order.
	Kept []*compactordv1.LoggedMessage
	// Edits are the edits of records in force, by message index; oldest first.
	Edits map[uint32][]*compactordv1.Edit
	// Known is what is known of the messages; nil where nothing is remembered.
	Known *Known
	// Outlines is set where messages are outlines. Who needs what was said or returned asks Whole.
	Outlines *Outlines
}

// GrowsTo reports whether a head of the same log comes from the state's by nothing but appends, as far as views show.
func (s *State) GrowsTo(h *storagev1.Head) bool {
	then := s.Head
	return then.GetNextSequence() <= h.GetNextSequence() && then.GetPolicyChange() == h.GetPolicyChange() &&
		then.GetLastViewChange() == h.GetLastViewChange() && then.GetLastRevert() == h.GetLastRevert()
}

// WithAppended returns the state after messages were appended; h is the head after them.
func (s *State) WithAppended(h *storagev1.Head, messages []*compactordv1.LoggedMessage) *State {
	next := *s
	next.Head = h
	next.Blocks = blocksOf(h, s, 0, nil)
	lead := 0
	for lead < len(messages) && messages[lead].GetIndex() < h.GetLeadEnd() {
		lead++
	}
	next.Lead = slices.Concat(s.Lead, messages[:lead])
	next.Kept = slices.Concat(s.Kept, messages[lead:])
	return &next
}

// WithEdits returns the state after more edits.
func (s *State) WithEdits(edits []*compactordv1.Edit) *State {
	next := *s
	next.Edits = make(map[uint32][]*compactordv1.Edit, len(s.Edits))
	for index, before := range s.Edits {
		next.Edits[index] = slices.Clone(before)
	}
	for _, e := range edits {
		next.Edits[e.GetIndex()] = append(next.Edits[e.GetIndex()], e)
	}
	return &next
}

// LeadingShown returns the instructions and leading messages that views show.
func (s *State) LeadingShown() []*compactordv1.Message {
	shown := slices.Clone(s.Instructions)
	for _, l := range s.LeadInForce() {
		shown = append(shown, l.GetMessage())
	}
	return shown
}

// LeadInForce returns the leading messages that no instructions replace.
func (s *State) LeadInForce() []*compactordv1.LoggedMessage {
	replaced := s.Head.GetInstructions().GetReplaced()
	first := slices.IndexFunc(s.Lead, func(l *compactordv1.LoggedMessage) bool { return l.GetIndex() >= replaced })
	if first < 0 {
		return nil
	}
	return s.Lead[first:]
}

// Beside returns what views show beside messages of the log and the summary: the instructions in force in place of leading
// messages, and the context blocks.
func (s *State) Beside() []*compactordv1.Message {
	beside := slices.Clone(s.Instructions)
	for i, b := range s.shownBlocks() {
		m, _ := BlockMessage(s.Counter, b, limitOf(s.Head.GetBlocks()[i]))
		beside = append(beside, m)
	}
	return beside
}
