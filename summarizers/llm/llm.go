// Package llm has summaries written by a language model.
//
// A Provider sends one request to a model and streams the answer. A Summarizer asks it with the prompts of package
// prompts: it folds what does not fit the model's window, keeps to the time limits, repeats what failed for a reason that
// passes, checks what was written and has it written once more with the fault named, and adds up what it took.
package llm

import (
	"context"
	"time"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// Provider speaks to a model. It is safe for concurrent use.
type Provider interface {
	// Dialect is the shape in which Completion.View is drawn for it.
	Dialect() compactordv1.Dialect
	// Complete sends one request, once, but for what a server refuses as it stands and takes in other words, and hands on the text of the answer as it comes; thinking is no text. It returns the
	// context's cause once that has ended, and has closed the request by then. Any other failure is a
	// *summarizers.ProviderError. An Answer beside an error has the usage, where the provider told one.
	Complete(ctx context.Context, c *Completion, text func(delta string)) (*Answer, error)
}

// Completion is one request to a model. It has no tools but those of View.
type Completion struct {
	// System is the system prompt, and User the one user message. With View, User follows the messages of the view, and
	// System is empty.
	System, User string
	View         *summarizers.View
	// MaxOutputTokens is the most that the model may write, thinking included.
	MaxOutputTokens uint32
	// Effort is how hard it is to think, in the provider's word or as a number of tokens; empty: as it does by itself.
	Effort string
}

// Answer is what a model wrote.
type Answer struct {
	// Text is all text of the answer, without thinking.
	Text string
	// Model is the model as the provider names it.
	Model string
	Usage *compactordv1.Usage
	// CutOff says that the output limit ended the answer, ToolCall that it holds a tool call, Refused that the model or its
	// provider declined to answer.
	CutOff, ToolCall, Refused bool
}

// Profile is a model as the configuration names it.
type Profile struct {
	// Name is what policies call it, Kind the provider's: openai, anthropic or gemini.
	Name, Kind, Model string
	// Window is the model's context window, and MaxOutput the most that it writes, both in tokens. A Window of 0 is taken
	// for 32,000, and a MaxOutput of 0 for as much as the window has room for.
	Window, MaxOutput uint32
	// TokenFactor is what the tokens of a text by o200k_base are multiplied by to be those of the model, or more; 0: 1 for
	// openai, 1.2 for gemini, 1.6 for anthropic. Models of other makers behind OpenAI's API want more than 1.
	TokenFactor float64
	// Effort is sent where the history is summarized, and not for the first part of a split turn or for tool results. A
	// number, a budget of thinking in tokens, is lowered to what the window and MaxOutput leave of it beside the answer.
	Effort string
	// TryTimeout and TotalTimeout are what holds where a policy sets none; 0: the daemon's defaults.
	TryTimeout, TotalTimeout time.Duration
	// Tries is how often one request is sent at the most where it fails for a reason that passes. 1 to 10; 0: 4.
	Tries int
	// Concurrency is how many texts of one compaction it writes at a time, at the most. 1 to 32; 0: 4.
	Concurrency int
	// Price is nil where it is not configured.
	Price *compactordv1.TokenPrice
}
