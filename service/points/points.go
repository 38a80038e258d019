// Package points goes back to earlier points of a log: by checkpoints, which give points a number, by reverts, which may
// leave a summary of what they put aside, and by clearing a session.
//
// A point names the end of a log as it was. Going back removes nothing: a Revert is a record, which puts messages and
// records behind its point aside.
package points

import (
	"context"
	"log/slog"

	"github.com/compactord/compactord/service/operations"
	"github.com/compactord/compactord/service/policies"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/summaries"
)

// Points makes checkpoints of sessions and takes sessions back.
type Points struct {
	Logs *sessionlog.Logs
	// Policies and Summaries are for a revert that leaves a summary, which is one of Operations.
	Policies   *policies.Resolver
	Summaries  *summaries.Config
	Operations *operations.Running
	// Logger takes what operators need to know; never content of conversations.
	Logger *slog.Logger
	// BeforeCommit is called when a summary of what is put aside has been written; it may be nil. Tests hold a revert there.
	BeforeCommit func(ctx context.Context)
}
