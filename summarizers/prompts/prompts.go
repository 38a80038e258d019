// Package prompts says what a model is asked when it is to write a summary: the instructions, and the conversation
// written down as text that cannot be taken for one to go on with.
//
// A prompt is a system prompt and one user message. The user message holds, in this order: the conversation in
// <conversation> tags, at its head the agent's rules in <standing-rules>; the previous summary in <previous-summary> tags
// where there is one; further context, each piece in <extra-context> tags; the instructions in <instructions> tags; and
// what the caller wants attended to. Nothing within the conversation can close its tags or pass for the instructions or
// for the header of a message: what looks like one of ours gets a backslash. Every text is redacted before it is cut.
//
// A conversation that does not fit a model's window is folded: each prompt takes in the next messages, and the answer to
// the prompt before as its previous summary. See Fold.
//
// The wording is in texts, a file for each piece.
package prompts

import (
	"errors"
	"strings"

	"github.com/compactord/compactord/summarizers"
)

// Version is that of the texts of this package. It is raised with every change of a text that a model is sent.
const Version = 2

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

	// reserve is kept free for the answer that it goes on from, as count counts.
	reserve uint32
	count   func(string) uint32
}

// User is the user message after the answer to the prompt before. The answer stands in it as a previous summary does: it
// cannot close its tags, and is cut, with a mark, where it is larger than there is room for.
func (p *Prompt) User(answer string) string {
	if !p.GoesOn {
		return p.Text
	}
	answer = carried(answer)
	if p.count != nil {
		c := cutting{of: ofSummary}
		answer, _ = c.fit(answer, p.reserve, p.count)
	}
	return p.BeforeAnswer + answer + p.Text
}

// ofSummary names a summary in the mark of what was cut out of it.
const ofSummary = " of the summary"

// carried is a summary as the next prompt is shown it. It may be an imported one, in which a tag that nothing closes is
// only a word.
func carried(summary string) string {
	summary = summarizers.WithoutFileTags(WithoutInstructions(summarizers.WithoutClosedThinking(summary)))
	return strings.TrimSpace(escape(summary, true))
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

// Closing is the one instruction that follows the agent's own prompt (Request.View), for a request of kind History. A
// summary that the view begins with is taken in by it.
func Closing(req *summarizers.Request) *Prompt {
	redact := redactor(req)
	pieces := make([]string, len(req.ExtraContext))
	for i, piece := range req.ExtraContext {
		pieces[i] = redact(piece)
	}
	text := contexts(pieces) + instructions(req, situation{closing: true, budget: req.MaxTokens}) + focusOf(redact(req.Focus))
	var read uint64
	for _, l := range req.Messages {
		read += uint64(l.GetTokens())
	}
	return &Prompt{Text: text, Final: true, MaxTokens: req.MaxTokens, Tokens: req.Count(text), Read: saturate(read)}
}

// WithFault is a user message to be sent again since the answer to it was refused: it names the fault, a sentence that
// holds nothing of the conversation (summarizers.CheckError.Detail).
func WithFault(user, fault string) string { return user + "\n\n" + refused(escape(fault, true)) }

func saturate(tokens uint64) uint32 { return uint32(min(tokens, 1<<32-1)) }
