package compaction

import (
	"context"
	"time"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/summarizers"
)

// job is a compaction that was asked for.
type job struct {
	*Compactor

	req *compactordv1.CompactRequest
	// policy is the request's, with what it names written out.
	policy *compactordv1.Policy
	// id is the operation's id, and uid that of the session's incarnation.
	id, uid string
	started time.Time
	// named says that the session's row names it as running until its end is written. cancel ends its operation.
	named  bool
	cancel context.CancelCauseFunc
	// own is the client plan; nil where a strategy plans or a range is folded. client writes in place of the policy's
	// summarizer; nil where that writes.
	own    *compactordv1.ClientPlan
	client summarizers.Summarizer
	// foldStart is the first index of the range to fold, where one is to be folded.
	foldStart uint32
	// checkpoints and todosBefore are those of strategies.Input.
	checkpoints []uint32
	todosBefore []*compactordv1.LoggedMessage
	// events is the event stream; nil for a compaction without one.
	events *eventStream
}

func (j *job) reason() compactordv1.CompactionReason { return reasonOf(j.req.GetReason()) }

func reasonOf(r compactordv1.CompactionReason) compactordv1.CompactionReason {
	if r == compactordv1.CompactionReason_COMPACTION_REASON_UNSPECIFIED {
		return compactordv1.CompactionReason_COMPACTION_REASON_MANUAL
	}
	return r
}

// stateChanged returns the error for a session that has changed so that the compaction no longer fits.
func (j *job) stateChanged() error {
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_STATE_CHANGED,
		map[string]string{"operation_id": j.id},
		"the session was reverted, compacted or created anew since this compaction was planned")
}

// takenForDead returns the error for a compaction that another daemon has recorded as interrupted.
func (j *job) takenForDead() error {
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_STATE_CHANGED,
		map[string]string{"operation_id": j.id},
		"another daemon took this one for dead, and has recorded that the compaction was interrupted")
}

// currentReport returns the session's context report now; nil where the session cannot be read.
func (j *job) currentReport(ctx context.Context) *compactordv1.ContextReport {
	row, err := j.logs.Row(ctx, j.req.GetSessionId())
	if err != nil {
		return nil
	}
	return sessionlog.Report(row)
}

// emit sends an event if there is an event stream.
func (j *job) emit(ctx context.Context, e *compactordv1.CompactionEvent) {
	if j.events != nil {
		j.events.send(ctx, e)
	}
}

func (j *job) progress(ctx context.Context, stage compactordv1.CompactionStage, done, total uint32) {
	j.emit(ctx, &compactordv1.CompactionEvent{Event: &compactordv1.CompactionEvent_Progress{
		Progress: &compactordv1.CompactionProgress{Stage: stage, Done: done, Total: total},
	}})
}

// checkOptions refuses options that contradict each other.
func checkOptions(req *compactordv1.CompactRequest) error {
	if err := checkFold(req); err != nil {
		return err
	}
	return checkReplay(req)
}

// checkReplay refuses a replay for other reasons than OVERFLOW.
func checkReplay(req *compactordv1.CompactRequest) error {
	if req.GetReplay() && req.GetReason() != compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW {
		return apierror.InvalidField("replay", "is allowed only with reason OVERFLOW: a request is shown again only where the provider refused it as too long")
	}
	return nil
}
