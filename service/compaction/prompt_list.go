package compaction

import (
	"context"
	"errors"
	"math"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/prompts"
)

// promptList collects the prompts of a plan, from one prompt on, until the answer is full. It makes all prompts for
// each answer, since nothing is stored in between, and the plan's figures are the same in all answers.
type promptList struct {
	// limit is the most tokens of a prompt.
	limit uint32
	// from is the number of the first prompt for this answer.
	from   int
	answer *compactordv1.PlanCompactionResponse

	number, size int
	// redacted is how many secrets were redacted in the prompts before the first of this answer.
	redacted uint32
	// tokens is the sum of all prompts.
	tokens uint32
	// cached says that a prompt follows the agent's own one.
	cached bool
}

// fill makes the prompts of a plan.
func (l *promptList) fill(ctx context.Context, w *writing) error {
	texts, err := w.wantedTexts(ctx)
	if err != nil {
		return err
	}
	for _, a := range texts {
		if err := l.addPrompts(ctx, w, a); err != nil {
			return err
		}
	}
	// After the context ended, redacting returns empty texts.
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if l.from > 0 && l.from >= l.number {
		return apierror.InvalidField("from_prompt", "there are "+figure(uint32(l.number))+" prompts, counted from 0")
	}
	w.plan.Chunks, w.plan.SummarizerInputTokens = uint32(l.number), l.tokens
	return nil
}

// addPrompts makes the prompts for one text.
func (l *promptList) addPrompts(ctx context.Context, w *writing, a wantedText) error {
	limits := prompts.Limits{PromptTokens: l.limit, Count: a.request.Count}
	if prompt, view := w.onAgentsPrompt(a.request, limits); prompt != nil {
		l.cached = true
		l.put(w, a, prompt, &view)
		return nil
	}
	folding, err := prompts.Fold(a.request, limits)
	for err == nil {
		var prompt *prompts.Prompt
		if prompt, err = folding.Next(ctx); prompt == nil {
			break
		}
		l.put(w, a, prompt, nil)
	}
	if errors.Is(err, prompts.ErrTooLarge) {
		return apierror.InvalidField("max_prompt_tokens", "no prompt of "+figure(l.limit)+
			" tokens holds the instructions with the focus and the further context")
	}
	return err
}

// onAgentsPrompt returns the one prompt that follows the agent's own, and the number of the agent's messages that it
// follows. It returns nil where the policy does not want it, or where both together are larger than a prompt may be.
func (w *writing) onAgentsPrompt(req *summarizers.Request, limits prompts.Limits) (*prompts.Prompt, uint32) {
	view := w.agentView()
	if view == nil || req.Kind != summarizers.History {
		return nil, 0
	}
	closing := prompts.Closing(req)
	shown := view.Outline.Messages
	var stored uint64
	for _, vm := range shown {
		stored += uint64(vm.GetTokens())
	}
	tokens := uint64(limits.Count(closing.Text)) + uint64(w.snapshot.Scaled(uint32(min(stored, math.MaxUint32)))) +
		uint64(w.overhead(limits))
	if tokens > uint64(limits.PromptTokens) {
		return nil, 0
	}
	closing.Tokens = uint32(tokens)
	return closing, uint32(len(shown))
}

// overhead returns the tokens that the agent sends with its messages and the log does not have: its tools and system
// prompt. It is the session's figure, but at least that of the tools that the policy gives.
func (w *writing) overhead(limits prompts.Limits) uint32 {
	tools := limits.Count(w.policy.GetSummary().GetToolsJson())
	return max(tools, strategies.Report(w.snapshot.Head, w.policy).GetOverheadTokens())
}

// put adds a prompt to the answer if it is not before the first and the answer is not full.
func (l *promptList) put(w *writing, a wantedText, prompt *prompts.Prompt, view *uint32) {
	number := l.number
	l.number++
	l.tokens += prompt.Tokens
	if number < l.from {
		l.redacted = w.writer.Redactions()
		return
	}
	if l.answer.GetHasMore() {
		return
	}
	shown := &compactordv1.SummaryPrompt{
		Kind: promptKinds[a.request.Kind], System: prompt.System, Text: prompt.Text, Final: prompt.Final,
		MaxAnswerTokens: prompt.MaxTokens, Tokens: prompt.Tokens, ViewMessages: view, Edit: a.edit,
	}
	if prompt.GoesOn {
		shown.TextBeforeAnswer = proto.String(prompt.BeforeAnswer)
	}
	l.size += proto.Size(shown)
	if len(l.answer.GetPrompts()) > 0 && l.size > w.MaxAnswerBytes {
		l.answer.HasMore = true
		return
	}
	l.answer.Prompts = append(l.answer.Prompts, shown)
	l.answer.Redactions = w.writer.Redactions() - l.redacted
}

var promptKinds = map[summarizers.Kind]compactordv1.SummaryPromptKind{
	summarizers.History:     compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_HISTORY,
	summarizers.TurnPrefix:  compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_TURN_PREFIX,
	summarizers.Observation: compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_OBSERVATION,
	summarizers.Range:       compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_FOLD,
}
