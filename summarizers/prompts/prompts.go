// Package prompts makes the prompts that ask a model for a summary. They contain instructions, and the conversation as
// text that a model does not mistake for its own.
//
// A prompt is a system prompt and one user message. The user message has these parts, in this order: the conversation
// in <conversation> tags, with the agent's rules in <standing-rules> at its head; the previous summary, if there is
// one, in <previous-summary> tags; further context, each piece in <extra-context> tags; the instructions in
// <instructions> tags; the caller's focus. Text of the conversation cannot close its tags, and cannot look like the
// instructions or the header of a message, since similar text gets a backslash. Every text is redacted before it is
// cut.
//
// A conversation that does not fit into the model's window is summarized in several prompts, which is called a fold.
// Each prompt contains the next messages, and the answer to the prompt before as the previous summary. See Fold.
//
// The wording is in texts, a file for each piece.
package prompts

import (
	"errors"
	"strings"

	"github.com/compactord/compactord/summarizers"
)

// Version is the version of the texts in this package. Every change of a text for models raises it.
const Version = 4

// Prompt is one request to a model.
type Prompt struct {
	// System is the system prompt. It is empty for a request on the agent's own prompt.
	System string
	// Text is the user message. If GoesOn is set, the user message is BeforeAnswer, the answer to the prompt before,
	// and Text, joined without separators.
	Text         string
	BeforeAnswer string
	GoesOn       bool
	// Final says that the answer is the summary, and not only the input of the next prompt.
	Final bool
	// MaxTokens is the budget of the answer, measured by Request.Count.
	MaxTokens uint32
	// Tokens is the size of the prompt without the answer that it contains, measured by Limits.Count.
	Tokens uint32
	// Read is how many stored tokens of the request's messages this prompt and those before it contain.
	Read uint32

	// reserve is the space kept for the answer that the prompt contains, measured by count.
	reserve uint32
	count   func(string) uint32
}

// User returns the user message with the answer to the prompt before. The answer is shown as a previous summary: it is
// escaped, and cut, with a mark, if it is too long.
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

// ofSummary names the summary in the mark of a cut.
const ofSummary = " of the summary"

// carried returns a summary as the next prompt shows it. The summary may be an imported one, so a thinking tag that is
// never closed counts as text.
func carried(summary string) string {
	summary = summarizers.WithoutFileTags(WithoutInstructions(summarizers.WithoutClosedThinking(summary)))
	return strings.TrimSpace(escape(summary, true))
}

// Limits are the limits of the model.
type Limits struct {
	// PromptTokens is the most tokens of a prompt, with the answer that it contains. At least MinPromptTokens.
	PromptTokens uint32
	// Count counts tokens. Its result must be the model's own count or more.
	Count func(text string) uint32
}

// MinPromptTokens is the lowest value of Limits.PromptTokens.
const MinPromptTokens = 2000

// ErrTooLarge says that the instructions with the focus and the further context do not fit the limits.
var ErrTooLarge = errors.New("the instructions do not fit the model's window")

// Closing returns the instruction that follows the agent's own prompt (Request.View), for a request of kind History. If
// the view begins with a summary, the new summary includes it.
func Closing(req *summarizers.Request) *Prompt {
	redact := redactor(req)
	pieces := make([]string, len(req.ExtraContext))
	for i, piece := range req.ExtraContext {
		pieces[i] = redact(piece)
	}
	text := contexts(pieces) + instructions(req, situation{closing: true, budget: req.ModelBudget()}) + focusOf(redact(req.Focus))
	var read uint64
	for _, l := range req.Messages {
		read += uint64(l.GetTokens())
	}
	return &Prompt{Text: text, Final: true, MaxTokens: req.ModelBudget(), Tokens: req.Count(text), Read: saturate(read)}
}

// WithRefusal returns a user message for a second try after an answer was refused. reason says why in a sentence that
// contains nothing of the conversation (summarizers.CheckError.Detail).
func WithRefusal(user, reason string) string { return user + "\n\n" + refusal(escape(reason, true)) }

func saturate(tokens uint64) uint32 { return uint32(min(tokens, 1<<32-1)) }
