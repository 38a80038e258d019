package prompts

import (
	"context"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

const (
	// maxHalvings is how often one prompt may be halved.
	maxHalvings = 3
	// minBudget is the fewest tokens that an answer needs, and the conversation in a prompt.
	minBudget = 64
)

// Folding produces the prompts of a request, one after the other. It never holds more than one of them.
type Folding struct {
	req    *summarizers.Request
	limits Limits
	writer *messageWriter
	frame  *frame
	// next is the index of the first message that has not been converted to text. queue holds messages that have, but
	// are in no prompt yet.
	next  int
	queue []block
	// ceiling limits the tokens of the conversation in one prompt, after a prompt was halved.
	ceiling uint32
	// last is the prompt that waits for its answer, taken are the messages in it, and used is their size in tokens.
	last   *Prompt
	taken  []block
	used   uint32
	halved int
	// read is how many stored tokens the answered prompts contained, and answered is the number of these prompts.
	read     uint64
	answered int
	done     bool
}

// block is a message as text.
type block struct {
	message  *compactordv1.LoggedMessage
	passages []passage
	text     string
	// tokens is the size of the text.
	tokens uint32
}

// Fold returns the prompts of a request: one if it fits the limits, otherwise several. It cuts a message that is too
// long for any prompt, and puts a mark in it. It also cuts a focus, further context or a previous summary that would
// leave no space for messages. A request of kind Observation always has one prompt. The error may be ErrTooLarge.
func Fold(req *summarizers.Request, limits Limits) (*Folding, error) {
	f := &Folding{req: req, limits: limits, writer: newMessageWriter(req), ceiling: limits.PromptTokens}
	var err error
	f.frame, err = newFrame(req, f.writer, limits)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Next returns the next prompt, or nil after the final one. A call of Next says that the prompt before was answered.
// After the context has ended, it returns the context's cause.
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
		// Two texts that are joined can count more tokens than both alone.
		excess := held - uint64(f.limits.PromptTokens)
		f.putBack()
		if uint64(f.used) < excess+minBudget {
			return nil, ErrTooLarge
		}
		budget = f.used - uint32(excess)
	}
}

// accept notes that the last prompt was answered.
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

// take adds as many of the next messages as fit, but at least one, which it cuts if necessary.
func (f *Folding) take(ctx context.Context, budget uint32) (string, error) {
	var text strings.Builder
	f.used = 0
	for {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		b, ok, err := f.front()
		if !ok || err != nil {
			return text.String(), err
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

// front returns the next message as text. It returns false after the last one.
func (f *Folding) front() (block, bool, error) {
	if len(f.queue) == 0 {
		if f.next == len(f.req.Messages) {
			return block{}, false, nil
		}
		l := f.req.Messages[f.next]
		whole, err := f.req.Read(l)
		if err != nil {
			return block{}, false, err
		}
		f.next++
		b := block{message: l, passages: f.writer.passages(whole)}
		if whole != l {
			for i := range b.passages {
				// A piece of a large text would keep all of it in memory.
				b.passages[i].body = strings.Clone(b.passages[i].body)
			}
		}
		if b.text = written(b.passages); b.text != "" {
			b.tokens = f.limits.Count(b.text)
		}
		f.queue = append(f.queue, b)
	}
	return f.queue[0], true, nil
}

// putBack returns the messages of the last prompt to the queue.
func (f *Folding) putBack() {
	f.queue = append(f.taken, f.queue...)
	f.last, f.taken = nil, nil
}

// prompt returns the prompt for this part of the conversation.
func (f *Folding) prompt(conversation string) *Prompt {
	final := len(f.queue) == 0 && f.next == len(f.req.Messages)
	p := f.frame.prompt(conversation, f.answered > 0, !final)
	p.Final = final
	p.Read = saturate(f.readWith(f.taken))
	return p
}

// Halve halves the conversation in the last prompt, after the model said that it was too long. Next then returns the
// first half, and later prompts contain no more than that. It returns false if there is too little to halve, or after
// three times for one prompt.
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
