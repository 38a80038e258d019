package compaction

import (
	"context"
	"errors"
	"slices"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/service/views"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/tracing"
)

// writing is a plan with the summary writer for its texts.
type writing struct {
	*planned

	writer *summaries.Writer
	// whole says that one summary stands for all that the cut covers, even if it splits a turn.
	whole bool
	// block is the provider's own compaction item beside the summary; nil where there is none.
	block *compactordv1.OpaquePart
}

// written is a plan with its texts.
type written struct {
	*writing

	// texts are the texts of the plan's edits.
	texts map[place]*summaries.Written
	// summary is the text of the summary; nil without a cut. noCut is the reason why the plan's cut is not made; nil where
	// it is.
	summary *summaries.Written
	noCut   *skip
}

// place is a part of a message, or a range that is folded, with its end. The summarizer writes at most one text for it.
type place struct{ index, part, foldEnd uint32 }

func placeOf(e *compactordv1.Edit) place { return place{e.GetIndex(), e.GetPart(), e.GetFoldEnd()} }

// toWrite returns the edits whose text the summarizer writes.
func toWrite(edits []*compactordv1.Edit) []*compactordv1.Edit {
	return slices.DeleteFunc(slices.Clone(edits), func(e *compactordv1.Edit) bool { return !e.GetBySummarizer() })
}

// operation describes the compaction for the summary writer.
func (p *planned) operation() *summaries.Operation {
	return &summaries.Operation{
		ID: p.id, SessionUID: p.uid, State: p.snapshot, Policy: p.policy, Focus: p.req.GetFocus(), Client: p.client,
		ToRead: p.toRead(), Listener: listener{p.job},
		StreamsFold: p.plan.GetCut() == nil && len(toWrite(p.plan.GetEdits())) == 1,
	}
}

// writing returns the plan with a summary writer.
func (p *planned) writing(ctx context.Context, op *summaries.Operation) (*writing, error) {
	writer, err := summaries.NewWriter(ctx, p.Summaries, op)
	if err != nil {
		return nil, err
	}
	return &writing{planned: p, writer: writer}, nil
}

// write has all texts of the plan written.
func (w *writing) write(ctx context.Context) (done *written, err error) {
	ctx, span := tracing.Begin(ctx, "write texts")
	defer func() { endStep(span, err) }()
	texts, err := w.writeEdits(ctx)
	if err != nil {
		return nil, err
	}
	done = &written{writing: w, texts: texts}
	if w.plan.GetCut() == nil {
		return done, nil
	}
	task, err := w.task(ctx)
	if err != nil {
		return nil, err
	}
	done.summary, err = w.writer.Write(ctx, task)
	var noGain *summaries.NoGainError
	if errors.As(err, &noGain) {
		done.summary = nil
		done.noCut = &skip{compactordv1.SkipReason_SKIP_REASON_NO_GAIN, noGain.Error()}
		return done, done.goOnWithoutCut(ctx)
	}
	return done, err
}

// writeEdits has the texts of the plan's edits written. Where a text is not shorter than what it replaces, there is none
// and the edit is not made.
func (w *writing) writeEdits(ctx context.Context) (map[place]*summaries.Written, error) {
	edits := toWrite(w.plan.GetEdits())
	if len(edits) == 0 {
		return nil, nil
	}
	all, err := w.writer.WriteEdits(ctx, edits)
	if err != nil {
		return nil, err
	}
	texts := make(map[place]*summaries.Written)
	for i, text := range all {
		if text != nil {
			texts[placeOf(edits[i])] = text
		}
	}
	if w.plan.GetCut() != nil {
		return texts, nil
	}
	w.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_CHECK, 1, 1)
	if len(strategies.Fitting(w.snapshot, withTexts(texts, w.plan.GetEdits()), nil)) == 0 {
		return nil, &skip{
			compactordv1.SkipReason_SKIP_REASON_NO_GAIN,
			"no text was written that is shorter than what the view shows",
		}
	}
	return texts, nil
}

// goOnWithoutCut returns nil where edits alone still make the view smaller, after no summary did. Otherwise it returns
// the skip that ends the compaction.
func (d *written) goOnWithoutCut(ctx context.Context) error {
	edits, err := d.editsAlone(ctx, d.snapshot)
	if err != nil {
		return err
	}
	if len(strategies.Fitting(d.snapshot, withTexts(d.texts, edits), nil)) == 0 {
		return d.noCut
	}
	return nil
}

// task returns the task for the summary of the plan's cut.
func (w *writing) task(ctx context.Context) (*summaries.Task, error) {
	history, prefix := w.divide()
	kept, err := w.kept(ctx)
	if err != nil {
		return nil, err
	}
	earlier, err := w.earlier(ctx)
	if err != nil {
		return nil, err
	}
	budget, err := w.textBudget(ctx)
	return &summaries.Task{
		History: history, Prefix: prefix, Kept: kept, Whole: w.whole,
		Previous: w.previousSummary(), PreviousSections: w.snapshot.Entry.GetSections(),
		Earlier:   earlier,
		MaxTokens: budget, Replaces: w.coveredTokens(), AgentView: w.agentView(),
	}, err
}

