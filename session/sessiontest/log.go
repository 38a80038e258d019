package sessiontest

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Item is a message or a record of a log.
type Item struct {
	// Message is set for messages only.
	Message *compactordv1.Message
	// MadeFrom is, for an ASSISTANT message, the point of the view that the client says it was made from.
	MadeFrom *uint32
	// Arrival is, for a result that answers a call, how views show it from the first on.
	Arrival []*compactordv1.Edit
	// Record is set for records only.
	Record *compactordv1.Record
}

// Log is messages and records by sequence: no head, no index.
type Log struct {
	Items []Item
	// Estimator is how its tokens are counted; UNSPECIFIED is CHARS4.
	Estimator compactordv1.Estimator

	// estimates are those of views by point, as far as they were asked for.
	estimates map[uint32]uint32
	// due says by the sequence of a record whether compaction was due after it, as far as it was asked.
	due map[uint32]bool
}

// Newest is the newest point. The log must not be empty.
func (l *Log) Newest() uint32 { return uint32(len(l.Items) - 1) }

// Messages counts the messages up to a point, which is the index that the next one gets.
func (l *Log) Messages(point uint32) uint32 {
	var count uint32
	for _, item := range l.Items[:point+1] {
		if item.Message != nil {
			count++
		}
	}
	return count
}

// PolicyAt is the policy that was in force just after a point. Reverts do not bring back a policy.
func (l *Log) PolicyAt(point uint32) *compactordv1.Policy {
	var policy *compactordv1.Policy
	for _, item := range l.Items[:point+1] {
		if change := item.Record.GetPolicyChange(); change != nil {
			policy = change.GetResolved()
		}
	}
	return policy
}

// ChangesViews says whether the item is a record that changes views, a Revert included.
func (i Item) ChangesViews() bool {
	switch k := i.Record.GetKind().(type) {
	case *compactordv1.Record_Compaction, *compactordv1.Record_Prune, *compactordv1.Record_Revert,
		*compactordv1.Record_Pin, *compactordv1.Record_Unpin:
		return true
	case *compactordv1.Record_PolicyChange:
		return k.PolicyChange.GetViewChange() != nil
	default:
		return false
	}
}

// ViewChange returns what the record says that it changes; nil where it changes none.
func (i Item) ViewChange() *compactordv1.ViewChange {
	switch k := i.Record.GetKind().(type) {
	case *compactordv1.Record_Compaction:
		return k.Compaction.GetViewChange()
	case *compactordv1.Record_Prune:
		return k.Prune.GetViewChange()
	case *compactordv1.Record_Pin:
		return k.Pin.GetViewChange()
	case *compactordv1.Record_Unpin:
		return k.Unpin.GetViewChange()
	case *compactordv1.Record_Revert:
		return k.Revert.GetViewChange()
	case *compactordv1.Record_PolicyChange:
		return k.PolicyChange.GetViewChange()
	default:
		return nil
	}
}
