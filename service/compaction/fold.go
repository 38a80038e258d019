package compaction

import (
	"context"
	"strings"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/strategies"
)

// checkFold refuses a fold that is not asked for by somebody who knows the range, or that has no visible text.
func checkFold(req *compactordv1.CompactRequest) error {
	fold := req.GetFold()
	switch {
	case fold == nil:
		return nil
	case reasonOf(req.GetReason()) != compactordv1.CompactionReason_COMPACTION_REASON_MANUAL:
		return apierror.InvalidField("fold", "is allowed only with reason MANUAL: it does not make a context fit that is full")
	case req.GetReplay():
		return apierror.InvalidField("replay", "is not allowed with fold: no request is covered")
	case fold.GetText() != "" && wording.Blank(fold.GetText()):
		return apierror.InvalidField("fold.text", "must have visible content, or be empty so that the summarizer writes it")
	default:
		return nil
	}
}

// findFold finds the start of the range to fold, if one is to be folded: it can be the first message after a checkpoint.
func (j *job) findFold(ctx context.Context, row *storagev1.Session) error {
	fold := j.req.GetFold()
	j.foldStart = fold.GetStart()
	if _, byCheckpoint := fold.GetFrom().(*compactordv1.FoldRange_CheckpointId); !byCheckpoint {
		return nil
	}
	c, err := j.logs.CheckpointInForce(ctx, row, fold.GetCheckpointId())
	if err != nil {
		return apierror.Within("fold", err)
	}
	after, err := j.logs.HeadAt(ctx, row, c.GetPoint())
	j.foldStart = max(after.GetNextIndex(), row.GetHead().GetLeadEnd())
	return err
}

// planFold plans to fold the range of the request.
func (j *job) planFold(in *strategies.Input) (*compactordv1.CompactionPlan, error) {
	fold := j.req.GetFold()
	return strategies.PlanFold(in, j.foldStart, fold.End, strings.TrimSpace(fold.GetText()))
}

// skips returns the skip of a plan that does nothing.
func (j *job) skips(plan *compactordv1.CompactionPlan) *skip {
	reason := plan.GetSkipReason()
	switch {
	case j.req.GetFold() == nil:
		return &skip{reason, skipMessage(reason, plan.GetTokensBefore())}
	case reason == compactordv1.SkipReason_SKIP_REASON_NO_GAIN:
		return &skip{reason, "the text of the fold would not be shorter than what the view shows of its messages"}
	default:
		return &skip{reason, "nothing to fold: the range has no message, or only those of tool groups that it would divide"}
	}
}
