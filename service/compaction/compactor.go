// Package compaction compacts sessions. A compaction goes through four steps, and each has a type that holds what is
// known then:
//
//	job      the request, and the incarnation of the session that it is for
//	planned  the snapshot of the log, the policy, and the plan that a strategy or the client has made
//	writing  the plan with the summary writer for its texts
//	written  the texts, ready to be committed to the log as it is then
//
// Events report the progress to the client. Where a compaction has started, the log records how it ended: as an entry,
// or as an attempt where nothing was committed.
package compaction

import (
	"context"
	"log/slog"
	"time"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/admission"
	"github.com/compactord/compactord/service/operations"
	"github.com/compactord/compactord/service/policies"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// decodeRequest decodes the bytes of a request and checks it.
type decodeRequest func(ctx context.Context, wire []byte, req *compactordv1.CompactRequest) error

// attemptTimeout bounds how long it may take to record the attempt of a compaction that was cancelled or failed.
const attemptTimeout = 5 * time.Second

// Config is what all Compactors of a daemon share.
type Config struct {
	Policies    *policies.Resolver
	Strategies  *strategies.Registry
	Summarizers *summarizers.Registry
	Summaries   *summaries.Config
	// Dialects are those in which a client may send a provider's own compaction item.
	Dialects   map[compactordv1.Dialect]dialect.Dialect
	Operations *operations.Running
	// Pool bounds how many compactions work at a time.
	Pool    *admission.Pool
	Metrics *Metrics
	// Logger receives what operators need to know, never content of conversations.
	Logger *slog.Logger
	Hooks  Hooks
	// DecodeRequest decodes a request and refuses one that breaks the contract, like those that clients send.
	DecodeRequest decodeRequest
	// MaxAnswerBytes limits the prompts in one answer. An answer holds at least one prompt, whatever its size.
	MaxAnswerBytes int
	// EventsAhead is how many events may wait for the client of a detached compaction. It misses further ones.
	EventsAhead int
}

// Hooks are called during a compaction, so that tests can hold it there. All but Now may be nil.
type Hooks struct {
	// BeforePlan is called after the snapshot is read.
	BeforePlan func(ctx context.Context)
	// BeforeCommit is called after the texts have passed the checks, before the state is read again.
	BeforeCommit func(ctx context.Context)
	// Now returns the time.
	Now func() time.Time
}

// Compactor compacts the sessions of a sessionlog.Logs.
type Compactor struct {
	*Config

	logs *sessionlog.Logs
	// publish sends an event to the watchers of an incarnation of a session. It must not wait.
	publish func(name sessionlog.Name, uid string, e *compactordv1.CompactionEvent)
	left    left
}

// New returns a Compactor. publish is called with the events of compactions that have started; nil where there are no
// watchers.
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

// planBy asks a strategy for a plan.
func (c *Compactor) planBy(
	ctx context.Context, in *strategies.Input, parameters *compactordv1.Strategy,
) (*compactordv1.CompactionPlan, error) {
	if in.Reason == compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW {
		return c.Strategies.PlanOverflow(ctx, in, parameters)
	}
	return c.Strategies.Plan(ctx, in, parameters)
}
