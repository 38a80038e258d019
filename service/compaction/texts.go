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
)

// writing is a plan whose texts can be written.
type writing struct {
	*planned

	writer *summaries.Writer
	// whole says that one summary is written of all that the cut covers, also where it splits a turn.
	whole bool
	// block is the provider's own compaction item beside the summary; nil where there is none.
	block *compactordv1.OpaquePart
}

// written is a plan whose texts are written.
type written struct {
	*writing

	// texts are those of the plan's edits.
	texts map[place]*summaries.Written
	// summary is nil where there is to be no cut, and noCut why the plan's cut is not made; nil where it is.
	summary *summaries.Written
	noCut   *skip
}

// place is a part of a message, which the summarizer writes at most one text for.
type place struct{ index, part uint32 }

func placeOf(e *compactordv1.Edit) place { return place{e.GetIndex(), e.GetPart()} }

// toWrite are the edits whose text is up to the summarizer.
func toWrite(edits []*compactordv1.Edit) []*compactordv1.Edit {
	return slices.DeleteFunc(slices.Clone(edits), func(e *compactordv1.Edit) bool { return !e.GetBySummarizer() })
}

// operation is what the summary writer is told of the compaction.
func (p *planned) operation() *summaries.Operation {
	return &summaries.Operation{
		ID: p.id, SessionUID: p.uid, State: p.snapshot, Policy: p.policy, Focus: p.req.GetFocus(), Client: p.client,
		ToRead: p.toRead(), Listener: listener{p.job},
	}
}

// writing has a summary writer for the plan.
func (p *planned) writing(ctx context.Context, op *summaries.Operation) (*writing, error) {
	writer, err := summaries.NewWriter(ctx, p.Summaries, op)
	if err != nil {
		return nil, err
	}
	return &writing{planned: p, writer: writer}, nil
}

// write has all texts written that the plan needs.
func (w *writing) write(ctx context.Context) (*written, error) {
	texts, err := w.shorten(ctx)
	if err != nil {
		return nil, err
	}
	done := &written{writing: w, texts: texts}
	if w.plan.GetCut() == nil {
		return done, nil
	}
	done.summary, err = w.writer.Write(ctx, w.task())
	var noGain *summaries.NoGainError
	if errors.As(err, &noGain) {
		done.summary = nil
		done.noCut = &skip{compactordv1.SkipReason_SKIP_REASON_NO_GAIN, noGain.Error()}
		return done, done.goOnWithoutCut(ctx)
	}
	return done, err
}

// shorten has the tool results made shorter that the plan's edits are to replace. One that does not get shorter has no
// text in the end, and its edit is not made.
func (w *writing) shorten(ctx context.Context) (map[place]*summaries.Written, error) {
	edits := toWrite(w.plan.GetEdits())
	if len(edits) == 0 {
		return nil, nil
	}
	shortened, err := w.writer.Shorten(ctx, edits)
	if err != nil {
		return nil, err
	}
	texts := make(map[place]*summaries.Written)
	for i, text := range shortened {
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
			"no result was written shorter than what the view shows of it",
		}
	}
	return texts, nil
}

// goOnWithoutCut says whether the compaction can go on where no summary is smaller than what it would replace: with edits
// alone. Else it returns that as its end.
func (w *written) goOnWithoutCut(ctx context.Context) error {
	edits, err := w.editsAlone(ctx, w.snapshot)
	if err != nil {
		return err
	}
	if len(strategies.Fitting(w.snapshot, withTexts(w.texts, edits), nil)) == 0 {
		return w.noCut
	}
	return nil
}

// task is the summary that the plan's cut needs.
func (w *writing) task() *summaries.Task {
	history, prefix := w.divide()
	return &summaries.Task{
		History: history, Prefix: prefix, Whole: w.whole,
		Previous: w.previousSummary(), PreviousSections: w.snapshot.Entry.GetSections(),
		MaxTokens: w.textBudget(), Replaces: w.coveredTokens(), AgentView: w.agentView(),
	}
}

// agentView is the agent's own prompt up to the plan's cut; nil where the policy does not want it sent, or there is no cut.
// It is what GetLLMView gives of all that the cut covers: only what its last message may have been merged with is behind
// the cut and missing.
func (p *planned) agentView() func(dialect compactordv1.Dialect) *session.View {
	cut := p.plan.GetCut()
	if cut == nil || !p.policy.GetSummary().GetCachedPrefix() {
		return nil
	}
	return func(dialect compactordv1.Dialect) *session.View {
		return views.UpTo(p.snapshot.View(session.ViewOptions{Dialect: dialect}), cut.GetFirstKeptIndex())
	}
}

// coveredTokens is the size of what the new summary replaces: the messages, and the summary before it.
func (p *planned) coveredTokens() uint32 {
	history, prefix := p.divide()
	covered := p.snapshot.Scaled(session.StoredTokens(history) + session.StoredTokens(prefix) +
		session.TextTokens(p.snapshot.Counter, p.snapshot.Entry.GetSummary()))
	if !p.byBytes {
		return covered
	}
	// What is large in bytes need not be in tokens: four bytes make one, as text would.
	bytes := len(p.snapshot.Entry.GetSummary())
	for _, l := range slices.Concat(history, prefix) {
		bytes += proto.Size(l.GetMessage())
	}
	return max(covered, uint32(bytes/4))
}

// withTexts puts in what the summarizer wrote. An edit that it wrote nothing for is left out.
func withTexts(texts map[place]*summaries.Written, edits []*compactordv1.Edit) []*compactordv1.Edit {
	var ready []*compactordv1.Edit
	for _, e := range edits {
		if e.GetBySummarizer() {
			text, wrote := texts[placeOf(e)]
			if !wrote {
				continue
			}
			e = proto.CloneOf(e)
			e.Replacement, e.BySummarizer = text.Text, false
		}
		ready = append(ready, e)
	}
	return ready
}

// listener tells by events of a compaction how its texts come along.
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
