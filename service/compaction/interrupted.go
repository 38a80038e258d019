package compaction

import (
	"context"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/operations"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/tenant"
	"github.com/compactord/compactord/storage"
)

// Before a compaction sends `started`, its session's row names it. The transaction that writes its entry or its attempt
// removes it from the row. So what a row names of an opening of the store that is over was interrupted by the end of its
// daemon.

// begin writes the compaction into the session's row. Compactions of this daemon that the row still names, since the store
// refused the record of their end, get it first: a daemon runs one at a time for a session. So do those of daemons that are
// dead.
func (j *job) begin(ctx context.Context) error {
	row, err := j.logs.Row(ctx, j.req.GetSessionId())
	if err != nil {
		return err
	}
	if row.GetUid() != j.uid {
		return j.stateChanged()
	}
	if len(row.GetRunning()) > 0 {
		if err := j.recordLeft(ctx, storage.RefOf(row), func(*storagev1.RunningCompaction) bool { return true }); err != nil {
			return err
		}
	}
	return j.logs.Update(ctx, j.req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		if row.GetUid() != j.uid {
			return nil, j.stateChanged()
		}
		if other, err := j.runsElsewhere(ctx, row, ""); err != nil {
			return nil, err
		} else if other != nil {
			return nil, operations.RunsAlready(other.GetOperationId())
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
		if err := c.recordLeft(ctx, ref, nil); err != nil && !apierror.IsSessionNotFound(err) {
			c.Logger.WarnContext(ctx, "compaction that was cut off not recorded", "session_uid", ref.UID, "error", err)
		}
	}
}

// WatchInterrupted does the same again and again, for the compactions of other daemons that end while this one serves, until
// the context ends. It also records those of this daemon whose end the store refused to record.
func (c *Compactor) WatchInterrupted(ctx context.Context, every time.Duration) {
	ticker, own := time.NewTicker(every), time.NewTicker(recordLeftEvery)
	defer ticker.Stop()
	defer own.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			c.RecordInterrupted(ctx)
		case <-own.C:
			c.recordOwnLeft(ctx)
		}
	}
}

// recordLeft writes an attempt for each compaction that a session's row names and no daemon runs any more. ownLeft says of one
// of this daemon whether it has ended; nil: none has.
func (c *Compactor) recordLeft(
	ctx context.Context, ref storage.Ref, ownLeft func(*storagev1.RunningCompaction) bool,
) error {
	// What the daemon does at its start has no caller's tenant.
	ctx = tenant.With(ctx, ref.Tenant)
	return c.logs.Update(ctx, ref.SessionID, func(row *storagev1.Session) (*sessionlog.Write, error) {
		if row.GetUid() != ref.UID {
			return nil, nil
		}
		ended, err := c.logs.Ended(ctx, row)
		if err != nil {
			return nil, err
		}
		isLeft := func(r *storagev1.RunningCompaction) bool {
			return ended[r.GetOpening()] || ownLeft != nil && r.GetOpening() == c.logs.Opening() && ownLeft(r)
		}
		if !slices.ContainsFunc(row.GetRunning(), isLeft) {
			return nil, nil
		}
		next := c.logs.Begin(row)
		for _, r := range row.GetRunning() {
			if !isLeft(r) {
				continue
			}
			next.RemoveRunning(r.GetOperationId())
			if r.GetRevert() {
				continue
			}
			if _, err := next.Record(ctx, &compactordv1.Record{Kind: &compactordv1.Record_Attempt{Attempt: c.interrupted(r)}}, nil); err != nil {
				return nil, err
			}
			c.Logger.InfoContext(ctx, "compaction was cut off", "operation_id", r.GetOperationId(), "started_at", r.GetStartedAt().AsTime())
		}
		return next, nil
	})
}

// interrupted returns the attempt of a compaction that nothing runs any more.
func (c *Compactor) interrupted(r *storagev1.RunningCompaction) *compactordv1.CompactionAttempt {
	message := "the daemon ended before it had recorded the end of this compaction; nothing of it was written"
	if r.GetOpening() == c.logs.Opening() {
		message = "the store did not take the record of the end of this compaction; nothing of it was written"
	}
	return &compactordv1.CompactionAttempt{
		Provenance:  &compactordv1.Provenance{OperationId: r.GetOperationId(), Reason: r.GetReason()},
		Outcome:     compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_FAILED,
		StatusCode:  int32(codes.Unavailable),
		ErrorReason: compactordv1.ErrorReason_ERROR_REASON_INTERRUPTED,
		Message:     message,
	}
}
