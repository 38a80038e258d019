package transcripts

import (
	"context"

	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// onceFigures are the figures of one compaction of the whole transcript.
type onceFigures struct {
	// before and after are the view's tokens. kept is how many messages of the log the view shows afterwards.
	before, after, kept uint32
	// edits counts the edited messages of the view, by kind of edit.
	edits map[compactordv1.EditKind]uint32
	// summary says whether a summary was written. skipped says why nothing was done; nil if something was.
	summary bool
	skipped *compactordv1.CompactionSkipped
	// inView is what the view has afterwards.
	inView [kinds]share
}

// compactOnce fills a session with the transcript, compacts it with reason MANUAL, and deletes it.
func compactOnce(
	ctx context.Context, c *conversation.Conversation, file *conversation.Transcript, policy *compactordv1.Policy,
) (*onceFigures, error) {
	if _, err := c.Create(ctx, policy); err != nil {
		return nil, err
	}
	copied := file.Again()
	if _, err := conversation.Upload(ctx, c.Client, c.Session, 0, copied, nil); err != nil {
		return nil, err
	}
	before, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	done, err := c.Compact(ctx, conversation.CompactRequest(c.Session, compactordv1.CompactionReason_COMPACTION_REASON_MANUAL), nil)
	if err != nil {
		return nil, err
	}
	after, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	f := &onceFigures{
		before: before.Report.GetTokens(), after: after.Report.GetTokens(), edits: make(map[compactordv1.EditKind]uint32),
		summary: done.Completed.GetCompaction() != nil, skipped: done.Skipped,
	}
	for _, m := range after.Messages {
		if _, logged := m.GetOrigin().(*compactordv1.ViewMessage_Index); logged {
			f.kept++
		}
		for _, kind := range m.GetEdits() {
			f.edits[kind]++
		}
	}
	contents, err := newFigures(compactordv1.Estimator_ESTIMATOR_CHARS4)
	if err != nil {
		return nil, err
	}
	contents.Begin(after.Report)
	contents.Add(after.Messages)
	f.inView = contents.inView
	return f, c.Delete(ctx)
}
