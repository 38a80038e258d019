// Package llm lets a language model write summaries.
//
// A Provider sends one request to a model and streams the answer. A Summarizer sends it the prompts of package prompts.
// If the conversation does not fit into the model's window, it summarizes in several prompts. It keeps to the time
// limits, repeats requests after transient failures, checks the answers, and asks once more, with the reason, after a
// refused answer. It adds up what all requests cost.
package llm

import (
	"context"
	"time"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// Provider sends requests to a model. It is safe for concurrent use.
type Provider interface {
	// Dialect returns the dialect that Completion.View must be rendered in.
	Dialect() compactordv1.Dialect
	// Complete sends a request and passes the text of the answer to text as it arrives, without thinking. It does not
	// repeat a failed request, with one exception: it may send a request again in another form after the server refused
	// the first. When the context ends, it closes the request and returns the context's cause. Any other failure is a
	// *summarizers.ProviderError. An Answer beside an error contains the usage, if the provider reported one.
	Complete(ctx context.Context, c *Completion, text func(delta string)) (*Answer, error)
}

// Completion is one request to a model. Its only tools are those of View.
type Completion struct {
	// System is the system prompt, and User the only user message. If View is set, User follows the messages of the
	// view, and System is empty.
	System, User string
	View         *summarizers.View
	// MaxOutputTokens is the most that the model may write, thinking included.
	MaxOutputTokens uint32
	// Effort is the thinking effort: the provider's word for it, or a number of tokens. If it is empty, the model
	// decides.
	Effort string
}

// Answer is what a model wrote.
type Answer struct {
	// Text is all text of the answer, without thinking.
	Text string
	// Model is the provider's name for the model.
	Model string
	Usage *compactordv1.Usage
	// CutOff says that the output limit ended the answer, ToolCall that it contains a tool call, and Refused that the
	// model or its provider declined to answer.
	CutOff, ToolCall, Refused bool
}

// Profile is the configuration of a model.
type Profile struct {
	// Name is the summarizer's name in policies. Kind is the provider: openai, anthropic or gemini. Model is the
	// provider's name for the model.
	Name, Kind, Model string
	// Window is the model's context window, and MaxOutput the most that it writes, both in tokens. A Window of 0 means
	// 32,000. A MaxOutput of 0 means that only the window limits the output.
	Window, MaxOutput uint32
	// TokenFactor is multiplied with the count by o200k_base. The result must be at least the model's own count. 0 means
	// 1 for openai, 1.2 for gemini and 1.6 for anthropic. Models of other makers that are served with OpenAI's API need
	// more than 1.
	TokenFactor float64
	// Effort is sent with requests for the summary of the history, and not for the first part of a split turn or for
	// tool results. A number is a thinking budget in tokens. It is lowered to what the window and MaxOutput leave
	// beside the answer.
	Effort string
	// TryTimeout and TotalTimeout apply where a policy sets none. 0 means the daemon's defaults.
	TryTimeout, TotalTimeout time.Duration
	// Tries is how often one request is sent at most if it fails for a transient reason. 1 to 10; 0 means 4.
	Tries int
	// Concurrency is how many texts of one compaction are written at the same time at most. 1 to 32; 0 means 4.
	Concurrency int
	// Price is nil if it is not configured.
	Price *compactordv1.TokenPrice
}
