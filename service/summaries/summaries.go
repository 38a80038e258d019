// Package summaries has the texts of one operation on a session written: summaries of what leaves the view, shorter tool
// results, and what stands in place of messages that are folded. Compactions use it, and reverts that leave a summary
// of what they put aside:
//
//	w, err := summaries.NewWriter(ctx, config, &summaries.Operation{ID: id, State: state, Policy: policy})
//	results, err := w.WriteEdits(ctx, edits)
//	summary, err := w.Write(ctx, &summaries.Task{History: messages, MaxTokens: 4000, Replaces: 60_000})
//	w.Finish()
//
// The Writer is the summary writer. It asks a summarizer for each text: a model, `extractive`, or the texts that the
// client's own model has already written. It replaces secrets in what summarizers are sent and in what they write,
// keeps the time limits, refuses texts that do not pass the checks, and falls back on `extractive` where the policy
// wants that. It stores nothing; the caller does.
package summaries

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/allowance"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// Fallback is the name of the summarizer that writes where another one failed.
const Fallback = "extractive"

// Config is what the Writers of all operations share.
type Config struct {
	// Summarizers are those that policies can name. One must be Fallback.
	Summarizers *summarizers.Registry
	// Dialects are those in which the agent's own prompt can be rendered.
	Dialects map[compactordv1.Dialect]dialect.Dialect
	// Logger receives what operators need to know, never content of conversations.
	Logger  *slog.Logger
	Metrics *Metrics
	// Allowances say who may use which summarizer, and how much of it. Nil: everybody, as much as they want.
	Allowances *allowance.Allowances
	// Away calls wait, which waits for a model and does little itself.
	Away func(ctx context.Context, wait func())
}

// Operation describes the operation that a Writer works for.
type Operation struct {
	// ID is the operation's id in the log.
	ID string
	// SessionUID makes the replacement of a secret the same in all texts of a session.
	SessionUID string
	// State is the session's state when the texts were planned.
	State  *session.State
	Policy *compactordv1.Policy
	// Focus is what the texts should pay attention to; may be empty.
	Focus string
	// Client holds the client's own texts, in place of the policy's summarizer; nil where the daemon has the texts
	// written.
	Client summarizers.Summarizer
	// Spent is what the client has already spent.
	Spent Spent
	// NoFallback turns off the fallback, whatever the policy says.
	NoFallback bool
	// ToRead is the input of all texts, in stored tokens.
	ToRead uint32
	// Listener receives the progress; nil where nobody listens.
	Listener Listener
	// StreamsFold says that the text of a fold is the only one, and that the listener is sent its pieces.
	StreamsFold bool
}

// Listener receives the progress of an operation's texts. Its methods are called one at a time, and may block until the
// context ends.
type Listener interface {
	// Read reports how much of the input was read, in stored tokens. It never falls.
	Read(ctx context.Context, read, total uint32)
	// Delta reports a piece of the summary, or of a fold's text. Pieces of a higher attempt replace those of all lower ones.
	Delta(ctx context.Context, attempt uint32, text string)
	// Checked reports that the summary is written and has passed the checks.
	Checked(ctx context.Context)
}

// Written is a text with its writer.
type Written struct {
	Text string
	// Sections are those that a summary was asked to have. One of several parts has those of its first part.
	Sections []*compactordv1.Section
	// Summarizer is the summarizer that wrote it, and Model its model; empty where it has none.
	Summarizer, Model string
	// Fallback is set where the fallback wrote it, and FallbackCause says why.
	Fallback      compactordv1.SummaryFallback
	FallbackCause string
	// PromptVersion is the version of the prompts for the model; 0 where there were none.
	PromptVersion uint32
	// CachedPrefix says that its prompt followed the agent's own one.
	CachedPrefix bool
	// UnsupportedNames is how many names in a model's text are not in the conversation.
	UnsupportedNames uint32

	spent Spent
}

// Spent is the cost of texts, including refused ones.
type Spent struct {
	Usage *compactordv1.Usage
	// CostUSD is nil where no price is known.
	CostUSD *float64
	// Calls is the number of requests to models.
	Calls uint32
}

func (s *Spent) add(other Spent) {
	s.Calls += other.Calls
	s.Usage = session.AddUsage(s.Usage, other.Usage)
	if other.CostUSD != nil {
		total := *other.CostUSD
		if s.CostUSD != nil {
			total += *s.CostUSD
		}
		s.CostUSD = &total
	}
}

// NoGainError says that no summary is smaller than what it would replace.
type NoGainError struct {
	// Replaces is the size of what it would replace, in tokens of the model.
	Replaces uint32
}

func (e *NoGainError) Error() string {
	return fmt.Sprintf("no summary is smaller than the %d tokens that it would replace", e.Replaces)
}