// earlierBytes is how many bytes of messages that the summary before covers are read again.
const earlierBytes = 4 << 20

// earlier returns the newest messages that the summary before covers; none where there is no summary or no session.
func (p *planned) earlier(ctx context.Context) ([]*compactordv1.LoggedMessage, error) {
	h := p.snapshot.Head
	if p.uid == "" || p.snapshot.Entry.GetSummary() == "" {
		return nil, nil
	}
	row, err := p.logs.Row(ctx, p.req.GetSessionId())
	if err != nil || row.GetUid() != p.uid {
		return nil, err
	}
	return p.logs.NewestMessages(ctx, row, h, h.GetLeadEnd(), session.KeptFrom(h), earlierBytes)
}

// kept returns the messages that the view will show beside the summary, as it will show them: of the covered ones those
// that are pinned, and the kept part with the plan's edits. It leaves out what is not known yet: texts by the summarizer,
// and a request that is replayed. Of a long kept part, only the newest messages are read.
func (p *planned) kept(ctx context.Context) ([]*compactordv1.LoggedMessage, error) {
	s, cut := p.snapshot, p.plan.GetCut()
	from := s.Position(cut.GetFirstKeptIndex())
	pinned := slices.DeleteFunc(slices.Concat(s.OutOfPlace, s.Kept[:from]), func(l *compactordv1.LoggedMessage) bool {
		return !session.Pinned(s.Head, l.GetIndex())
	})
	after := s.WithEdits(strategies.Fitting(s, withTexts(nil, p.plan.GetEdits()), cut))
	return summaries.ShownNewest(ctx, s, after, slices.Concat(pinned, s.Kept[from:]))
}

// agentView returns the agent's own prompt up to the plan's cut; nil without a cut, or where the policy does not want
// it sent. The prompt is what GetLLMView returns of all that the cut covers. It lacks only messages from after the cut
// that were merged with its last one.
func (p *planned) agentView() *summaries.AgentView {
	cut := p.plan.GetCut()
	if cut == nil || !p.policy.GetSummary().GetCachedPrefix() {
		return nil
	}
	upToCut := func(s *session.State, dialect compactordv1.Dialect) *session.View {
		return views.UpTo(s.View(session.ViewOptions{Dialect: dialect}), cut.GetFirstKeptIndex())
	}
	return &summaries.AgentView{
		Outline: upToCut(p.snapshot, compactordv1.Dialect_DIALECT_UNSPECIFIED),
		Read: func(ctx context.Context, dialect compactordv1.Dialect) (*session.View, error) {
			whole, err := p.snapshot.WithContentsBefore(ctx, cut.GetFirstKeptIndex())
			if err != nil {
				return nil, err
			}
			return upToCut(whole, dialect), nil
		},
	}
}

// coveredTokens returns the tokens that the new summary replaces: the messages and the summary before it.
func (p *planned) coveredTokens() uint32 {
	at := p.snapshot.Position(p.plan.GetCut().GetFirstKeptIndex())
	return strategies.CoveredTokens(p.snapshot, at, p.byBytes)
}

// withTexts returns the edits with the texts of the summarizer. It leaves out edits without a text, and folds without one
// as a whole.
func withTexts(texts map[place]*summaries.Written, edits []*compactordv1.Edit) []*compactordv1.Edit {
	var ready []*compactordv1.Edit
	unwritten := make(map[uint32]bool)
	for _, e := range edits {
		if e.GetKind() == compactordv1.EditKind_EDIT_KIND_FOLD && unwritten[e.GetFoldStart()] {
			continue
		}
		if e.GetBySummarizer() {
			text, wrote := texts[placeOf(e)]
			if !wrote {
				unwritten[e.GetIndex()] = e.GetKind() == compactordv1.EditKind_EDIT_KIND_FOLD
				continue
			}
			e = proto.CloneOf(e)
			e.Replacement, e.BySummarizer = text.Text, false
		}
		ready = append(ready, e)
	}
	return ready
}

// listener sends events about the texts of a compaction.
type listener struct{ job *job }

var _ summaries.Listener = listener{}

// Read implements Listener.
func (l listener) Read(ctx context.Context, read, total uint32) {
	l.job.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_SUMMARIZE, read, total)
}

// Delta implements Listener.
func (l listener) Delta(ctx context.Context, attempt uint32, text string) {
	l.job.emit(ctx, &compactordv1.CompactionEvent{Event: &compactordv1.CompactionEvent_SummaryDelta{
		SummaryDelta: &compactordv1.SummaryDelta{Attempt: attempt, Text: text},
	}})
}

// Checked implements Listener.
func (l listener) Checked(ctx context.Context) {
	l.job.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_CHECK, 1, 1)
}
