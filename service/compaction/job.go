package compaction

import (
	"context"
	"time"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// job is a compaction that is asked for.
type job struct {
	*Compactor

	req *compactordv1.CompactRequest
	// id is the operation's, and uid is of the incarnation of the session that it is for.
	id, uid string
	started time.Time
	// own is the client's own plan, and client writes in place of the policy's summarizer; nil where it is as the policy
	// says.
	own    *compactordv1.ClientPlan
	client summarizers.Summarizer
	// events takes what goes on; nil where nobody listens.
	events *eventStream
}

func (j *job) reason() compactordv1.CompactionReason { return reasonOf(j.req.GetReason()) }

func reasonOf(r compactordv1.CompactionReason) compactordv1.CompactionReason {
	if r == compactordv1.CompactionReason_COMPACTION_REASON_UNSPECIFIED {
		return compactordv1.CompactionReason_COMPACTION_REASON_MANUAL
	}
	return r
}

// overtaken is the error of a compaction whose session is no longer what it was made for.
func (j *job) overtaken() error {
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_STATE_CHANGED,
		map[string]string{"operation_id": j.id},
		"the session was reverted, compacted or created anew since this compaction was planned")
}

// currentReport is the report of the session as it is now; nil where it cannot be read.
func (j *job) currentReport(ctx context.Context) *compactordv1.ContextReport {
	row, err := j.logs.Row(ctx, j.req.GetSessionId())
	if err != nil {
		return nil
	}
	return reportOf(row)
}

func reportOf(row *storagev1.Session) *compactordv1.ContextReport {
	return strategies.Report(row.GetHead(), row.GetResolvedPolicy())
}

// emit tells what goes on, where somebody listens.
func (j *job) emit(ctx context.Context, e *compactordv1.CompactionEvent) {
	if j.events != nil {
		j.events.tell(ctx, e)
	}
}

func (j *job) progress(ctx context.Context, stage compactordv1.CompactionStage, done, total uint32) {
	j.emit(ctx, &compactordv1.CompactionEvent{Event: &compactordv1.CompactionEvent_Progress{
		Progress: &compactordv1.CompactionProgress{Stage: stage, Done: done, Total: total},
	}})
}

// checkReplay refuses a replay of what was not too long.
func checkReplay(req *compactordv1.CompactRequest) error {
	if req.GetReplay() && req.GetReason() != compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW {
		return apierror.InvalidField("replay", "goes with reason OVERFLOW: only what was too long for the provider is shown again")
	}
	return nil
}
