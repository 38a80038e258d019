package llm

import (
	"errors"
	"strconv"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/prompts"
)

const (
	defaultWindow = 32_000
	// minMargin and marginPercent of the window are left free: what stands between the messages is not counted, and no
	// count but OpenAI's own is exact.
	minMargin     = 64
	marginPercent = 1
	// minOutput is what the smallest budget of a summary takes.
	minOutput = 96
)

// budget is how the window of a model is divided for one request: prompt + output + margin is the window. All but answer
// are in tokens of the model.
type budget struct {
	// prompt is the most that a prompt may hold.
	prompt uint32
	// output is the most that the model may write for the summary, and think the part of it that is for thinking. most is what it may write
	// where it was cut off, if its prompt leaves that much of the window.
	output, think, most uint32
	// answer is the budget of the summary, as the request counts: that of the request, or what the model can write.
	answer uint32
	// usable is the window without the margin.
	usable uint32
}

// errWindow says that a model cannot hold even the smallest prompt.
var errWindow = errors.New("the model's window is too small for a prompt")

// divide divides the window.
//
// An answer may take half as many tokens again as its budget says, since the session counts otherwise than the model;
// and a model that is told how hard to think needs tokens for that before it writes. Both together get a quarter of the
// window at the most, or half of it where the model thinks: a summary that leaves less for what it is a summary of
// would have the conversation folded into ever more prompts. Where that or the model's output limit is too little for
// both, thinking gets up to half of it, and the budget of the summary is lowered to what is left, so that the model is
// told what it can keep to.
func divide(p *Profile, kind summarizers.Kind, maxTokens uint32) (budget, error) {
	margin := max(minMargin, p.Window/100*marginPercent)
	if p.Window < margin+prompts.MinPromptTokens+minOutput {
		return budget{}, errWindow
	}
	b := budget{usable: p.Window - margin, most: p.Window}
	if p.MaxOutput > 0 {
		b.most = p.MaxOutput
	}
	think := thinkingBudget(p, kind)
	share := p.Window / 4
	if think > 0 {
		share = p.Window / 2
	}
	share = min(share, b.most, b.usable-prompts.MinPromptTokens)
	if share < minOutput {
		return budget{}, errWindow
	}
	answer := min(answerTokens(maxTokens), share-min(think, share/2, share-minOutput))
	b.think = min(think, share-answer)
	b.output = answer + b.think
	b.answer = min(maxTokens, answer/3*2+answer%3*2/3)
	b.prompt = b.usable - b.output
	return b, nil
}

// outputFor is the most that the model may write for an answer of that budget.
func (b *budget) outputFor(maxTokens uint32) uint32 {
	return uint32(min(uint64(answerTokens(maxTokens))+uint64(b.think), uint64(b.output)))
}

// answerTokens are the tokens of the model that an answer with that budget may take.
func answerTokens(maxTokens uint32) uint32 {
	return uint32(min((3*uint64(maxTokens)+1)/2, 1<<32-1))
}

// thinkingBudget is what a model may think before it writes. One that has an effort set thinks where none is sent too, as it
// does by itself.
func thinkingBudget(p *Profile, kind summarizers.Kind) uint32 {
	if p.Effort == "" {
		return 0
	}
	effort := effortFor(p, kind)
	if tokens, err := strconv.ParseUint(effort, 10, 32); err == nil {
		return uint32(tokens)
	}
	switch effort {
	case "none":
		return 0
	case "minimal":
		return 1 << 10
	case "low":
		return 4 << 10
	case "medium", "":
		return 8 << 10
	default:
		return 16 << 10
	}
}

// effort is what is sent. One that is a number is the provider's budget of thinking: it is lowered to what there is for it, or
// thinking would leave none for the answer.
func (b *budget) effort(p *Profile, kind summarizers.Kind) string {
	effort := effortFor(p, kind)
	if tokens, err := strconv.ParseUint(effort, 10, 32); err == nil && tokens > uint64(b.think) {
		return strconv.FormatUint(uint64(b.think), 10)
	}
	return effort
}

// effortFor is the profile's effort where it is sent: only the summary of the history is worth it.
func effortFor(p *Profile, kind summarizers.Kind) string {
	if kind != summarizers.History {
		return ""
	}
	return p.Effort
}
