package main

import (
	"context"
	"errors"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// compactCommand is `compactord compact`.
type compactCommand struct {
	source
	policyFlags
	Focus  string `help:"What the summary is to attend to." placeholder:"TEXT"`
	DryRun bool   `help:"Only say what would be done."`
	View   bool   `help:"Also print what the model sees afterwards."`
	output
}

// output is how a command answers.
type output struct {
	JSON  bool `help:"Print one JSON document." name:"json"`
	Quiet bool `help:"Print no progress and no notes on stderr." short:"q"`
}

// Help is printed below the flags.
func (c *compactCommand) Help() string {
	return `The older part of the conversation is replaced by a summary, and the newest messages stay word for word. With FILE
all happens in a temporary store. The JSON document holds entry (the compaction), prune (edits made with it), cut
(the message that is kept first, and the one that starts a split turn, with their source_position), report,
skipped (why nothing was done), plan (with --dry-run), notes, messages (how many) and view (with --view).`
}

// Run compacts.
func (c *compactCommand) Run(ctx context.Context, a *app) (err error) {
	p := a.progress(c.Quiet)
	defer p.clear()
	policy := c.policy()
	conv, err := c.open(ctx, a, policy, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conv.close()) }()
	done, err := conv.compact(ctx, &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: conv.session},
		Reason: compactordv1.CompactionReason_COMPACTION_REASON_MANUAL,
		Focus:  c.Focus,
		Policy: policy,
		DryRun: c.DryRun,
	}, p)
	if err != nil {
		return whenInterrupted(err, conv.afterInterrupt())
	}
	result, err := conv.describe(ctx, done)
	if err != nil {
		return err
	}
	if c.View {
		if result.view, err = conv.view(ctx); err != nil {
			return err
		}
	}
	p.clear()
	if c.JSON {
		err = result.printJSON(a.out)
	} else {
		result.print(a.out)
	}
	if err == nil && done.skipped != nil {
		err = nothingError{done.skipped.GetMessage()}
	}
	return err
}
