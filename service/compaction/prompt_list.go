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

// promptList takes the prompts of a plan, one after the other, and puts those into an answer that have room there. All of
// them are made for each answer: what is told of the plan is the same in all, and nothing is kept in between.
type promptList struct {
	// limit is the most tokens that a prompt may have.
	limit uint32
	// from is the first prompt to answer, by its number.
	from   int
	answer *compactordv1.PlanCompactionResponse

	number, size int
	// redacted is how many secrets had been redacted before the first prompt of the answer.
	redacted uint32
	// tokens are those of all prompts.
	tokens uint32
	// cached says that a prompt stands on the agent's own.
	cached bool
}

// fill makes the prompts of a plan.
func (p *promptList) fill(ctx context.Context, w *writing) error {
	for _, a := range w.asks() {
		if err := p.ask(ctx, w, a); err != nil {
			return err
		}
	}
	// What was redacted since the context ended is empty.
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if p.from > 0 && p.from >= p.number {
		return apierror.InvalidField("from_prompt", "there are "+figure(uint32(p.number))+" prompts, counted from 0")
	}
	w.plan.Chunks, w.plan.SummarizerInputTokens = uint32(p.number), p.tokens
	return nil
}

// ask makes the prompts for one text.
func (p *promptList) ask(ctx context.Context, w *writing, a ask) error {
	limits := prompts.Limits{PromptTokens: p.limit, Count: a.request.Count}
	if prompt, view := w.onAgentsPrompt(a.request, limits); prompt != nil {
		p.cached = true
		p.put(w, a, prompt, &view)
		return nil
	}
	folding, err := prompts.Fold(a.request, limits)
	for err == nil {
		var prompt *prompts.Prompt
		if prompt, err = folding.Next(ctx); prompt == nil {
			break
		}
		p.put(w, a, prompt, nil)
	}
	if errors.Is(err, prompts.ErrTooLarge) {
		return apierror.InvalidField("max_prompt_tokens", "no prompt of "+figure(p.limit)+
			" tokens holds the instructions with the focus and the further context")
	}
	return err
}

// onAgentsPrompt is the one prompt that follows the agent's own, with how many messages of that it follows; nil where the
// policy does not want it or it is larger than a prompt may be.
func (w *writing) onAgentsPrompt(req *summarizers.Request, limits prompts.Limits) (*prompts.Prompt, uint32) {
	view := w.agentView()
	if view == nil || req.Kind != summarizers.History {
		return nil, 0
	}
	closing := prompts.Closing(req)
	shown := view(compactordv1.Dialect_DIALECT_UNSPECIFIED).Messages
	var stored uint64
	for _, vm := range shown {
		stored += uint64(vm.GetTokens())
	}
	tokens := uint64(limits.Count(closing.Text)) + uint64(w.snapshot.Scaled(uint32(min(stored, math.MaxUint32)))) +
		uint64(w.outside(limits))
	if tokens > uint64(limits.PromptTokens) {
		return nil, 0
	}
	closing.Tokens = uint32(tokens)
	return closing, uint32(len(shown))
}

// outside is what the agent sends with its messages and the log does not have, its tools and system prompt: as many tokens
// as its reports or its policy tell, and no fewer than the tools that the policy gives.
func (w *writing) outside(limits prompts.Limits) uint32 {
	tools := limits.Count(w.policy.GetSummary().GetToolsJson())
	return max(tools, strategies.Report(w.snapshot.Head, w.policy).GetOverheadTokens())
}

// put puts a prompt into the answer if it is its turn and there is room.
func (p *promptList) put(w *writing, a ask, prompt *prompts.Prompt, view *uint32) {
	number := p.number
	p.number++
	p.tokens += prompt.Tokens
	if number < p.from {
		p.redacted = w.writer.Redactions()
		return
	}
	if p.answer.GetHasMore() {
		return
	}
	shown := &compactordv1.SummaryPrompt{
		Kind: promptKinds[a.request.Kind], System: prompt.System, Text: prompt.Text, Final: prompt.Final,
		MaxAnswerTokens: prompt.MaxTokens, Tokens: prompt.Tokens, ViewMessages: view, Edit: a.edit,
	}
	if prompt.GoesOn {
		shown.TextBeforeAnswer = proto.String(prompt.BeforeAnswer)
	}
	p.size += proto.Size(shown)
	if len(p.answer.GetPrompts()) > 0 && p.size > w.MaxAnswerBytes {
		p.answer.HasMore = true
		return
	}
	p.answer.Prompts = append(p.answer.Prompts, shown)
	p.answer.Redactions = w.writer.Redactions() - p.redacted
}

var promptKinds = map[summarizers.Kind]compactordv1.SummaryPromptKind{
	summarizers.History:     compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_HISTORY,
	summarizers.TurnPrefix:  compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_TURN_PREFIX,
	summarizers.Observation: compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_OBSERVATION,
}
