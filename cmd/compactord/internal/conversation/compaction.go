package conversation

import (
	"context"
	"errors"
	"io"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Compacted is the end of a compaction that did not fail. One of the three is set.
type Compacted struct {
	Completed *compactordv1.CompactionCompleted
	Skipped   *compactordv1.CompactionSkipped
	Planned   *compactordv1.CompactionPlan
}

// CompactRequest returns a request to compact a session by its own policy.
func CompactRequest(id string, reason compactordv1.CompactionReason) *compactordv1.CompactRequest {
	return &compactordv1.CompactRequest{Target: &compactordv1.CompactRequest_SessionId{SessionId: id}, Reason: reason}
}

// Compact runs a compaction and shows its progress. A Ctrl-C cancels it.
func (c *Conversation) Compact(
	ctx context.Context, req *compactordv1.CompactRequest, p *terminal.Progress,
) (*Compacted, error) {
	stream, err := c.Compactions.Compact(ctx, req)
	if err != nil {
		return nil, c.Explain(ctx, err)
	}
	p.Stage("planning", "", 0)
	done := &Compacted{}
	for {
		answer, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return done, done.check()
		case err != nil:
			return nil, api.RefusedFlags(c.Explain(ctx, err))
		}
		switch e := answer.GetEvent().GetEvent().(type) {
		case *compactordv1.CompactionEvent_Started:
			p.Expects(e.Started.GetPlan().GetChunks())
		case *compactordv1.CompactionEvent_Progress:
			showProgress(p, e.Progress)
		case *compactordv1.CompactionEvent_SummaryDelta:
			p.Delta(e.SummaryDelta.GetAttempt(), e.SummaryDelta.GetText())
		case *compactordv1.CompactionEvent_Completed:
			done.Completed = e.Completed
		case *compactordv1.CompactionEvent_Skipped:
			done.Skipped = e.Skipped
		case *compactordv1.CompactionEvent_Planned:
			done.Planned = e.Planned
		default:
			// Completed holds the whole summary, and the RPC's status reports a failure.
		}
	}
}

// WhenInterrupted adds to an interruption the state in which the compaction is left.
func (c *Conversation) WhenInterrupted(err error) error {
	if c.Transcript != nil {
		return terminal.WhenInterrupted(err, "The file is unchanged.")
	}
	return terminal.WhenInterrupted(err, "The compaction is cancelled, unless it was just committed. To see whether it was: %s",
		terminal.Command("records"))
}

func (d *Compacted) check() error {
	if d.Completed == nil && d.Skipped == nil && d.Planned == nil {
		return errors.New("the daemon ended the compaction without a result")
	}
	return nil
}

// showProgress shows the progress that the daemon reports.
func showProgress(p *terminal.Progress, e *compactordv1.CompactionProgress) {
	switch e.GetStage() {
	case compactordv1.CompactionStage_COMPACTION_STAGE_SUMMARIZE:
		if e.GetDone() == 0 {
			p.Stage("summarizing "+terminal.Count(e.GetTotal(), "token"), "tokens", int64(e.GetTotal()))
		} else {
			p.NextPart()
		}
		p.Update(int64(e.GetDone()))
	case compactordv1.CompactionStage_COMPACTION_STAGE_COMMIT:
		if e.GetDone() == 0 {
			p.Stage("writing", "", 0)
		}
	default:
	}
}
