package sessiontest

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Item is a message or a record of a log.
type Item struct {
	// Message is set for messages only.
	Message *compactordv1.Message
	// MadeFrom is the point of the view that an ASSISTANT message was made from, according to the client.
	MadeFrom *uint32
	// ExtraTokens are the tokens of the extra blocks in that view.
	ExtraTokens uint32
	// Arrival are the arrival edits of a result that answers a call.
	Arrival []*compactordv1.Edit
	// ParentIndex is set for a message that a child has copied: its index in the parent's log.
	ParentIndex *uint32
	// Record is set for records only.
	Record *compactordv1.Record
}

// Log is a list of messages and records by sequence, without head or index.
type Log struct {
	Items []Item
	// Estimator counts the log's tokens; UNSPECIFIED means CHARS4.
	Estimator compactordv1.Estimator

	// estimates caches the estimates of views, by point.
	estimates map[uint32]uint32
	// due caches whether compaction was due after a record, by sequence.
	due map[uint32]bool
}

// Newest returns the newest point. The log must not be empty.
func (l *Log) Newest() uint32 { return uint32(len(l.Items) - 1) }

// Messages returns the number of messages up to a point, which is the next index.
func (l *Log) Messages(point uint32) uint32 {
	var count uint32
	for _, item := range l.Items[:point+1] {
		if item.Message != nil {
			count++
		}
	}
	return count
}

// PolicyAt returns the policy in force directly after a point. Reverts do not change the policy.
func (l *Log) PolicyAt(point uint32) *compactordv1.Policy {
	var policy *compactordv1.Policy
	for _, item := range l.Items[:point+1] {
		if change := item.Record.GetPolicyChange(); change != nil {
			policy = change.GetResolved()
		}
	}
	return policy
}

// ChangesViews reports whether the item is a record that changes views, or a Revert.
func (i Item) ChangesViews() bool {
	switch k := i.Record.GetKind().(type) {
	case *compactordv1.Record_Compaction, *compactordv1.Record_Prune, *compactordv1.Record_Revert,
		*compactordv1.Record_Pin, *compactordv1.Record_Unpin, *compactordv1.Record_ContextBlocks,
		*compactordv1.Record_Instructions:
		return true
	case *compactordv1.Record_PolicyChange:
		return k.PolicyChange.GetViewChange() != nil
	default:
		return false
	}
}

// ViewChange returns the record's ViewChange; nil where it changes no view.
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
	case *compactordv1.Record_ContextBlocks:
		return k.ContextBlocks.GetViewChange()
	case *compactordv1.Record_Instructions:
		return k.Instructions.GetViewChange()
	case *compactordv1.Record_PolicyChange:
		return k.PolicyChange.GetViewChange()
	default:
		return nil
	}
}
