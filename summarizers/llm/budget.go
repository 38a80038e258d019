package llm

import (
	"errors"
	"strconv"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/prompts"
)

const (
	defaultWindow = 32_000
	// minMargin and marginPercent of the window stay free. What separates the messages is not counted, and only
	// OpenAI's own counts are exact.
	minMargin     = 64
	marginPercent = 1
	// minOutput is enough for the smallest budget of a summary, 64 tokens.
	minOutput = 96
)

// budget says how a model's window is divided for one request: prompt + output + margin = window. All fields but answer
// are in tokens of the model.
type budget struct {
	// prompt is the most tokens of a prompt.
	prompt uint32
	// output is the most tokens that the model may write for the summary, and think the part of them that is for
	// thinking. most is what it may write after an answer was cut off, if the prompt leaves that much of the window.
	output, think, most uint32
	// answer is the budget of the summary in tokens of the session: that of the request, or less if the model cannot
	// write as much.
	answer uint32
	// usable is the window without the margin.
	usable uint32
}

// errWindow says that a model cannot hold even the smallest prompt.
var errWindow = errors.New("the model's window is too small for a prompt")

// divide divides the window of a model for one request.
//
// The session's estimates may be lower than the model's own counts, so an answer may have half as many tokens again as
// its budget. A model with a thinking effort also needs tokens to think before it writes. Both together get at most a
// quarter of the window, or half of it if the model thinks. A summary that leaves less for the conversation would need
// more and more prompts. If this share or the model's output limit is too small for both, thinking gets up to half of
// it. The summary's budget is then lowered to what is left, so that the model is given a limit that it can keep.
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

// outputFor returns the most tokens that the model may write for an answer with this budget.
func (b *budget) outputFor(maxTokens uint32) uint32 {
	return uint32(min(uint64(answerTokens(maxTokens))+uint64(b.think), uint64(b.output)))
}

// answerTokens returns how many tokens of the model an answer with this budget may have.
func answerTokens(maxTokens uint32) uint32 {
	return uint32(min((3*uint64(maxTokens)+1)/2, 1<<32-1))
}

// thinkingBudget returns how many tokens a model may use for thinking before it writes. A model with an effort in its
// profile also thinks in requests that send none, since that is then the model's own choice.
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

// effort returns the effort to send. A number is the provider's thinking budget; it is lowered to the tokens that exist
// for thinking, since thinking would otherwise leave none for the answer.
func (b *budget) effort(p *Profile, kind summarizers.Kind) string {
	effort := effortFor(p, kind)
	if tokens, err := strconv.ParseUint(effort, 10, 32); err == nil && tokens > uint64(b.think) {
		return strconv.FormatUint(uint64(b.think), 10)
	}
	return effort
}

// effortFor returns the profile's effort for summaries of the history, and none for other texts, which are not worth
// it.
func effortFor(p *Profile, kind summarizers.Kind) string {
	if kind != summarizers.History {
		return ""
	}
	return p.Effort
}
