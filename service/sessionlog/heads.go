package sessionlog

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

// HeadAt returns the head of a session at a point. It takes the head that the newest record up to there stored, and
// advances it over the messages after that record.
func (l *Logs) HeadAt(ctx context.Context, row *storagev1.Session, point uint32) (*storagev1.Head, error) {
	return headAt(ctx, l.store, row, point)
}

func headAt(ctx context.Context, r storage.Store, row *storagev1.Session, point uint32) (*storagev1.Head, error) {
	if point == session.Point(row.GetHead()) {
		return proto.CloneOf(row.GetHead()), nil
	}
	counter, err := session.CounterFor(row.GetEstimator())
	if err != nil {
		return nil, err
	}
	ref := storage.RefOf(row)
	record, err := r.RecordAtOrBefore(ctx, ref, point)
	if err != nil {
		return nil, err
	}
	h := record.GetHead()
	// Between two records there are only messages, and each takes one sequence.
	count := point - record.GetRecord().GetSequence()
	if count == 0 {
		return h, nil
	}
	policy, err := policyOf(ctx, r, row, h)
	if err != nil {
		return nil, err
	}
	for end := h.GetNextIndex() + count; h.GetNextIndex() < end; {
		messages, err := r.Messages(ctx, ref, h.GetNextIndex(), end, messageChunk)
		if err != nil {
			return nil, err
		}
		if len(messages) == 0 {
			return nil, MissingMessage(h.GetNextIndex())
		}
		for _, l := range messages {
			session.Advance(h, counter, policy, l)
		}
	}
	return h, nil
}

// policyOf returns the policy that was in force at a head of the session.
func policyOf(
	ctx context.Context, r storage.Store, row *storagev1.Session, h *storagev1.Head,
) (*compactordv1.Policy, error) {
	if row.GetResolvedPolicy() != nil && h.GetPolicyChange() == row.GetHead().GetPolicyChange() {
		return row.GetResolvedPolicy(), nil
	}
	change, err := policyChangeOf(ctx, r, row, h)
	return change.GetResolved(), err
}

// policyChangeOf returns the record of the policy that was in force at a head of the session.
func policyChangeOf(
	ctx context.Context, r storage.Store, row *storagev1.Session, h *storagev1.Head,
) (*compactordv1.PolicyChange, error) {
	records, err := r.Records(ctx, storage.RefOf(row), h.GetPolicyChange(), h.GetPolicyChange()+1, 1)
	if err != nil {
		return nil, err
	}
	if len(records) == 0 || records[0].GetRecord().GetPolicyChange() == nil {
		return nil, fmt.Errorf("%w: no change of policy at sequence %d", storage.ErrCorrupt, h.GetPolicyChange())
	}
	return records[0].GetRecord().GetPolicyChange(), nil
}

// RowAt returns a session's row with the head and the policy that it had at a point.
func (l *Logs) RowAt(ctx context.Context, row *storagev1.Session, point uint32) (*storagev1.Session, error) {
	head, err := l.HeadAt(ctx, row, point)
	if err != nil {
		return nil, err
	}
	change, err := policyChangeOf(ctx, l.store, row, head)
	if err != nil {
		return nil, err
	}
	then := proto.CloneOf(row)
	then.Head, then.Policy, then.ResolvedPolicy = head, change.GetGiven(), change.GetResolved()
	return then, nil
}
