package session

import (
	"slices"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// State is a head with what its view shows. Nothing in it is changed once it is made.
type State struct {
	Head    *storagev1.Head
	Policy  *compactordv1.Policy
	Counter Counter
	// Lead is the leading run of SYSTEM and DEVELOPER messages.
	Lead []*compactordv1.LoggedMessage
	// Entry is the effective compaction; nil where there is none.
	Entry *compactordv1.CompactionEntry
	// OutOfPlace are the pinned messages, and the replayed one, that the summary covers, in the order of the log.
	OutOfPlace []*compactordv1.LoggedMessage
	// Kept are the active messages from KeptFrom on, in order.
	Kept []*compactordv1.LoggedMessage
	// Edits are those in force, by message index; for each message the older first.
	Edits map[uint32][]*compactordv1.Edit
}

// WithAppended is the state after messages were appended, which left the head h.
func (s *State) WithAppended(h *storagev1.Head, messages []*compactordv1.LoggedMessage) *State {
	next := *s
	next.Head = h
	lead := 0
	for lead < len(messages) && messages[lead].GetIndex() < h.GetLeadEnd() {
		lead++
	}
	next.Lead = slices.Concat(s.Lead, messages[:lead])
	next.Kept = slices.Concat(s.Kept, messages[lead:])
	return &next
}
