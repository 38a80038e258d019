package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// pruneCommand is `compactord prune`.
type pruneCommand struct {
	source
	presetFlags
	DryRun bool `help:"Only say what would be done."`
	output
}

// Help is printed below the flags.
func (c *pruneCommand) Help() string {
	return `Old tool results are replaced by a line that says so; the log keeps them. With FILE all happens in a temporary store.
The JSON document holds prune (the edits), skipped (why nothing was done), report, notes and messages (how many).`
}

// Run prunes.
func (c *pruneCommand) Run(ctx context.Context, a *app) (err error) {
	p := a.progress(c.Quiet)
	defer p.clear()
	policy := c.policy()
	conv, err := c.open(ctx, a, policy, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conv.close()) }()
	p.stage("pruning", "", 0)
	answer, err := conv.compactions.Prune(ctx, &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: conv.session},
		Reason: compactordv1.CompactionReason_COMPACTION_REASON_MANUAL,
		Policy: policy,
		DryRun: c.DryRun,
	})
	if err != nil {
		return refusedFlags(err)
	}
	session, err := conv.sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: conv.session})
	if err != nil {
		return err
	}
	p.clear()
	switch {
	case c.JSON:
		err = printPruneJSON(a.out, conv, answer, session.GetSession().GetNextIndex())
	case answer.GetPrune() != nil:
		c.print(a.out, conv, answer.GetPrune())
	}
	if err == nil && answer.GetPrune() == nil {
		err = nothingError{answer.GetMessage()}
	}
	return err
}

func (c *pruneCommand) print(w io.Writer, conv *conversation, entry *compactordv1.PruneEntry) {
	if c.DryRun {
		fmt.Fprintf(w, "This would be done to %s. Nothing was changed.\n\n", printable(conv.name()))
	} else {
		fmt.Fprintf(w, "Pruned %s.\n\n", printable(conv.name()))
	}
	printEdits(w, entry.GetEdits())
	row(w, "Messages", "%s", indexesText(entry.GetEdits()))
	before, after := entry.GetTokensBefore(), entry.GetTokensAfter()
	row(w, "Tokens", "%s before, %s after (%s less), estimated", number(before), number(after),
		percent(before-min(before, after), before))
}

// indexesText names the messages that were edited.
func indexesText(edits []*compactordv1.Edit) string {
	indexes := make([]uint32, len(edits))
	for i, e := range edits {
		indexes[i] = e.GetIndex()
	}
	slices.Sort(indexes)
	return hashed(slices.Compact(indexes))
}

// pruneJSON is the document of `prune --json`.
type pruneJSON struct {
	Prune    *apiJSON     `json:"prune,omitempty"`
	Skipped  *skippedJSON `json:"skipped,omitempty"`
	Report   *apiJSON     `json:"report,omitempty"`
	Notes    []string     `json:"notes"`
	Messages uint32       `json:"messages"`
}

func printPruneJSON(w io.Writer, c *conversation, answer *compactordv1.PruneResponse, messages uint32) error {
	doc := pruneJSON{
		Prune: optional(answer.GetPrune()), Report: optional(answer.GetReport()),
		Notes: append([]string{}, c.notes()...), Messages: messages,
	}
	if answer.GetPrune() == nil {
		doc.Skipped = &skippedJSON{Reason: answer.GetSkipReason().String(), Message: answer.GetMessage()}
	}
	return printJSON(w, doc)
}
