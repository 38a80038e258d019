// Package points goes back to earlier points of a log: it creates checkpoints, reverts, and clears sessions. A revert
// can leave a summary of what it puts aside.
//
// Going back deletes nothing. A Revert is a record, which puts the messages and records after its point aside.
package points

import (
	"context"
	"log/slog"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/admission"
	"github.com/compactord/compactord/service/operations"
	"github.com/compactord/compactord/service/policies"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/summaries"
)

// Points creates checkpoints and reverts sessions.
type Points struct {
	Logs *sessionlog.Logs
	// Policies and Summaries are for a revert with a summary, which is one of the Operations.
	Policies   *policies.Resolver
	Summaries  *summaries.Config
	Operations *operations.Running
	// BeginRevert shows a revert with a summary to the daemons that use the store too, until end is called.
	BeginRevert func(
		ctx context.Context, op *operations.Operation, req *compactordv1.RevertToCheckpointRequest, uid string,
	) (end func(), err error)
	// Pool bounds how many summaries are written at a time, together with those of compactions.
	Pool *admission.Pool
	// Logger receives what operators need to know, never content of conversations.
	Logger *slog.Logger
	// BeforeCommit is called after the summary of a revert is written, so that tests can hold the revert there. May be
	// nil.
	BeforeCommit func(ctx context.Context)
}
