// Package prompts says what a model is asked when it is to write a summary: the instructions, and the conversation
// written down as text that cannot be taken for one to go on with.
//
// A prompt is a system prompt and one user message. The user message holds, in this order: the conversation in
// <conversation> tags, the previous summary in <previous-summary> tags where there is one, further context, the
// instructions, and what the caller wants attended to. Nothing within the conversation can close its tags or pass for the
// instructions: what looks like a tag of ours is escaped.
//
// A conversation that does not fit a model's window is folded: each prompt takes in the next messages, and the answer to
// the prompt before as its previous summary. See Fold.
package prompts

import (
	"context"
	"errors"

	"github.com/compactord/compactord/summarizers"
)

// Version is that of the texts of this package. It is raised with every change of a text that a model is sent.
const Version = 1

// Prompt is one request to a model.
type Prompt struct {
	// System is the system prompt; empty on the agent's own prompt.
	System string
	// Text is the user message. Where GoesOn is set, it is BeforeAnswer, the answer to the prompt before, and Text, joined
	// as they stand.
	Text         string
	BeforeAnswer string
	GoesOn       bool
	// Final says that the answer is the summary, and not only what the next prompt goes on from.
	Final bool
	// MaxTokens is the budget of the answer, as Request.Count counts.
	MaxTokens uint32
	// Tokens is what the prompt holds without the answer that it goes on from, as Limits.Count counts.
	Tokens uint32
	// Read is how many stored tokens of the request's messages have been taken in with this prompt.
	Read uint32
}

// User is the user message after the answer to the prompt before.
func (p *Prompt) User(answer string) string {
	if !p.GoesOn {
		return p.Text
	}
	return p.BeforeAnswer + answer + p.Text
}

// Limits are those of the model that is asked.
type Limits struct {
	// PromptTokens is the most that a prompt may hold, with the answer that it goes on from. At least MinPromptTokens.
	PromptTokens uint32
	// Count counts tokens as the model does, or more.
	Count func(text string) uint32
}

// MinPromptTokens is the least that Limits.PromptTokens can be.
const MinPromptTokens = 2000

// ErrTooLarge says that the instructions alone, with the focus and the further context, do not fit the limits.
var ErrTooLarge = errors.New("the instructions do not fit the model's window")

// Folding is a request as prompts, one after the other. It holds no more than one of them at a time.
type Folding struct{}

// Fold returns the request's prompts: one where it fits the limits, else as many as it takes. A message that no prompt
// holds is cut, with a mark in it. A request of kind Observation is always one prompt.
func Fold(req *summarizers.Request, limits Limits) (*Folding, error) {
	_, _ = req, limits
	return nil, errors.New("not built")
}

// Next returns the next prompt, or nil after the final one. It returns the context's cause once that has ended.
func (f *Folding) Next(ctx context.Context) (*Prompt, error) {
	_ = ctx
	return nil, errors.New("not built")
}

// Halve makes what the last prompt took in of the conversation two prompts' worth, since the model said it was too long:
// Next returns the first half of it. It says false where there is nothing left to halve, or after three times for one
// prompt.
func (f *Folding) Halve() bool { return false }

// Closing is the one instruction that follows the agent's own prompt (Request.View), for a request of kind History.
func Closing(req *summarizers.Request) *Prompt {
	_ = req
	return nil
}

// WithFault is a user message to be sent again since the answer to it was refused: it names the fault, a sentence that
// holds nothing of the conversation (summarizers.CheckError.Detail).
func WithFault(user, fault string) string {
	return user + "\n\nYour last answer was refused: " + fault + " Write the whole text again, without that fault."
}

// WithoutInstructions returns an answer without what a model copied of the instructions, and without tags or fences around
// the whole of it. It leaves thinking as it is.
func WithoutInstructions(text string) string { return text }
