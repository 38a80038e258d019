package points

import (
	"context"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
)

// destination returns the Revert that a request asks for, with its point.
func (p *Points) destination(
	ctx context.Context, row *storagev1.Session, req *compactordv1.RevertToCheckpointRequest,
) (*compactordv1.Revert, error) {
	var point uint32
	var err error
	switch target := req.GetTarget().(type) {
	case *compactordv1.RevertToCheckpointRequest_CheckpointId:
		c, err := p.Logs.CheckpointInForce(ctx, row, target.CheckpointId)
		if err != nil {
			return nil, err
		}
		return &compactordv1.Revert{Point: c.GetPoint(), CheckpointId: &c.Id}, nil
	case *compactordv1.RevertToCheckpointRequest_Point:
		point = target.Point
	case *compactordv1.RevertToCheckpointRequest_Turns:
		point, err = p.beforeTurns(ctx, row, target.Turns)
	case *compactordv1.RevertToCheckpointRequest_Undo:
		point, err = p.beforeLastChange(ctx, row)
	default:
		err = apierror.InvalidField("target", "set checkpoint_id, point, turns or undo")
	}
	return &compactordv1.Revert{Point: point}, err
}

// turnChunk is the number of messages that are read at a time, backwards, and turnBytes about how many bytes they may have:
// where they have more, fewer are read.
const (
	turnChunk = 128
	turnBytes = 4 << 20
)

// beforeTurns returns the point before the first of the last active turns, as many as turns says.
func (p *Points) beforeTurns(ctx context.Context, row *storagev1.Session, turns uint32) (uint32, error) {
	left := turns
	active := row.GetHead().GetActive()
	for i := len(active) - 1; i >= 0; i-- {
		count := uint32(turnChunk)
		for end := active[i].GetEndIndex(); end > active[i].GetFirstIndex(); {
			from := max(active[i].GetFirstIndex(), end-min(end, count))
			chunk, err := p.Logs.Messages(ctx, row, from, end, turnBytes)
			if err != nil {
				return 0, err
			}
			if len(chunk) == 0 {
				return 0, sessionlog.MissingMessage(from)
			}
			if len(chunk) < int(end-from) {
				count = uint32(len(chunk))
				continue
			}
			for at := len(chunk) - 1; at >= 0; at-- {
				if !session.StartsTurn(chunk[at].GetMessage()) {
					continue
				}
				if left--; left == 0 {
					return chunk[at].GetSequence() - 1, nil
				}
			}
			end = from
		}
	}
	return 0, apierror.New(compactordv1.ErrorReason_ERROR_REASON_NOTHING_TO_REVERT,
		map[string]string{"turns": decimal(turns), "active_turns": decimal(turns - left)},
		"turns: %d cannot be taken back, since the conversation has only %d", turns, turns-left)
}

// beforeLastChange returns the point before the newest record that an undo undoes: a Revert, or what has changed the
// view since the last one.
//
// It skips changes of the policy, since a revert does not bring the old policy back. It skips changes of context blocks and
// instructions, which the client can set again without putting messages aside. It skips imported compactions,
// since before them the session never had a view here. It skips the prunes of policy.on_user_message: each turn makes
// one, so nothing before them could ever be undone.
func (p *Points) beforeLastChange(ctx context.Context, row *storagev1.Session) (uint32, error) {
	changed := row.GetHead().GetLastViewChange()
	for changed > 0 {
		stored, err := p.Logs.RecordAtOrBefore(ctx, row, changed)
		if err != nil {
			return 0, err
		}
		if undoable(stored.GetRecord()) {
			return changed - 1, nil
		}
		before, err := p.Logs.RecordAtOrBefore(ctx, row, changed-1)
		if err != nil {
			return 0, err
		}
		changed = before.GetHead().GetLastViewChange()
	}
	return 0, apierror.New(compactordv1.ErrorReason_ERROR_REASON_NOTHING_TO_REVERT, nil,
		"undo: nothing that can be undone has changed the view of this session")
}

// undoable says whether an undo undoes a record that changed the view.
func undoable(r *compactordv1.Record) bool {
	return r.GetPolicyChange() == nil && r.GetContextBlocks() == nil && r.GetInstructions() == nil &&
		r.GetCompaction().GetImportedFrom() == "" &&
		r.GetPrune().GetProvenance().GetReason() != compactordv1.CompactionReason_COMPACTION_REASON_USER_MESSAGE
}
