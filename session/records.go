package session

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// ErrUnknownRecord means that this program does not know a record's kind.
var ErrUnknownRecord = errors.New("record of an unknown kind")

// Apply returns the head after a record; it does not change h. policy is the one in force before it. For a Revert, at is
// the head at its point. The figures of the view stay those before the record: WithMetrics computes the new ones.
func Apply(
	h *storagev1.Head, policy *compactordv1.Policy, r *compactordv1.Record, at *storagev1.Head,
) (*storagev1.Head, error) {
	if rev := r.GetRevert(); rev != nil {
		return applyRevert(h, r, at), nil
	}
	next := proto.CloneOf(h)
	extendActive(next, r.GetSequence()+1, next.GetNextIndex())
	next.NextSequence = r.GetSequence() + 1
	switch k := r.GetKind().(type) {
	case *compactordv1.Record_Compaction:
		e := k.Compaction
		next.Compaction = &storagev1.EffectiveCompaction{
			Sequence: r.GetSequence(), FirstKeptIndex: e.GetFirstKeptIndex(), Id: e.GetId(), ReplayedIndex: e.ReplayedIndex,
		}
		applyRewrite(next, e.GetProvenance().GetReason())
		applyViewChange(next, r.GetSequence(), e.GetViewChange())
	case *compactordv1.Record_Prune:
		applyRewrite(next, k.Prune.GetProvenance().GetReason())
		applyViewChange(next, r.GetSequence(), k.Prune.GetViewChange())
	case *compactordv1.Record_Pin:
		next.Pins = union(next.GetPins(), k.Pin.GetMembers())
		applyViewChange(next, r.GetSequence(), k.Pin.GetViewChange())
	case *compactordv1.Record_Unpin:
		next.Pins = minus(next.GetPins(), k.Unpin.GetMembers())
		applyViewChange(next, r.GetSequence(), k.Unpin.GetViewChange())
	case *compactordv1.Record_PolicyChange:
		next.PolicyChange = r.GetSequence()
		if resolved := k.PolicyChange.GetResolved(); blockLimit(policy) != blockLimit(resolved) {
			limitBlocks(next, resolved)
		}
		if vc := k.PolicyChange.GetViewChange(); vc != nil {
			applyViewChange(next, r.GetSequence(), vc)
		}
	case *compactordv1.Record_ContextBlocks:
		applyBlocks(next, r.GetSequence(), k.ContextBlocks)
		limitBlocks(next, policy)
		applyViewChange(next, r.GetSequence(), k.ContextBlocks.GetViewChange())
	case *compactordv1.Record_Instructions:
		next.Instructions = &storagev1.InstructionsInForce{
			Sequence: r.GetSequence(), Replaced: k.Instructions.GetReplaced(),
		}
		applyViewChange(next, r.GetSequence(), k.Instructions.GetViewChange())
	case *compactordv1.Record_Checkpoint:
		next.LastCheckpoint = max(next.GetLastCheckpoint(), k.Checkpoint.GetId())
	case *compactordv1.Record_Attempt, *compactordv1.Record_ChildEnd:
	default:
		return nil, fmt.Errorf("%w at sequence %d", ErrUnknownRecord, r.GetSequence())
	}
	return next, nil
}

// applyRewrite notes how much was appended before a rewrite of the view. Rewrites by policy.on_user_message do not
// count: they come with every request, and would put off every other one.
func applyRewrite(h *storagev1.Head, reason compactordv1.CompactionReason) {
	if reason != compactordv1.CompactionReason_COMPACTION_REASON_USER_MESSAGE {
		h.RewrittenAtTokens = proto.Uint32(h.GetAppendedTokens())
	}
}

func applyViewChange(h *storagev1.Head, sequence uint32, vc *compactordv1.ViewChange) {
	h.LastViewChange = sequence
	if vc == nil {
		return
	}
	h.ViewFormat = vc.GetViewFormat()
	if vc.ChangedFrom != nil {
		pushMark(h, sequence, vc.GetChangedFrom())
	}
}

// applyRevert returns the head at the point, with the figures that a Revert does not set back: the counters of the log
// and what usage reports have shown.
func applyRevert(h *storagev1.Head, r *compactordv1.Record, at *storagev1.Head) *storagev1.Head {
	next := proto.CloneOf(at)
	next.NextSequence = r.GetSequence() + 1
	next.NextIndex = h.GetNextIndex()
	next.AppendedTokens = h.GetAppendedTokens()
	next.Breaker = h.GetBreaker()
	next.LastCheckpoint = h.GetLastCheckpoint()
	// What usage reports showed about the estimates and the overhead is still true.
	next.Calibration = proto.CloneOf(h.GetCalibration())
	next.LearntOverhead, next.LearntFrom, next.LearntInput = h.LearntOverhead, h.GetLearntFrom(), h.GetLearntInput()
	next.PolicyChange = h.GetPolicyChange()
	if r.GetRevert().GetKeepsContext() {
		kept := proto.CloneOf(h)
		next.Blocks, next.Instructions = kept.GetBlocks(), kept.GetInstructions()
		next.LastBlockExpiry = h.GetLastBlockExpiry()
	}
	next.LastViewChange = r.GetSequence()
	next.LastRevert = r.GetSequence()
	next.Active = append(next.GetActive(), &storagev1.ActiveRange{
		FirstSequence: r.GetSequence(), EndSequence: r.GetSequence() + 1,
		FirstIndex: h.GetNextIndex(), EndIndex: h.GetNextIndex(),
	})
	return next
}

func union(a, b []uint32) []uint32 {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

func minus(a, b []uint32) []uint32 {
	return slices.DeleteFunc(slices.Clone(a), func(i uint32) bool { return slices.Contains(b, i) })
}

// NextCheckpoint returns a new checkpoint at the end of the log. Its point is its own sequence, so that it stays in
// force after a revert to it.
func NextCheckpoint(h *storagev1.Head, title string) *compactordv1.Checkpoint {
	return &compactordv1.Checkpoint{Id: h.GetLastCheckpoint() + 1, Point: h.GetNextSequence(), Title: title}
}
