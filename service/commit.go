package service

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// commit writes what the compaction made: edits and cut in one transaction, on the state as it is by now.
func (c *compaction) commit(ctx context.Context, summary *written) (*compactordv1.CompactionEvent, error) {
	s := c.service
	c.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_COMMIT, 0, 1)
	if s.hooks.BeforeCommit != nil {
		s.hooks.BeforeCommit(ctx)
	}
	var event *compactordv1.CompactionEvent
	err := s.update(ctx, c.req.GetSessionId(), func(row *storagev1.Session) (*pending, error) {
		recorded := &compactordv1.CompactResponse{}
		if known, err := s.recorded(ctx, row, c.req, recorded); known || err != nil {
			event = recorded.GetEvent()
			return nil, err
		}
		if err := c.stillFits(row); err != nil {
			return nil, err
		}
		p, completed, err := c.write(ctx, row, summary)
		if err != nil {
			return nil, err
		}
		event = &compactordv1.CompactionEvent{
			OperationId: c.id, Time: s.now(), WillRetry: c.req.GetWillRetry(),
			Event: &compactordv1.CompactionEvent_Completed{Completed: completed},
		}
		return p, p.remember(c.req, &compactordv1.CompactResponse{Event: event})
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
	return newError(codes.Aborted, compactordv1.ErrorReason_ERROR_REASON_STATE_CHANGED,
		map[string]string{"operation_id": c.id},
		"the session was reverted, compacted or created anew while this compaction ran")
}

func (c *compaction) write(
	ctx context.Context, row *storagev1.Session, summary *written,
) (*pending, *compactordv1.CompactionCompleted, error) {
	s := c.service
	state, err := storage.LoadState(ctx, s.store, row, row.GetHead())
	if err != nil {
		return nil, nil, err
	}
	p := s.begin(row)
	p.state = state
	completed := &compactordv1.CompactionCompleted{}
	cut := c.plan.GetCut()
	if edits := stillOpen(state, c.plan.GetEdits(), cut); len(edits) > 0 {
		entry := &compactordv1.PruneEntry{
			Id: newID(), Edits: edits, Strategy: c.resolvedStrategy(), Reason: c.reason(),
			OperationId: c.id, WithCut: cut != nil,
		}
		if completed.Prune, err = s.prune(ctx, p, entry, c.started, c.byBytes); err != nil {
			return nil, nil, err
		}
	}
	if cut != nil {
		if completed.Compaction, err = c.writeCut(ctx, p, summary); err != nil {
			return nil, nil, err
		}
	}
	if completed.GetPrune() == nil && completed.GetCompaction() == nil {
		return nil, nil, &skip{
			compactordv1.SkipReason_SKIP_REASON_OVERTAKEN, "all of it was edited or pinned by others meanwhile",
		}
	}
	completed.Report = report(p)
	return p, completed, nil
}

// prune adds a PruneEntry to what is pending, if the view becomes smaller by it: in bytes, where only they asked for it.
func (s *Service) prune(
	ctx context.Context, p *pending, entry *compactordv1.PruneEntry, started time.Time, byBytes bool,
) (*compactordv1.PruneEntry, error) {
	before := p.head()
	entry.TokensBefore = p.head().GetViewTokens()
	entry.CreatedAt = s.now()
	entry.Duration = durationpb.New(s.hooks.Now().Sub(started))
	r, err := s.record(ctx, p, &compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: entry}}, nil)
	if err != nil {
		return nil, err
	}
	r.GetPrune().TokensAfter = p.head().GetViewTokens()
	return r.GetPrune(), gain(before, p.head(), byBytes)
}

// writeCut adds the CompactionEntry to what is pending, if the view becomes smaller by it.
func (c *compaction) writeCut(
	ctx context.Context, p *pending, summary *written,
) (*compactordv1.CompactionEntry, error) {
	s := c.service
	cut, before := c.plan.GetCut(), p.state
	at := positionOf(before.Kept, cut.GetFirstKeptIndex())
	covered, kept := before.Kept[:at], before.Kept[at:]
	entry := &compactordv1.CompactionEntry{
		Id: newID(), FirstKeptIndex: cut.GetFirstKeptIndex(),
		Covered: &compactordv1.IndexRange{
			Start: p.head().GetLeadEnd(), End: cut.GetFirstKeptIndex(),
		},
		Summarized:   cut.GetSummarized(),
		Summary:      summary.text,
		Slots:        session.SlotsOf(before.Entry.GetSlots(), covered, kept, before.Edits),
		TokensBefore: p.head().GetViewTokens(),
		Reason:       c.reason(), Focus: c.req.GetFocus(), Strategy: c.resolvedStrategy(),
		Summarizer: summary.summarizer, Model: summary.model, Usage: summary.usage, CostUsd: summary.costUSD,
		SplitTurnStart: cut.SplitTurnStart, PreviousEntryId: before.Entry.GetId(),
		Files:    session.TouchedFiles(before.Entry.GetFiles(), strategies.FileTools(c.policy), covered),
		Fallback: summary.fallback, FallbackCause: summary.cause,
		Duration: durationpb.New(s.hooks.Now().Sub(c.started)), CreatedAt: s.now(),
		SummarizerCalls: c.calls, Sections: c.policy.GetSummary().GetSections(),
		CitedIndexes: summarizers.Citations(summary.text), OperationId: c.id,
	}
	r, err := s.record(ctx, p, &compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: entry}}, nil)
	if err != nil {
		return nil, err
	}
	written := r.GetCompaction()
	written.TokensAfter = p.head().GetViewTokens()
	return written, gain(before.Head, p.head(), c.byBytes)
}

func (c *compaction) resolvedStrategy() *compactordv1.Strategy {
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

// stillOpen leaves out the edits of messages that the cut covers, or that were edited or pinned since the plan.
func stillOpen(state *session.State, edits []*compactordv1.Edit, cut *compactordv1.Cut) []*compactordv1.Edit {
	var open []*compactordv1.Edit
	for _, e := range edits {
		done := slices.ContainsFunc(state.Edits[e.GetIndex()], func(other *compactordv1.Edit) bool {
			return other.GetPart() == e.GetPart() && other.GetKind() == e.GetKind()
		})
		covered := cut != nil && e.GetIndex() < cut.GetFirstKeptIndex()
		if !done && !covered && !session.Pinned(state.Head, e.GetIndex()) {
			open = append(open, e)
		}
	}
	return open
}
