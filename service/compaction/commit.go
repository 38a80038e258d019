package compaction

import (
	"context"
	"fmt"
	"slices"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// commit writes what the compaction made: edits and cut in one transaction, on the state as it is by now.
func (w *written) commit(ctx context.Context) (*compactordv1.CompactionEvent, error) {
	w.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_COMMIT, 0, 1)
	w.beforeCommit(ctx)
	var event *compactordv1.CompactionEvent
	err := w.logs.Update(ctx, w.req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		recorded := &compactordv1.CompactResponse{}
		if known, err := w.logs.Recorded(ctx, row, w.req, recorded); err != nil {
			return nil, err
		} else if known {
			event = recorded.GetEvent()
			p := w.logs.BeginUnseen(row)
			p.EndsCompaction(w.id)
			return p, nil
		}
		if err := w.stillFits(w.snapshot, row); err != nil {
			return nil, err
		}
		p, completed, err := w.put(ctx, row)
		if err != nil {
			return nil, err
		}
		event = &compactordv1.CompactionEvent{
			OperationId: w.id, Time: w.logs.Now(), WillRetry: w.req.GetWillRetry(),
			Event: &compactordv1.CompactionEvent_Completed{Completed: completed},
		}
		return p, p.Remember(w.req, &compactordv1.CompactResponse{Event: event})
	})
	if err != nil {
		return nil, err
	}
	// From here on a cancel changes nothing.
	w.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_COMMIT, 1, 1)
	return event, nil
}

// put writes what makes the view smaller: the edits, and the cut behind them. Where one of both gains nothing, the
// other goes alone.
func (w *written) put(
	ctx context.Context, row *storagev1.Session,
) (*sessionlog.Write, *compactordv1.CompactionCompleted, error) {
	before := w.logs.Begin(row)
	before.EndsCompaction(w.id)
	state, err := before.State(ctx)
	if err != nil {
		return nil, nil, err
	}
	noCut := w.noCut
	if w.summary != nil {
		p, completed, err := w.putCutAndEdits(ctx, before)
		if noCut = asSkip(err); noCut == nil {
			return p, completed, err
		}
	}
	edits, err := w.editsAlone(ctx, state)
	if err != nil {
		return nil, nil, err
	}
	p, prune, err := w.putEdits(ctx, before, withTexts(w.texts, edits), false)
	if asSkip(err) != nil && noCut != nil {
		err = noCut
	}
	if err != nil {
		return nil, nil, err
	}
	return p, &compactordv1.CompactionCompleted{Prune: prune, Report: p.Report()}, nil
}

// putCutAndEdits writes the cut, and before it the edits where they gain something. It says to go on where that is
// wanted.
func (w *written) putCutAndEdits(
	ctx context.Context, before *sessionlog.Write,
) (*sessionlog.Write, *compactordv1.CompactionCompleted, error) {
	completed := &compactordv1.CompactionCompleted{}
	p, prune, err := w.putEdits(ctx, before, withTexts(w.texts, w.plan.GetEdits()), true)
	switch {
	case asSkip(err) != nil:
		p = before
	case err != nil:
		return nil, nil, err
	default:
		completed.Prune = prune
	}
	if p, completed.Compaction, err = w.putCut(ctx, p); err != nil {
		return nil, nil, err
	}
	if completed.ContinueIndex, err = w.goOn(ctx, p, completed.GetCompaction()); err != nil {
		return nil, nil, err
	}
	completed.Report = p.Report()
	return p, completed, nil
}

// putEdits adds those of the edits that still fit to a copy of what is to be written.
func (w *written) putEdits(
	ctx context.Context, before *sessionlog.Write, edits []*compactordv1.Edit, withCut bool,
) (*sessionlog.Write, *compactordv1.PruneEntry, error) {
	var cut *compactordv1.Cut
	if withCut {
		cut = w.plan.GetCut()
	}
	state, err := before.State(ctx)
	if err != nil {
		return nil, nil, err
	}
	edits = w.stillOpen(state, edits, cut)
	if len(edits) == 0 {
		return nil, nil, &skip{
			compactordv1.SkipReason_SKIP_REASON_OVERTAKEN, "all of it was edited or pinned by others meanwhile",
		}
	}
	p := before.Fork()
	entry := &compactordv1.PruneEntry{
		Id: sessionlog.NewID(), Edits: edits, Provenance: w.provenanceOf(edits, withCut), WithCut: withCut,
	}
	entry, err = w.prune(ctx, p, entry, w.byBytes)
	return p, entry, err
}

