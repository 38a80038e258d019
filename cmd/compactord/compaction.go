package main

import (
	"context"
	"errors"
	"io"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// compacted is how a compaction ended that did not fail: one of the three.
type compacted struct {
	completed *compactordv1.CompactionCompleted
	skipped   *compactordv1.CompactionSkipped
	planned   *compactordv1.CompactionPlanned
}

// compactRequest asks for a compaction of a session by its own policy.
func compactRequest(id string, reason compactordv1.CompactionReason) *compactordv1.CompactRequest {
	return &compactordv1.CompactRequest{Target: &compactordv1.CompactRequest_SessionId{SessionId: id}, Reason: reason}
}

// compact compacts through the stream. A Ctrl-C cancels it.
func (c *conversation) compact(
	ctx context.Context, req *compactordv1.CompactRequest, p *progress,
) (*compacted, error) {
	stream, err := c.compactions.Compact(ctx, req)
	if err != nil {
		return nil, c.wrong(ctx, err)
	}
	p.stage("planning", "", 0)
	done := &compacted{}
	for {
		answer, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return done, done.check()
		case err != nil:
			return nil, refusedFlags(c.wrong(ctx, err))
		}
		switch e := answer.GetEvent().GetEvent().(type) {
		case *compactordv1.CompactionEvent_Started:
			p.expects(e.Started.GetPlan().GetChunks())
		case *compactordv1.CompactionEvent_Progress:
			tellProgress(p, e.Progress)
		case *compactordv1.CompactionEvent_SummaryDelta:
			p.delta(e.SummaryDelta.GetAttempt(), e.SummaryDelta.GetText())
		case *compactordv1.CompactionEvent_Completed:
			done.completed = e.Completed
		case *compactordv1.CompactionEvent_Skipped:
			done.skipped = e.Skipped
		case *compactordv1.CompactionEvent_Planned:
			done.planned = e.Planned
		default:
			// The text of the summary comes again, whole, with the end; and how it fails, the status says.
		}
	}
}

// whenInterrupted says what a compaction that was interrupted leaves behind.
func (c *conversation) whenInterrupted(err error) error {
	if c.transcript != nil {
		return whenInterrupted(err, "The file is as it was.")
	}
	return whenInterrupted(err, "The compaction is cancelled, unless it was written just before; this shows it: %s",
		command("records"))
}

func (d *compacted) check() error {
	if d.completed == nil && d.skipped == nil && d.planned == nil {
		return errors.New("the daemon ended the compaction without saying how")
	}
	return nil
}

// tellProgress shows a compaction's own progress.
func tellProgress(p *progress, e *compactordv1.CompactionProgress) {
	switch e.GetStage() {
	case compactordv1.CompactionStage_COMPACTION_STAGE_SUMMARIZE:
		if e.GetDone() == 0 {
			p.stage("summarizing "+count(e.GetTotal(), "token"), "tokens", int64(e.GetTotal()))
		} else {
			p.tookIn()
		}
		p.update(int64(e.GetDone()))
	case compactordv1.CompactionStage_COMPACTION_STAGE_COMMIT:
		if e.GetDone() == 0 {
			p.stage("writing", "", 0)
		}
	default:
	}
}
