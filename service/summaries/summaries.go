// Package summaries has the texts of one operation on a session written: the summary of what leaves the view, and tool
// results made shorter. Compactions use it, and reverts that leave a summary of what they put aside:
//
//	w, err := summaries.NewWriter(ctx, config, &summaries.Operation{ID: id, State: state, Policy: policy})
//	results, err := w.Shorten(ctx, edits)
//	summary, err := w.Write(ctx, &summaries.Task{History: messages, MaxTokens: 4000, Replaces: 60_000})
//	w.Finish()
//
// The Writer is the summary writer. Whom it asks for a text is a summarizer: a model, `extractive`, or the client, whose
// own model has written the texts already. The Writer replaces secrets in what summarizers are sent and in what they
// write, keeps to the time limits, refuses what does not pass the checks, and falls back on `extractive` where the policy
// wants that. It stores nothing: what becomes of the texts is up to who asked for them.
package summaries

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// Fallback is the name of the summarizer that writes what another one failed to write.
const Fallback = "extractive"

// Config is what the writers of all operations share.
type Config struct {
	// Summarizers are what policies can name. Fallback is to be one of them.
	Summarizers *summarizers.Registry
	// Dialects are those that the agent's own prompt can be drawn in.
	Dialects map[compactordv1.Dialect]dialect.Dialect
	// Logger takes what operators need to know; never content of conversations.
	Logger  *slog.Logger
	Metrics *Metrics
}

// Operation is what a Writer is made for.
type Operation struct {
	// ID is what the log names the operation by.
	ID string
	// SessionUID makes a secret look the same in all texts of a session.
	SessionUID string
	// State is the session as it was when the texts were planned.
	State  *session.State
	Policy *compactordv1.Policy
	// Focus is what the texts are to attend to; may be empty.
	Focus string
	// Client writes in place of the policy's summarizer, and has paid for it; nil where the daemon has the texts written.
	Client summarizers.Summarizer
	// Spent is what has been spent before.
	Spent Spent
	// NoFallback has a failure be an error, whatever the policy says.
	NoFallback bool
	// ToRead is how much there is to read for all texts, in stored tokens.
	ToRead uint32
	// Listener hears how the texts come along; nil where nobody listens.
	Listener Listener
}

// Listener hears how the texts of an operation come along. It is called for one thing at a time, and may block until the
// context ends.
type Listener interface {
	// Read says how much has been read of all that there is to read, in stored tokens. It never falls.
	Read(ctx context.Context, read, total uint32)
	// Delta is a piece of the summary as it is written. A higher attempt voids the pieces of all lower ones.
	Delta(ctx context.Context, attempt uint32, text string)
	// Checked says that the summary is written and has passed the checks.
	Checked(ctx context.Context)
}

// Written is a text, and who wrote it.
type Written struct {
	Text string
	// Sections are those that the text was written with, but for what it says of the first part of a turn.
	Sections []*compactordv1.Section
	// Summarizer is who wrote it, Model the model behind, where there is one.
	Summarizer, Model string
	// Fallback says that the summarizer is the fallback, and FallbackCause why.
	Fallback      compactordv1.SummaryFallback
	FallbackCause string
	// PromptVersion is that of the prompts that the model was asked with; 0 where there were none.
	PromptVersion uint32
	// CachedPrefix says that it was written on the agent's own prompt.
	CachedPrefix bool

	spent Spent
}

// Spent is what it took to have texts written, also those that were refused.
type Spent struct {
	Usage *compactordv1.Usage
	// CostUSD is nil where no price is known.
	CostUSD *float64
	// Calls are the requests that were made to models.
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
	// Replaces is the size of that, in tokens of the model.
	Replaces uint32
}

func (e *NoGainError) Error() string {
	return fmt.Sprintf("no summary is smaller than the %d tokens that it would replace", e.Replaces)
}