// prune adds a PruneEntry to what is to be written, if the view becomes smaller by it: in bytes, where only they asked for it.
func (c *Compactor) prune(
	ctx context.Context, p *sessionlog.Write, entry *compactordv1.PruneEntry, byBytes bool,
) (*compactordv1.PruneEntry, error) {
	before := p.Head()
	entry.TokensBefore = p.Head().GetViewTokens()
	entry.CreatedAt = c.logs.Now()
	r, err := p.Record(ctx, &compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: entry}}, nil)
	if err != nil {
		return nil, err
	}
	r.GetPrune().TokensAfter = p.Head().GetViewTokens()
	return r.GetPrune(), gain(before, p.Head(), byBytes)
}

// putCut adds the CompactionEntry to a copy of what is to be written, if the view becomes smaller by it. Where the view with
// the message that is to be replayed would not, or would be due again, nothing is replayed.
func (w *written) putCut(
	ctx context.Context, before *sessionlog.Write,
) (*sessionlog.Write, *compactordv1.CompactionEntry, error) {
	again, err := w.toReplay(ctx, before)
	if err != nil {
		return nil, nil, err
	}
	if again != nil {
		p := before.Fork()
		entry, err := w.putEntry(ctx, p, again)
		if err == nil && !session.Due(w.policy, strategies.Report(p.Head(), w.policy)) {
			return p, entry, nil
		}
		if err != nil && asSkip(err) == nil {
			return nil, nil, err
		}
	}
	p := before.Fork()
	entry, err := w.putEntry(ctx, p, nil)
	return p, entry, err
}

func (w *written) putEntry(
	ctx context.Context, p *sessionlog.Write, replayed *uint32,
) (*compactordv1.CompactionEntry, error) {
	cut := w.plan.GetCut()
	before, err := p.State(ctx)
	if err != nil {
		return nil, err
	}
	at := before.Position(cut.GetFirstKeptIndex())
	covered, kept := before.Kept[:at], before.Kept[at:]
	tags := w.fileTags()
	entry := &compactordv1.CompactionEntry{
		Id: sessionlog.NewID(), FirstKeptIndex: cut.GetFirstKeptIndex(),
		Covered: &compactordv1.IndexRange{
			Start: p.Head().GetLeadEnd(), End: cut.GetFirstKeptIndex(),
		},
		Summarized: cut.GetSummarized(),
		Summary:    withTags(w.summary.Text, tags), FileTags: tags != "",
		Slots:          slotsOf(before, covered, kept),
		TokensBefore:   p.Head().GetViewTokens(),
		Provenance:     w.provenanceOfSummary(),
		ReplayedIndex:  replayed,
		SplitTurnStart: cut.SplitTurnStart, PreviousEntryId: before.Entry.GetId(),
		Files:         strategies.TouchedFiles(before.Entry.GetFiles(), strategies.FileTools(w.policy), covered),
		CreatedAt:     w.logs.Now(),
		Sections:      w.summary.Sections,
		CitedIndexes:  summarizers.Citations(w.summary.Text),
		ProviderBlock: w.block,
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
	return written, gain(before.Head, p.Head(), w.byBytes)
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

// stillOpen leaves out the edits of messages that the cut covers, and those that others have made or made useless since
// the plan.
func (w *written) stillOpen(
	state *session.State, edits []*compactordv1.Edit, cut *compactordv1.Cut,
) []*compactordv1.Edit {
	made := func(e *compactordv1.Edit) bool {
		now := state.Edits[e.GetIndex()]
		since := now[min(len(w.snapshot.Edits[e.GetIndex()]), len(now)):]
		return slices.ContainsFunc(since, func(other *compactordv1.Edit) bool {
			return other.GetPart() == e.GetPart() && other.GetKind() == e.GetKind()
		})
	}
	return strategies.Fitting(state, slices.DeleteFunc(slices.Clone(edits), made), cut)
}
