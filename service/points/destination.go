package points

import (
	"context"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
)

// destination is the Revert that a request asks for, with the point that it goes to.
func (p *Points) destination(
	ctx context.Context, row *storagev1.Session, req *compactordv1.RevertToCheckpointRequest,
) (*compactordv1.Revert, error) {
	var point uint32
	var err error
	switch target := req.GetTarget().(type) {
	case *compactordv1.RevertToCheckpointRequest_CheckpointId:
		c, err := p.CheckpointInForce(ctx, row, target.CheckpointId)
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
		err = apierror.InvalidField("target", "say where to: checkpoint_id, point, turns or undo")
	}
	return &compactordv1.Revert{Point: point}, err
}

// turnChunk is how many messages are read at a time, backwards.
const turnChunk = 100

// beforeTurns is the point before the message that starts the last but so many active turns.
func (p *Points) beforeTurns(ctx context.Context, row *storagev1.Session, turns uint32) (uint32, error) {
	left := turns
	active := row.GetHead().GetActive()
	for i := len(active) - 1; i >= 0; i-- {
		for end := active[i].GetEndIndex(); end > active[i].GetFirstIndex(); {
			from := max(active[i].GetFirstIndex(), end-min(end, turnChunk))
			chunk, err := p.Logs.Messages(ctx, row, from, end, 0)
			if err != nil {
				return 0, err
			}
			if len(chunk) != int(end-from) {
				return 0, sessionlog.MissingMessage(from)
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
		"turns: %d are to be taken back and the conversation has %d", turns, turns-left)
}

// beforeLastChange is the point before the newest record that an undo undoes: the newest Revert, or what has changed the
// view since. A change of policy is passed over: a revert would not bring the old one back. So is an imported compaction:
// nobody did it here, and before it the session was never seen. And so is what policy.on_user_message did: each turn does
// it again, so that nothing before it could ever be undone.
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

// undoable says whether an undo takes back a record that changed the view.
func undoable(r *compactordv1.Record) bool {
	return r.GetPolicyChange() == nil && r.GetCompaction().GetImportedFrom() == "" &&
		r.GetPrune().GetProvenance().GetReason() != compactordv1.CompactionReason_COMPACTION_REASON_USER_MESSAGE
}
