package compaction

import (
	"context"
	"fmt"
	"slices"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// commit commits the edits and the cut in one transaction, to the log as it is now.
func (d *written) commit(ctx context.Context) (*compactordv1.CompactionEvent, error) {
	d.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_COMMIT, 0, 1)
	d.beforeCommit(ctx)
	var event *compactordv1.CompactionEvent
	err := d.logs.Update(ctx, d.req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		recorded := &compactordv1.CompactResponse{}
		if known, err := d.logs.Recorded(ctx, row, d.req, recorded); err != nil {
			return nil, err
		} else if known {
			event = recorded.GetEvent()
			next := d.logs.BeginInternal(row)
			next.RemoveRunning(d.id)
			return next, nil
		}
		if d.named && !d.runsIn(row) {
			return nil, d.takenForDead()
		}
		if err := d.stillFits(d.snapshot, row); err != nil {
			return nil, err
		}
		next, completed, err := d.put(ctx, row)
		if err != nil {
			return nil, err
		}
		event = &compactordv1.CompactionEvent{
			OperationId: d.id, Time: d.logs.Now(), WillRetry: d.req.GetWillRetry(),
			Event: &compactordv1.CompactionEvent_Completed{Completed: completed},
		}
		return next, next.Remember(d.req, &compactordv1.CompactResponse{Event: event})
	})
	if err != nil {
		return nil, err
	}
	// From here on a cancel changes nothing.
	d.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_COMMIT, 1, 1)
	return event, nil
}

// put adds the edits and then the cut to a new write. Where one of the two does not make the view smaller, it adds the
// other alone.
func (d *written) put(
	ctx context.Context, row *storagev1.Session,
) (*sessionlog.Write, *compactordv1.CompactionCompleted, error) {
	before := d.logs.Begin(row)
	before.RemoveRunning(d.id)
	before.StartFrom(d.snapshot)
	state, err := before.State(ctx)
	if err != nil {
		return nil, nil, err
	}
	noCut := d.noCut
	if d.summary != nil {
		next, completed, err := d.putCutAndEdits(ctx, before)
		if noCut = asSkip(err); noCut == nil {
			return next, completed, err
		}
	}
	edits, err := d.editsAlone(ctx, state)
	if err != nil {
		return nil, nil, err
	}
	next, prune, err := d.putEdits(ctx, before, withTexts(d.texts, edits), false)
	if asSkip(err) != nil && noCut != nil {
		err = noCut
	}
	if err != nil {
		return nil, nil, err
	}
	report, err := next.Report(ctx)
	return next, &compactordv1.CompactionCompleted{Prune: prune, Report: report}, err
}

// putCutAndEdits adds the cut, and before it the edits where they make the view smaller. Where the policy wants it, it
// adds a message that tells the agent to go on.
func (d *written) putCutAndEdits(
	ctx context.Context, before *sessionlog.Write,
) (*sessionlog.Write, *compactordv1.CompactionCompleted, error) {
	completed := &compactordv1.CompactionCompleted{}
	next, prune, err := d.putEdits(ctx, before, withTexts(d.texts, d.plan.GetEdits()), true)
	switch {
	case asSkip(err) != nil:
		next = before
	case err != nil:
		return nil, nil, err
	default:
		completed.Prune = prune
	}
	if next, completed.Compaction, err = d.putCut(ctx, next); err != nil {
		return nil, nil, err
	}
	if completed.ContinueIndex, err = d.goOn(ctx, next, completed.GetCompaction()); err != nil {
		return nil, nil, err
	}
	completed.Report, err = next.Report(ctx)
	return next, completed, err
}

// putEdits adds the edits that still fit to a copy of the write.
func (d *written) putEdits(
	ctx context.Context, before *sessionlog.Write, edits []*compactordv1.Edit, withCut bool,
) (*sessionlog.Write, *compactordv1.PruneEntry, error) {
	var cut *compactordv1.Cut
	if withCut {
		cut = d.plan.GetCut()
	}
	state, err := before.State(ctx)
	if err != nil {
		return nil, nil, err
	}
	edits = d.remainingEdits(state, edits, cut)
	if len(edits) == 0 {
		return nil, nil, &skip{
			compactordv1.SkipReason_SKIP_REASON_OVERTAKEN, "all of it was edited or pinned by others meanwhile",
		}
	}
	next := before.Fork()
	entry := &compactordv1.PruneEntry{
		Id: sessionlog.NewID(), Edits: edits, Provenance: d.provenanceOf(edits, withCut), WithCut: withCut,
	}
	entry, err = d.prune(ctx, next, entry, d.byBytes)
	return next, entry, err
}

