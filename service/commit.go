package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// commit writes what the compaction made: edits and cut in one transaction, on the state as it is by now.
func (c *compaction) commit(ctx context.Context, summary *summaries.Written) (*compactordv1.CompactionEvent, error) {
	s := c.service
	c.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_COMMIT, 0, 1)
	if s.hooks.BeforeCommit != nil {
		s.hooks.BeforeCommit(ctx)
	}
	var event *compactordv1.CompactionEvent
	err := s.logs.Update(ctx, c.req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		recorded := &compactordv1.CompactResponse{}
		if known, err := s.logs.Recorded(ctx, row, c.req, recorded); err != nil {
			return nil, err
		} else if known {
			event = recorded.GetEvent()
			p := s.logs.BeginUnseen(row)
			p.EndsCompaction(c.id)
			return p, nil
		}
		if err := c.stillFits(row); err != nil {
			return nil, err
		}
		p, completed, err := c.write(ctx, row, summary)
		if err != nil {
			return nil, err
		}
		event = &compactordv1.CompactionEvent{
			OperationId: c.id, Time: s.logs.Now(), WillRetry: c.req.GetWillRetry(),
			Event: &compactordv1.CompactionEvent_Completed{Completed: completed},
		}
		return p, p.Remember(c.req, &compactordv1.CompactResponse{Event: event})
	})
	if err != nil {
		return nil, err
	}
	// From here on a cancel changes nothing.
	c.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_COMMIT, 1, 1)
	return event, nil
}

// stillFits says whether the plan can still be carried out: on the same log, with no Revert and no other compaction
// since. Messages may have been appended.
func (c *compaction) stillFits(row *storagev1.Session) error {
	then, now := c.snapshot.Head, row.GetHead()
	if row.GetUid() == c.uid && then.GetLastRevert() == now.GetLastRevert() &&
		then.GetCompaction().GetSequence() == now.GetCompaction().GetSequence() {
		return nil
	}
	return c.overtaken()
}

// overtaken is the error of a compaction whose session is no longer what it was made for.
func (c *compaction) overtaken() error {
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_STATE_CHANGED,
		map[string]string{"operation_id": c.id},
		"the session was reverted, compacted or created anew since this compaction was planned")
}

// write puts down what makes the view smaller: the edits, and the cut behind them. Where one of both gains nothing, the
// other goes alone.
func (c *compaction) write(
	ctx context.Context, row *storagev1.Session, summary *summaries.Written,
) (*sessionlog.Write, *compactordv1.CompactionCompleted, error) {
	s := c.service
	before := s.logs.Begin(row)
	before.EndsCompaction(c.id)
	state, err := before.State(ctx)
	if err != nil {
		return nil, nil, err
	}
	noCut := c.noCut
	if summary != nil {
		p, completed, err := c.writeCutAndEdits(ctx, before, summary)
		if noCut = asSkip(err); noCut == nil {
			return p, completed, err
		}
	}
	edits, err := c.editsAlone(ctx, state)
	if err != nil {
		return nil, nil, err
	}
	p, prune, err := c.writeEdits(ctx, before, edits, false)
	if asSkip(err) != nil && noCut != nil {
		err = noCut
	}
	if err != nil {
		return nil, nil, err
	}
	return p, &compactordv1.CompactionCompleted{Prune: prune, Report: p.Report()}, nil
}

// writeCutAndEdits writes the cut, and before it the edits where they gain something. It says to go on where that is
// wanted.
func (c *compaction) writeCutAndEdits(
	ctx context.Context, before *sessionlog.Write, summary *summaries.Written,
) (*sessionlog.Write, *compactordv1.CompactionCompleted, error) {
	completed := &compactordv1.CompactionCompleted{}
	p, prune, err := c.writeEdits(ctx, before, c.withTexts(c.plan.GetEdits()), true)
	switch {
	case asSkip(err) != nil:
		p = before
	case err != nil:
		return nil, nil, err
	default:
		completed.Prune = prune
	}
	if p, completed.Compaction, err = c.writeCut(ctx, p, summary); err != nil {
		return nil, nil, err
	}
	if completed.ContinueIndex, err = c.goOn(ctx, p, completed.GetCompaction()); err != nil {
		return nil, nil, err
	}
	completed.Report = p.Report()
	return p, completed, nil
}

// writeEdits adds those of the edits that still fit to a copy of what is pending.
func (c *compaction) writeEdits(
	ctx context.Context, before *sessionlog.Write, edits []*compactordv1.Edit, withCut bool,
) (*sessionlog.Write, *compactordv1.PruneEntry, error) {
	var cut *compactordv1.Cut
	if withCut {
		cut = c.plan.GetCut()
	}
	state, err := before.State(ctx)
	if err != nil {
		return nil, nil, err
	}
	edits = c.stillOpen(state, edits, cut)
	if len(edits) == 0 {
		return nil, nil, &skip{
			compactordv1.SkipReason_SKIP_REASON_OVERTAKEN, "all of it was edited or pinned by others meanwhile",
		}
	}
	p := before.Fork()
	entry := &compactordv1.PruneEntry{
		Id: newID(), Edits: edits, Strategy: c.resolvedStrategy(), Reason: c.reason(),
		OperationId: c.id, WithCut: withCut, ClientStrategy: c.own.GetStrategy(),
	}
	c.tellSummarizer(entry)
	entry, err = c.service.prune(ctx, p, entry, c.started, c.byBytes)
	return p, entry, err
}

