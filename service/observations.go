package service

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// place is a part of a message, which the summarizer writes at most one text for.
type place struct{ index, part uint32 }

func placeOf(e *compactordv1.Edit) place { return place{e.GetIndex(), e.GetPart()} }

// toWrite are the edits whose text is up to the summarizer.
func toWrite(edits []*compactordv1.Edit) []*compactordv1.Edit {
	return slices.DeleteFunc(slices.Clone(edits), func(e *compactordv1.Edit) bool { return !e.GetBySummarizer() })
}

// compress has the tool results written shorter that the plan's edits are to replace. One that does not get shorter has no
// text in the end, and its edit is not made.
func (c *compaction) compress(ctx context.Context) error {
	edits := toWrite(c.plan.GetEdits())
	if len(edits) == 0 {
		return nil
	}
	total := c.toRead()
	c.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_SUMMARIZE, 0, total)
	c.texts = make(map[place]*written)
	if err := c.observeAll(ctx, edits, total); err != nil {
		return err
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

// toRead is what the summarizer gets to read in all, in stored tokens: the results and the conversation.
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

// observeAll has the results of edits written shorter, some at a time.
func (c *compaction) observeAll(ctx context.Context, edits []*compactordv1.Edit, total uint32) error {
	atATime := 1
	if c.by == nil {
		atATime = c.author.atATime()
	}
	var telling sync.Mutex
	texts := make([]*written, len(edits))
	err := c.service.together(ctx, c.id, atATime, len(edits), func(ctx context.Context, i int) error {
		l := c.snapshot.Kept[c.snapshot.Position(edits[i].GetIndex())]
		texts[i] = &written{}
		if err := c.observe(ctx, edits[i], l, texts[i]); err != nil {
			return err
		}
		telling.Lock()
		defer telling.Unlock()
		c.read += l.GetTokens()
		c.progress(ctx, compactordv1.CompactionStage_COMPACTION_STAGE_SUMMARIZE, c.read, total)
		return nil
	})
	// In the order of the edits, whichever came first.
	for i, w := range texts {
		if w == nil {
			continue
		}
		c.spent.add(w)
		if w.text != "" {
			c.texts[placeOf(edits[i])] = w
		}
	}
	return err
}

// observe has one result written shorter. It has no text where none is shorter.
func (c *compaction) observe(ctx context.Context, e *compactordv1.Edit, l *compactordv1.LoggedMessage, result *written) error {
	req := c.observation(e, l)
	// Nobody listens: what is written is no text of the summary.
	t := &task{policy: c.policy, by: c.by, covered: req.Replaces}
	w := &summaryWriter{
		service: c.service, author: c.author, result: result, task: t, stream: newSummaryStream(t, []piece{{request: req}}),
	}
	err := w.checked(ctx, req)
	switch {
	case err == nil:
		result.text = req.Result.Replacement(&summarizers.Summary{Text: result.text})
	case asSkip(err) != nil:
		err, result.text = nil, ""
	}
	return err
}

// observation asks for the text of an edit.
func (c *compaction) observation(e *compactordv1.Edit, l *compactordv1.LoggedMessage) *summarizers.Request {
	return c.author.request(&summarizers.Request{
		Kind: summarizers.Observation, Result: c.toolResult(e, l), Focus: c.req.GetFocus(),
		Replaces:  c.snapshot.Scaled(l.GetTokens()),
		MaxTokens: max(minSummaryTokens, c.snapshot.Scaled(l.GetTokens()-min(l.GetTokens(), e.GetTokensFreed()))),
	}, c.snapshot.ModelCounter())
}

// toolResult is what the summarizer is told of a result: all of its text, as the log has it, and what else was in it.
func (c *compaction) toolResult(e *compactordv1.Edit, l *compactordv1.LoggedMessage) *summarizers.ToolResult {
	r := l.GetMessage().GetParts()[e.GetPart()].GetToolResult()
	lines := make([]string, len(r.GetParts()))
	for i, p := range r.GetParts() {
		switch k := p.GetKind().(type) {
		case *compactordv1.ResultPart_Media:
			lines[i] = session.MediaLine(k.Media)
		case *compactordv1.ResultPart_Opaque:
			lines[i] = "[Provider's item: " + k.Opaque.GetType() + "]"
		default:
			lines[i] = p.GetText().GetText()
		}
	}
	return &summarizers.ToolResult{
		Index: e.GetIndex(), Part: e.GetPart(), Tool: l.GetAnswers().GetName(), Argument: c.argumentOf(l.GetAnswers()),
		Text: strings.Join(lines, "\n"), Failed: r.GetIsError(), Guidelines: guidelines(c.policy.GetStrategy()),
		Task: c.lastRequest(),
	}
}

// lastRequest is what the user asked for last, of what the view keeps or else of what its summary covers.
func (c *compaction) lastRequest() string {
	for _, l := range slices.Backward(c.snapshot.Kept) {
		if !session.StartsTurn(l.GetMessage()) {
			continue
		}
		texts := make([]string, 0, len(l.GetMessage().GetParts()))
		for _, p := range l.GetMessage().GetParts() {
			texts = append(texts, p.GetText().GetText())
		}
		if said, _ := summarizers.Said(strings.Join(texts, "\n")); said != "" {
			return said
		}
	}
	return c.snapshot.Entry.GetSlots().GetLastUserRequest().GetText()
}

// argumentOf is what tells most of what a call asked for; empty where the call is not kept.
func (c *compaction) argumentOf(ref *compactordv1.CallRef) string {
	kept := c.snapshot.Kept
	at := c.snapshot.Position(ref.GetIndex())
	if at == len(kept) || kept[at].GetIndex() != ref.GetIndex() {
		return ""
	}
	return session.MainArgument(kept[at].GetMessage().GetParts()[ref.GetPart()].GetToolCall().GetArguments())
}

// guidelines are those of the first strategy that has results written shorter.
func guidelines(s *compactordv1.Strategy) string {
	if compress := s.GetCompressObservations(); compress != nil {
		return compress.GetGuidelines()
	}
	nested := s.GetFirstEffective().GetStrategies()
	for _, rung := range s.GetLadder().GetRungs() {
		nested = append(slices.Clip(nested), rung.GetStrategy())
	}
	for _, inner := range nested {
		if found := guidelines(inner); found != "" {
			return found
		}
	}
	return ""
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
			e.Replacement, e.BySummarizer = text.text, false
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
		entry.Model = cmp.Or(entry.GetModel(), text.model)
		entry.PromptVersion = max(entry.GetPromptVersion(), text.promptVersion)
		fellBack := text.fallback != compactordv1.SummaryFallback_SUMMARY_FALLBACK_UNSPECIFIED
		if entry.GetSummarizer() == "" || fellBack {
			entry.Summarizer = text.summarizer
		}
		if fellBack {
			entry.Fallback, entry.FallbackCause = text.fallback, text.cause
		}
	}
	if !entry.GetWithCut() {
		entry.Usage, entry.CostUsd, entry.SummarizerCalls = c.spent.usage, c.spent.costUSD, c.spent.calls
		if len(c.texts) > 0 {
			entry.Redactions = c.author.redactions()
		}
	}
}
