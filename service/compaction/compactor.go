// Package compaction compacts sessions. A compaction goes through four steps, each with a type of its own that holds what
// there is by then:
//
//	job      what is asked for, and of which incarnation of a session
//	planned  the snapshot of the log, the policy, and the plan that a strategy or the client has made of them
//	writing  the plan with the summary writer that has its texts written
//	written  the texts, ready to be committed on the log as it is by then
//
// Whoever asked hears of it by events. How a compaction ended that has started is in the log, also where it failed: as an
// entry or as an attempt.
package compaction

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/operations"
	"github.com/compactord/compactord/service/policies"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// attemptTimeout bounds the writing of a CompactionAttempt after its compaction was cut off.
const attemptTimeout = 5 * time.Second

// Config is what all Compactors of a daemon share.
type Config struct {
	Policies    *policies.Resolver
	Strategies  *strategies.Registry
	Summarizers *summarizers.Registry
	Summaries   *summaries.Config
	// Dialects are those of which a client may send a provider's own compaction item.
	Dialects   map[compactordv1.Dialect]dialect.Dialect
	Operations *operations.Running
	Metrics    *Metrics
	// Logger takes what operators need to know; never content of conversations.
	Logger *slog.Logger
	Hooks  Hooks
	// CheckRequest refuses a request that breaks the contract, as it is done with those that clients send.
	CheckRequest func(req proto.Message) error
	// MaxAnswerBytes is where an answer with prompts ends, after one prompt at the earliest.
	MaxAnswerBytes int
	// EventsAhead is how many events may wait for the stream of a detached compaction before it misses some.
	EventsAhead int
}

// Hooks are called at the stages of a compaction, so that tests can hold it there. Any but Now may be nil.
type Hooks struct {
	// BeforePlan is called when the snapshot is taken.
	BeforePlan func(ctx context.Context)
	// BeforeCommit is called when the texts have passed, before the state is read anew.
	BeforeCommit func(ctx context.Context)
	// Now tells the time.
	Now func() time.Time
}

// Compactor compacts the sessions of logs.
type Compactor struct {
	*Config

	logs *sessionlog.Logs
	// publish hands an event to those who watch an incarnation of a session. It must not wait.
	publish func(name sessionlog.Name, uid string, e *compactordv1.CompactionEvent)
}

// New returns a Compactor. publish takes the events of compactions that have started; nil where nobody watches.
func New(
	c *Config, logs *sessionlog.Logs, publish func(name sessionlog.Name, uid string, e *compactordv1.CompactionEvent),
) *Compactor {
	if publish == nil {
		publish = func(sessionlog.Name, string, *compactordv1.CompactionEvent) {}
	}
	return &Compactor{Config: c, logs: logs, publish: publish}
}

func (c *Compactor) beforeCommit(ctx context.Context) {
	if c.Hooks.BeforeCommit != nil {
		c.Hooks.BeforeCommit(ctx)
	}
}

// planBy has a strategy plan for a reason.
func (c *Compactor) planBy(
	ctx context.Context, in *strategies.Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	if in.Reason == compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW {
		return c.Strategies.PlanOverflow(ctx, in, parameters)
	}
	return c.Strategies.Plan(ctx, in, parameters)
}