// prune adds a PruneEntry to what is pending, if the view becomes smaller by it: in bytes, where only they asked for it.
func (s *Service) prune(
	ctx context.Context, p *sessionlog.Write, entry *compactordv1.PruneEntry, started time.Time, byBytes bool,
) (*compactordv1.PruneEntry, error) {
	before := p.Head()
	entry.TokensBefore = p.Head().GetViewTokens()
	entry.CreatedAt = s.logs.Now()
	entry.Duration = durationpb.New(s.hooks.Now().Sub(started))
	r, err := p.Record(ctx, &compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: entry}}, nil)
	if err != nil {
		return nil, err
	}
	r.GetPrune().TokensAfter = p.Head().GetViewTokens()
	return r.GetPrune(), gain(before, p.Head(), byBytes)
}

// writeCut adds the CompactionEntry to a copy of what is pending, if the view becomes smaller by it. Where the view with
// the message that is to be replayed would not, or would be due again, nothing is replayed.
func (c *compaction) writeCut(
	ctx context.Context, before *sessionlog.Write, summary *summaries.Written,
) (*sessionlog.Write, *compactordv1.CompactionEntry, error) {
	again, err := c.toReplay(ctx, before)
	if err != nil {
		return nil, nil, err
	}
	if again != nil {
		p := before.Fork()
		entry, err := c.writeEntry(ctx, p, summary, again)
		if err == nil && !session.Due(c.policy, session.Report(p.Head(), c.policy)) {
			return p, entry, nil
		}
		if err != nil && asSkip(err) == nil {
			return nil, nil, err
		}
	}
	p := before.Fork()
	entry, err := c.writeEntry(ctx, p, summary, nil)
	return p, entry, err
}

func (c *compaction) writeEntry(
	ctx context.Context, p *sessionlog.Write, summary *summaries.Written, replayed *uint32,
) (*compactordv1.CompactionEntry, error) {
	s := c.service
	cut := c.plan.GetCut()
	before, err := p.State(ctx)
	if err != nil {
		return nil, err
	}
	at := before.Position(cut.GetFirstKeptIndex())
	covered, kept := before.Kept[:at], before.Kept[at:]
	tags, spent := c.fileTags(), c.writer.Spent()
	entry := &compactordv1.CompactionEntry{
		Id: newID(), FirstKeptIndex: cut.GetFirstKeptIndex(),
		Covered: &compactordv1.IndexRange{
			Start: p.Head().GetLeadEnd(), End: cut.GetFirstKeptIndex(),
		},
		Summarized: cut.GetSummarized(),
		Summary:    withTags(summary.Text, tags), FileTags: tags != "",
		Slots:         slotsOf(before, covered, kept),
		TokensBefore:  p.Head().GetViewTokens(),
		ReplayedIndex: replayed,
		Reason:        c.reason(), Focus: c.writer.Redact(c.req.GetFocus()), Strategy: c.resolvedStrategy(),
		Summarizer: summary.Summarizer, Model: summary.Model, Usage: spent.Usage, CostUsd: spent.CostUSD,
		SplitTurnStart: cut.SplitTurnStart, PreviousEntryId: before.Entry.GetId(),
		Files:    session.TouchedFiles(before.Entry.GetFiles(), strategies.FileTools(c.policy), covered),
		Fallback: summary.Fallback, FallbackCause: summary.FallbackCause,
		Duration: durationpb.New(s.hooks.Now().Sub(c.started)), CreatedAt: s.logs.Now(),
		SummarizerCalls: spent.Calls, Sections: c.policy.GetSummary().GetSections(),
		CitedIndexes: summarizers.Citations(summary.Text), OperationId: c.id,
		ClientStrategy: c.own.GetStrategy(), ProviderBlock: c.block,
		Redactions: c.writer.Redactions(), PromptVersion: summary.PromptVersion, CachedPrefix: summary.CachedPrefix,
	}
	if replayed != nil {
		// The view shows it whole.
		entry.Slots.LastUserRequest = nil
	}
	// What was redacted since the context ended is empty.
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r, err := p.Record(ctx, &compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: entry}}, nil)
	if err != nil {
		return nil, err
	}
	written := r.GetCompaction()
	written.TokensAfter = p.Head().GetViewTokens()
	return written, gain(before.Head, p.Head(), c.byBytes)
}

// resolvedStrategy is the strategy with its parameters; nil where the plan is the client's own.
func (c *compaction) resolvedStrategy() *compactordv1.Strategy {
	if c.own != nil {
		return nil
	}
	return c.service.strategies.Resolved(c.policy, c.policy.GetStrategy())
}

// gain skips what does not make the view smaller.
func gain(before, after *storagev1.Head, byBytes bool) error {
	unit, was, is := "tokens", before.GetViewTokens(), after.GetViewTokens()
	if byBytes {
		unit, was, is = "bytes", before.GetViewBytes(), after.GetViewBytes()
	}
	if is < was {
		return nil
	}
	return &skip{
		compactordv1.SkipReason_SKIP_REASON_NO_GAIN,
		fmt.Sprintf("the view would have %d %s instead of %d", is, unit, was),
	}
}

// asSkip returns the skip that an error is, or nil.
func asSkip(err error) *skip {
	var skipped *skip
	errors.As(err, &skipped)
	return skipped
}

// stillOpen leaves out the edits of messages that the cut covers, and those that others have made or made useless since
// the plan.
func (c *compaction) stillOpen(
	state *session.State, edits []*compactordv1.Edit, cut *compactordv1.Cut,
) []*compactordv1.Edit {
	made := func(e *compactordv1.Edit) bool {
		now := state.Edits[e.GetIndex()]
		since := now[min(len(c.snapshot.Edits[e.GetIndex()]), len(now)):]
		return slices.ContainsFunc(since, func(other *compactordv1.Edit) bool {
			return other.GetPart() == e.GetPart() && other.GetKind() == e.GetKind()
		})
	}
	return strategies.Fitting(state, slices.DeleteFunc(slices.Clone(edits), made), cut)
}