// prune adds a PruneEntry to the write. It returns a skip where the view does not become smaller: in bytes, where only
// bytes made the compaction due, else in tokens.
func (c *Compactor) prune(
	ctx context.Context, next *sessionlog.Write, entry *compactordv1.PruneEntry, byBytes bool,
) (*compactordv1.PruneEntry, error) {
	before := next.Head()
	entry.TokensBefore = next.Head().GetViewTokens()
	entry.CreatedAt = c.logs.Now()
	r, err := next.Record(ctx, &compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: entry}}, nil)
	if err != nil {
		return nil, err
	}
	r.GetPrune().TokensAfter = next.Head().GetViewTokens()
	return r.GetPrune(), gain(before, next.Head(), byBytes)
}

// putCut adds the CompactionEntry to a copy of the write. It replays the message of toReplay only if the view then
// becomes smaller and is not due for compaction again.
func (d *written) putCut(
	ctx context.Context, before *sessionlog.Write,
) (*sessionlog.Write, *compactordv1.CompactionEntry, error) {
	again, err := d.toReplay(ctx, before)
	if err != nil {
		return nil, nil, err
	}
	if again != nil {
		next := before.Fork()
		entry, err := d.putEntry(ctx, next, again)
		if err == nil && !session.Due(d.policy, strategies.Report(next.Head(), d.policy)) {
			return next, entry, nil
		}
		if err != nil && asSkip(err) == nil {
			return nil, nil, err
		}
	}
	next := before.Fork()
	entry, err := d.putEntry(ctx, next, nil)
	return next, entry, err
}

func (d *written) putEntry(
	ctx context.Context, next *sessionlog.Write, replayed *uint32,
) (*compactordv1.CompactionEntry, error) {
	cut := d.plan.GetCut()
	before, err := next.State(ctx)
	if err != nil {
		return nil, err
	}
	at := before.Position(cut.GetFirstKeptIndex())
	covered, kept := before.Kept[:at], before.Kept[at:]
	slots, err := strategies.SlotsAfter(ctx, before, covered, kept, d.writer.Redact)
	if err != nil {
		return nil, err
	}
	tags := d.fileTags()
	entry := &compactordv1.CompactionEntry{
		Id: sessionlog.NewID(), FirstKeptIndex: cut.GetFirstKeptIndex(),
		Covered: &compactordv1.IndexRange{
			Start: next.Head().GetLeadEnd(), End: cut.GetFirstKeptIndex(),
		},
		Summarized: cut.GetSummarized(),
		Summary:    withTags(d.summary.Text, tags), FileTags: tags != "",
		Slots:          slots,
		TokensBefore:   next.Head().GetViewTokens(),
		Provenance:     d.provenanceOfSummary(),
		ReplayedIndex:  replayed,
		SplitTurnStart: cut.SplitTurnStart, PreviousEntryId: before.Entry.GetId(),
		Files: summaries.RedactFiles(
			d.writer.Redact, strategies.FilesAfter(before, strategies.FileTools(d.policy), covered)),
		CreatedAt:     d.logs.Now(),
		Sections:      d.summary.Sections,
		CitedIndexes:  summarizers.Citations(d.summary.Text),
		ProviderBlock: d.block,
	}
	if replayed != nil {
		// The replay shows it in full.
		entry.Slots.LastUserRequest = nil
	}
	strategies.BoundFacts(d.snapshot, d.policy, entry, cut.GetMaxSummaryTokens())
	// After the context ended, redacting returns empty texts.
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r, err := next.Record(ctx, &compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: entry}}, nil)
	if err != nil {
		return nil, err
	}
	written := r.GetCompaction()
	written.TokensAfter = next.Head().GetViewTokens()
	return written, gain(before.Head, next.Head(), d.byBytes)
}

// gain returns a skip where a change does not make the view smaller.
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

// remainingEdits returns the edits that are still to be made. It leaves out those of covered messages, and those that
// somebody else has made since the plan, or made useless.
func (d *written) remainingEdits(
	state *session.State, edits []*compactordv1.Edit, cut *compactordv1.Cut,
) []*compactordv1.Edit {
	made := func(e *compactordv1.Edit) bool {
		now := state.Edits[e.GetIndex()]
		since := now[min(len(d.snapshot.Edits[e.GetIndex()]), len(now)):]
		return slices.ContainsFunc(since, func(other *compactordv1.Edit) bool {
			return other.GetPart() == e.GetPart() && other.GetKind() == e.GetKind()
		})
	}
	return strategies.Fitting(state, slices.DeleteFunc(slices.Clone(edits), made), cut)
}
