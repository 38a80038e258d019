package compaction

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/storage"
)

// Before anybody hears that a compaction has started, the session's row names it. The transaction that writes its entry or
// its attempt takes it out. So what a row still names when the store is opened again was cut off with its daemon.

// begin makes the session's row name the compaction.
func (j *job) begin(ctx context.Context) error {
	return j.logs.Update(ctx, j.req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		if row.GetUid() != j.uid {
			return nil, j.overtaken()
		}
		p := j.logs.BeginUnseen(row)
		p.Row().Running = append(p.Row().GetRunning(), &storagev1.RunningCompaction{
			OperationId: j.id, Reason: j.reason(), StartedAt: timestamppb.New(j.started), Opening: j.logs.Opening(),
		})
		return p, nil
	})
}

// RecordInterrupted writes an attempt for each compaction that was cut off with its daemon. What cannot be written now is
// written at the next opening.
func (c *Compactor) RecordInterrupted(ctx context.Context) {
	abandoned, err := c.logs.Abandoned(ctx)
	if err != nil {
		c.Logger.WarnContext(ctx, "compactions that were cut off not looked for", "error", err)
		return
	}
	for _, ref := range abandoned {
		if err := c.interrupted(ctx, ref); err != nil && !apierror.IsSessionNotFound(err) {
			c.Logger.WarnContext(ctx, "compaction that was cut off not recorded", "session_uid", ref.UID, "error", err)
		}
	}
}

// interrupted writes the attempts of one session.
func (c *Compactor) interrupted(ctx context.Context, ref storage.Ref) error {
	return c.logs.Update(ctx, ref.SessionID, func(row *storagev1.Session) (*sessionlog.Write, error) {
		if row.GetUid() != ref.UID || !storage.RunsUnderOther(row, c.logs.Opening()) {
			return nil, nil
		}
		p := c.logs.Begin(row)
		for _, r := range row.GetRunning() {
			if r.GetOpening() == c.logs.Opening() {
				continue
			}
			p.EndsCompaction(r.GetOperationId())
			attempt := &compactordv1.CompactionAttempt{
				Provenance:  &compactordv1.Provenance{OperationId: r.GetOperationId(), Reason: r.GetReason()},
				Outcome:     compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_FAILED,
				StatusCode:  int32(codes.Unavailable),
				ErrorReason: compactordv1.ErrorReason_ERROR_REASON_INTERRUPTED,
				Message:     "the daemon ended before it had recorded the end of this compaction; nothing of it was written",
			}
			if _, err := p.Record(ctx, &compactordv1.Record{Kind: &compactordv1.Record_Attempt{Attempt: attempt}}, nil); err != nil {
				return nil, err
			}
			c.Logger.InfoContext(ctx, "compaction was cut off", "operation_id", r.GetOperationId(), "started_at", r.GetStartedAt().AsTime())
		}
		return p, nil
	})
}
