package compaction

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/operations"
	"github.com/compactord/compactord/service/sessionlog"
)

// runState is what run knows so far of a compaction, for the record of its end.
type runState struct {
	// writing is its plan with the summary writer; nil before the plan is made.
	writing *writing
	// recordsEnd says that the compaction has started, so that its end is recorded, also where it fails.
	recordsEnd bool
}

func (j *job) runRecorded(
	ctx context.Context, do func(rs *runState) (*compactordv1.CompactionEvent, error),
) (ending *compactordv1.CompactionEvent, err error) {
	rs := &runState{}
	defer func() {
		if r := recover(); r != nil {
			err = apierror.Recovered(ctx, j.Logger, "compaction", j.id, r)
		}
		if err != nil {
			ending, err = j.endedBy(ctx, rs, err)
		}
		j.Metrics.running.Dec()
		j.Metrics.ended(j.reason(), ending, err, j.Hooks.Now().Sub(j.started))
		if rs.writing != nil {
			rs.writing.writer.Finish()
		}
	}()
	j.Metrics.running.Inc()
	return do(rs)
}

// endedBy records how a compaction ended that did not complete. It returns its last event and the error of the call.
func (j *job) endedBy(ctx context.Context, rs *runState, err error) (*compactordv1.CompactionEvent, error) {
	if skipped := asSkip(err); skipped != nil {
		return j.skipped(ctx, rs, skipped), nil
	}
	e := operations.EndError(ctx, j.Logger, j.id, "compaction", err)
	if !rs.recordsEnd {
		return nil, e
	}
	attempt := &compactordv1.CompactionAttempt{
		Outcome:    compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_FAILED,
		StatusCode: int32(e.Code()), ErrorReason: e.Reason, Message: e.Message,
	}
	event := &compactordv1.CompactionEvent{Event: &compactordv1.CompactionEvent_Failed{
		Failed: &compactordv1.CompactionFailed{
			StatusCode: int32(e.Code()), Reason: e.Reason, Message: e.Message, RetryAfter: retryAfter(e),
		},
	}}
	if e.Code() == codes.Canceled {
		attempt.Outcome = compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_CANCELLED
		event.Event = &compactordv1.CompactionEvent_Cancelled{
			Cancelled: &compactordv1.CompactionCancelled{Message: e.Message},
		}
	}
	j.recordAttempt(ctx, rs, attempt)
	return event, e
}

func (j *job) skipped(ctx context.Context, rs *runState, why *skip) *compactordv1.CompactionEvent {
	if rs.recordsEnd {
		j.recordAttempt(ctx, rs, &compactordv1.CompactionAttempt{
			Outcome:    compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_SKIPPED,
			SkipReason: why.reason, Message: why.message,
		})
	}
	return &compactordv1.CompactionEvent{Event: &compactordv1.CompactionEvent_Skipped{
		Skipped: &compactordv1.CompactionSkipped{
			Reason: why.reason, Message: why.message, Report: j.currentReport(ctx),
		},
	}}
}

func retryAfter(e *apierror.Error) *durationpb.Duration {
	if e.RetryAfter == 0 {
		return nil
	}
	return durationpb.New(e.RetryAfter)
}

// runsIn reports whether the session's row still names the compaction. Else its entry was written after all, by a commit
// whose error left that open.
func (j *job) runsIn(row *storagev1.Session) bool {
	return sessionlog.Names(row, j.id)
}

// recordAttempt records a compaction that left no entry, also after its context was cancelled. Where that fails, only
// this record is lost.
func (j *job) recordAttempt(ctx context.Context, rs *runState, attempt *compactordv1.CompactionAttempt) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptTimeout)
	defer cancel()
	attempt.Provenance = rs.writing.provenanceOfAttempt(ctx)
	err := j.logs.Update(ctx, j.req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		if row.GetUid() != j.uid || j.named && !j.runsIn(row) {
			return nil, nil
		}
		next := j.logs.Begin(row)
		next.RemoveRunning(j.id)
		_, err := next.Record(ctx, &compactordv1.Record{Kind: &compactordv1.Record_Attempt{Attempt: attempt}}, nil)
		return next, err
	})
	if err != nil && !apierror.IsSessionNotFound(err) {
		j.inRow().noteLeft(ctx)
		j.Logger.WarnContext(ctx, "compaction attempt not recorded", "operation_id", j.id, "error", err)
	}
}
