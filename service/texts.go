package service

import (
	"cmp"
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

// place is a part of a message, which the summarizer writes at most one text for.
type place struct{ index, part uint32 }

func placeOf(e *compactordv1.Edit) place { return place{e.GetIndex(), e.GetPart()} }

// toWrite are the edits whose text is up to the summarizer.
func toWrite(edits []*compactordv1.Edit) []*compactordv1.Edit {
	return slices.DeleteFunc(slices.Clone(edits), func(e *compactordv1.Edit) bool { return !e.GetBySummarizer() })
}

// operation is what the summary writer is told of the compaction.
func (c *compaction) operation() *summaries.Operation {
	return &summaries.Operation{
		ID: c.id, SessionUID: c.uid, State: c.snapshot, Policy: c.policy, Focus: c.req.GetFocus(), Client: c.client,
		ToRead: c.toRead(), Listener: textEvents{c},
	}
}

// texted has all texts written that the plan needs. The summary is nil where there is to be no cut.
func (c *compaction) texted(ctx context.Context) (*summaries.Written, error) {
	if err := c.shorten(ctx); err != nil {
		return nil, err
	}
	summary, err := c.summarize(ctx)
	if c.noCut = asSkip(err); c.noCut != nil {
		return nil, c.goWithoutCut(ctx)
	}
	return summary, err
}

// shorten has the tool results made shorter that the plan's edits are to replace. One that does not get shorter has no
// text in the end, and its edit is not made.
func (c *compaction) shorten(ctx context.Context) error {
	edits := toWrite(c.plan.GetEdits())
	if len(edits) == 0 {
		return nil
	}
	texts, err := c.writer.Shorten(ctx, edits)
	if err != nil {
		return err
	}
	c.texts = make(map[place]*summaries.Written)
	for i, text := range texts {
		if text != nil {
			c.texts[placeOf(edits[i])] = text
		}
	}
	if c.plan.GetCut() != nil {
		return nil
	}
	c.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_CHECK, 1, 1)
	if len(strategies.Fitting(c.snapshot, c.withTexts(c.plan.GetEdits()), nil)) == 0 {
		return &skip{
			compactordv1.SkipReason_SKIP_REASON_NO_GAIN,
			"no result was written shorter than what the view shows of it",
		}
	}
	return nil
}

// summarize has the summary written that the plan's cut needs; nil where it has none.
func (c *compaction) summarize(ctx context.Context) (*summaries.Written, error) {
	if c.plan.GetCut() == nil {
		return nil, nil
	}
	summary, err := c.writer.Write(ctx, c.task())
	var noGain *summaries.NoGainError
	if errors.As(err, &noGain) {
		return nil, &skip{compactordv1.SkipReason_SKIP_REASON_NO_GAIN, noGain.Error()}
	}
	return summary, err
}

// task is the summary that the plan's cut needs.
func (c *compaction) task() *summaries.Task {
	history, prefix := c.divide(c.plan.GetCut())
	return &summaries.Task{
		History: history, Prefix: prefix, Whole: c.whole, Previous: c.previousSummary(),
		MaxTokens: c.textBudget(), Replaces: c.coveredTokens(), AgentView: c.agentView(),
	}
}

// agentView is the agent's own prompt up to the plan's cut; nil where the policy does not want it sent, or there is no cut.
// It is what GetLLMView gives of all that the cut covers: only what its last message may have been merged with is behind
// the cut and missing.
func (c *compaction) agentView() func(dialect compactordv1.Dialect) *session.View {
	cut := c.plan.GetCut()
	if cut == nil || !c.policy.GetSummary().GetCachedPrefix() {
		return nil
	}
	return func(dialect compactordv1.Dialect) *session.View {
		return views.UpTo(c.snapshot.View(session.ViewOptions{Dialect: dialect}), cut.GetFirstKeptIndex())
	}
}

