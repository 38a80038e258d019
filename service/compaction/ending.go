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

// soFar is how far a compaction has come, for the account of its end.
type soFar struct {
	// writing is its plan with who writes the texts; nil as long as there is no plan.
	writing *writing
	// announced says that it is to be recorded how the compaction ends, also where it fails.
	announced bool
}

// account does what makes up a compaction, records how that ended, and counts it. It returns the last event; nil where only
// the error tells the end. The error is the call's.
func (j *job) account(
	ctx context.Context, do func(so *soFar) (*compactordv1.CompactionEvent, error),
) (ending *compactordv1.CompactionEvent, err error) {
	so := &soFar{}
	defer func() {
		if r := recover(); r != nil {
			err = apierror.Recovered(ctx, j.Logger, "compaction", j.id, r)
		}
		if err != nil {
			ending, err = j.endedBy(ctx, so, err)
		}
		j.Metrics.running.Dec()
		j.Metrics.ended(j.reason(), ending, err, j.Hooks.Now().Sub(j.started))
		if so.writing != nil {
			so.writing.writer.Finish()
		}
	}()
	j.Metrics.running.Inc()
	return do(so)
}

// endedBy tells and records how a compaction ended that did not complete, and turns its error into that of the call.
func (j *job) endedBy(ctx context.Context, so *soFar, err error) (*compactordv1.CompactionEvent, error) {
	if skipped := asSkip(err); skipped != nil {
		return j.skipped(ctx, so, skipped), nil
	}
	e := operations.EndError(ctx, j.Logger, j.id, "compaction", err)
	if !so.announced {
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
	j.recordAttempt(ctx, so, attempt)
	return event, e
}

func (j *job) skipped(ctx context.Context, so *soFar, why *skip) *compactordv1.CompactionEvent {
	if so.announced {
		j.recordAttempt(ctx, so, &compactordv1.CompactionAttempt{
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

// recordAttempt writes down a compaction that left no entry. It outlives the cancel that it reports; where it fails, all
// that is lost is the note.
func (j *job) recordAttempt(ctx context.Context, so *soFar, attempt *compactordv1.CompactionAttempt) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptTimeout)
	defer cancel()
	attempt.Provenance = so.writing.provenanceOfAttempt()
	err := j.logs.Update(ctx, j.req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		if row.GetUid() != j.uid {
			return nil, nil
		}
		w := j.logs.Begin(row)
		w.EndsCompaction(j.id)
		_, err := w.Record(ctx, &compactordv1.Record{Kind: &compactordv1.Record_Attempt{Attempt: attempt}}, nil)
		return w, err
	})
	if err != nil && !apierror.IsSessionNotFound(err) {
		j.Logger.WarnContext(ctx, "compaction attempt not recorded", "operation_id", j.id, "error", err)
	}
}
