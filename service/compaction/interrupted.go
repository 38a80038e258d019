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

// Before a compaction sends `started`, its session's row names it. The transaction that writes its entry or its attempt
// removes it from the row. So what a row still names when the store is opened again was interrupted by the end of its
// daemon.

// begin writes the compaction into the session's row.
func (j *job) begin(ctx context.Context) error {
	return j.logs.Update(ctx, j.req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		if row.GetUid() != j.uid {
			return nil, j.stateChanged()
		}
		next := j.logs.BeginInternal(row)
		next.Row().Running = append(next.Row().GetRunning(), &storagev1.RunningCompaction{
			OperationId: j.id, Reason: j.reason(), StartedAt: timestamppb.New(j.started), Opening: j.logs.Opening(),
		})
		return next, nil
	})
}

// RecordInterrupted writes an attempt for each compaction that was interrupted by the end of its daemon. What it cannot
// write now, it writes at the next opening of the store.
func (c *Compactor) RecordInterrupted(ctx context.Context) {
	abandoned, err := c.logs.Abandoned(ctx)
	if err != nil {
		c.Logger.WarnContext(ctx, "compactions that were cut off not looked for", "error", err)
		return
	}
	for _, ref := range abandoned {
		if err := c.recordInterruptedOf(ctx, ref); err != nil && !apierror.IsSessionNotFound(err) {
			c.Logger.WarnContext(ctx, "compaction that was cut off not recorded", "session_uid", ref.UID, "error", err)
		}
	}
}

// recordInterruptedOf writes the attempts of one session.
func (c *Compactor) recordInterruptedOf(ctx context.Context, ref storage.Ref) error {
	return c.logs.Update(ctx, ref.SessionID, func(row *storagev1.Session) (*sessionlog.Write, error) {
		if row.GetUid() != ref.UID || !storage.RunsUnderOther(row, c.logs.Opening()) {
			return nil, nil
		}
		next := c.logs.Begin(row)
		for _, r := range row.GetRunning() {
			if r.GetOpening() == c.logs.Opening() {
				continue
			}
			next.RemoveRunning(r.GetOperationId())
			attempt := &compactordv1.CompactionAttempt{
				Provenance:  &compactordv1.Provenance{OperationId: r.GetOperationId(), Reason: r.GetReason()},
				Outcome:     compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_FAILED,
				StatusCode:  int32(codes.Unavailable),
				ErrorReason: compactordv1.ErrorReason_ERROR_REASON_INTERRUPTED,
				Message:     "the daemon ended before it had recorded the end of this compaction; nothing of it was written",
			}
			if _, err := next.Record(ctx, &compactordv1.Record{Kind: &compactordv1.Record_Attempt{Attempt: attempt}}, nil); err != nil {
				return nil, err
			}
			c.Logger.InfoContext(ctx, "compaction was cut off", "operation_id", r.GetOperationId(), "started_at", r.GetStartedAt().AsTime())
		}
		return next, nil
	})
}