// divide returns what is summarized as complete turns, and the first part of the turn that the cut splits.
func (c *compaction) divide(cut *compactordv1.Cut) (history, prefix []*compactordv1.LoggedMessage) {
	kept := c.snapshot.Kept
	end := c.snapshot.Position(cut.GetFirstKeptIndex())
	if cut.SplitTurnStart == nil {
		return kept[:end], nil
	}
	start := c.snapshot.Position(cut.GetSplitTurnStart())
	return kept[:start], kept[start:end]
}

// coveredTokens is the size of what the new summary replaces: the messages, and the summary before it.
func (c *compaction) coveredTokens() uint32 {
	history, prefix := c.divide(c.plan.GetCut())
	covered := c.snapshot.Scaled(session.StoredTokens(history) + session.StoredTokens(prefix) +
		session.TextTokens(c.snapshot.Counter, c.snapshot.Entry.GetSummary()))
	if !c.byBytes {
		return covered
	}
	// What weighs in bytes need not in tokens: four bytes make one, as text would.
	bytes := len(c.snapshot.Entry.GetSummary())
	for _, l := range slices.Concat(history, prefix) {
		bytes += proto.Size(l.GetMessage())
	}
	return max(covered, uint32(bytes/4))
}

// toRead is what there is to read for all texts, in stored tokens: the results and the conversation.
func (c *compaction) toRead() uint32 {
	var total uint32
	for _, e := range toWrite(c.plan.GetEdits()) {
		total += c.snapshot.Kept[c.snapshot.Position(e.GetIndex())].GetTokens()
	}
	if cut := c.plan.GetCut(); cut != nil {
		history, prefix := c.divide(cut)
		total += session.StoredTokens(history) + session.StoredTokens(prefix)
	}
	return total
}

// withTexts puts in what the summarizer wrote. An edit that it wrote nothing for is left out.
func (c *compaction) withTexts(edits []*compactordv1.Edit) []*compactordv1.Edit {
	var ready []*compactordv1.Edit
	for _, e := range edits {
		if e.GetBySummarizer() {
			text, wrote := c.texts[placeOf(e)]
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

// tellSummarizer says in a PruneEntry who wrote the texts of its edits and, where there is no cut whose entry does, what
// the summarizer took.
func (c *compaction) tellSummarizer(entry *compactordv1.PruneEntry) {
	for _, e := range entry.GetEdits() {
		text, wrote := c.texts[placeOf(e)]
		if !wrote {
			continue
		}
		entry.Model = cmp.Or(entry.GetModel(), text.Model)
		entry.PromptVersion = max(entry.GetPromptVersion(), text.PromptVersion)
		fellBack := text.Fallback != compactordv1.SummaryFallback_SUMMARY_FALLBACK_UNSPECIFIED
		if entry.GetSummarizer() == "" || fellBack {
			entry.Summarizer = text.Summarizer
		}
		if fellBack {
			entry.Fallback, entry.FallbackCause = text.Fallback, text.FallbackCause
		}
	}
	if !entry.GetWithCut() {
		spent := c.writer.Spent()
		entry.Usage, entry.CostUsd, entry.SummarizerCalls = spent.Usage, spent.CostUSD, spent.Calls
		if len(c.texts) > 0 {
			entry.Redactions = c.writer.Redactions()
		}
	}
}

// textEvents tells by events of the compaction how its texts come along.
type textEvents struct{ compaction *compaction }

var _ summaries.Listener = textEvents{}

// Read implements Listener.
func (e textEvents) Read(ctx context.Context, read, total uint32) {
	e.compaction.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_SUMMARIZE, read, total)
}

// Delta implements Listener.
func (e textEvents) Delta(ctx context.Context, attempt uint32, text string) {
	e.compaction.emit(ctx, &compactordv1.CompactionEvent{Event: &compactordv1.CompactionEvent_SummaryDelta{
		SummaryDelta: &compactordv1.SummaryDelta{Attempt: attempt, Text: text},
	}})
}

// Checked implements Listener.
func (e textEvents) Checked(ctx context.Context) {
	e.compaction.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_CHECK, 1, 1)
}
