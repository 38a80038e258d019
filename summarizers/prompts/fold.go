package prompts

import (
	"context"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

const (
	// maxHalvings is how often one prompt is halved.
	maxHalvings = 3
	// minBudget is the least that there must be for an answer, and for the conversation in a prompt.
	minBudget = 64
)

// Folding is a request as prompts, one after the other. It holds no more than one of them at a time.
type Folding struct {
	req    *summarizers.Request
	limits Limits
	scribe *scribe
	frame  *frame
	// next is the first message that was not written down yet. queue are those that were, but no prompt has taken in.
	next  int
	queue []block
	// ceiling is the most that a prompt takes in of the conversation, once one was halved.
	ceiling uint32
	// last is the prompt that waits for its answer, taken what it took in, and used what that counts.
	last   *Prompt
	taken  []block
	used   uint32
	halved int
	// read counts the stored tokens that answered prompts took in, and answered those prompts.
	read     uint64
	answered int
	done     bool
}

// block is a message that was written down.
type block struct {
	message  *compactordv1.LoggedMessage
	passages []passage
	text     string
	// tokens is what the text counts.
	tokens uint32
}

// Fold returns the request's prompts: one where it fits the limits, else as many as it takes. A message that no prompt
// holds is cut, with a mark in it, and so are a focus, further context and a previous summary that leave no room for
// messages. A request of kind Observation is always one prompt. It returns ErrTooLarge.
func Fold(req *summarizers.Request, limits Limits) (*Folding, error) {
	f := &Folding{req: req, limits: limits, scribe: newScribe(req), ceiling: limits.PromptTokens}
	var err error
	f.frame, err = newFrame(req, f.scribe, limits)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Next returns the next prompt, or nil after the final one. It returns the context's cause once that has ended.
func (f *Folding) Next(ctx context.Context) (*Prompt, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f.accept()
	if f.done {
		return nil, nil
	}
	budget := min(f.frame.conversationBudget(f.answered > 0), f.ceiling)
	for {
		conversation, err := f.take(ctx, budget)
		if err != nil {
			return nil, err
		}
		p := f.prompt(conversation)
		held := uint64(p.Tokens) + uint64(p.reserve)
		if held <= uint64(f.limits.PromptTokens) {
			f.last = p
			return p, nil
		}
		// What stands between two texts can count more than both.
		excess := held - uint64(f.limits.PromptTokens)
		f.putBack()
		if uint64(f.used) < excess+minBudget {
			return nil, ErrTooLarge
		}
		budget = f.used - uint32(excess)
	}
}

// accept takes it that the last prompt was answered.
func (f *Folding) accept() {
	if f.last == nil {
		return
	}
	f.read = f.readWith(f.taken)
	f.answered++
	f.done = f.last.Final
	f.last, f.taken, f.halved = nil, nil, 0
}

func (f *Folding) readWith(taken []block) uint64 {
	read := f.read
	for _, b := range taken {
		read += uint64(b.message.GetTokens())
	}
	return read
}

// take takes in as many of the next messages as there is room for, one at least.
func (f *Folding) take(ctx context.Context, budget uint32) (string, error) {
	var text strings.Builder
	f.used = 0
	for {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		b, ok := f.front()
		if !ok {
			return text.String(), nil
		}
		shown, tokens := b.text, b.tokens
		if uint64(f.used)+uint64(tokens) > uint64(budget) {
			if f.used > 0 {
				return text.String(), nil
			}
			shown, ok = shorten(b.passages, budget, f.limits.Count)
			if !ok {
				return "", ErrTooLarge
			}
			tokens = budget
		}
		text.WriteString(shown)
		f.used += tokens
		f.taken = append(f.taken, b)
		f.queue = f.queue[1:]
	}
}

// front returns the next message as it is written down; false after the last.
func (f *Folding) front() (block, bool) {
	if len(f.queue) == 0 {
		if f.next == len(f.req.Messages) {
			return block{}, false
		}
		l := f.req.Messages[f.next]
		f.next++
		b := block{message: l, passages: f.scribe.passages(l)}
		if b.text = written(b.passages); b.text != "" {
			b.tokens = f.limits.Count(b.text)
		}
		f.queue = append(f.queue, b)
	}
	return f.queue[0], true
}

// putBack makes what the last prompt took in the next again.
func (f *Folding) putBack() {
	f.queue = append(f.taken, f.queue...)
	f.last, f.taken = nil, nil
}

// prompt is the one that shows that part of the conversation.
func (f *Folding) prompt(conversation string) *Prompt {
	final := len(f.queue) == 0 && f.next == len(f.req.Messages)
	p := f.frame.prompt(conversation, f.answered > 0, !final)
	p.Final = final
	p.Read = saturate(f.readWith(f.taken))
	return p
}

// Halve makes what the last prompt took in of the conversation two prompts' worth, since the model said it was too long:
// Next returns the first half of it, and those after it take in no more than that. It says false where there is nothing
// left to halve, or after three times for one prompt.
func (f *Folding) Halve() bool {
	half := f.used / 2
	if f.last == nil || f.halved == maxHalvings || half < minBudget {
		return false
	}
	f.putBack()
	f.ceiling = half
	f.halved++
	return true
}
