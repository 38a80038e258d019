package transcripts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Prune is `compactord prune`.
type Prune struct {
	conversation.Source
	conversation.PresetFlags
	DryRun bool `help:"Only print what would be done."`
	terminal.Output
}

// Help is printed below the flags.
func (c *Prune) Help() string {
	return `Views replace old tool results by a placeholder; the log keeps them. A FILE is loaded into a temporary store. The JSON
document holds prune (the edits), skipped (why nothing was done), report, notes and messages (their number).`
}

// Run prunes.
func (c *Prune) Run(ctx context.Context, a *api.App) (err error) {
	p := a.Progress(c.Quiet)
	defer p.Clear()
	policy := c.Policy()
	conv, err := c.Open(ctx, a, policy, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conv.Close()) }()
	p.Stage("pruning", "", 0)
	answer, err := conv.Compactions.Prune(ctx, &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: conv.Session},
		Reason: compactordv1.CompactionReason_COMPACTION_REASON_MANUAL,
		Policy: policy,
		DryRun: c.DryRun,
	})
	if err != nil {
		return api.RefusedFlags(err)
	}
	session, err := conv.Sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: conv.Session})
	if err != nil {
		return err
	}
	p.Clear()
	switch {
	case c.JSON:
		err = printPruneJSON(a.Out, conv, answer, session.GetSession().GetNextIndex())
	case answer.GetPrune() != nil:
		c.print(a.Out, conv, answer.GetPrune())
	}
	if err == nil && answer.GetPrune() == nil {
		err = terminal.NothingError{Why: answer.GetMessage()}
	}
	return err
}

func (c *Prune) print(w io.Writer, conv *conversation.Conversation, entry *compactordv1.PruneEntry) {
	if c.DryRun {
		fmt.Fprintf(w, "This would be done to %s. Nothing was changed.\n\n", terminal.Printable(conv.Name()))
	} else {
		fmt.Fprintf(w, "Pruned %s.\n\n", terminal.Printable(conv.Name()))
	}
	printEdits(w, entry.GetEdits())
	terminal.Row(w, "Messages", "%s", indexesText(entry.GetEdits()))
	before, after := entry.GetTokensBefore(), entry.GetTokensAfter()
	terminal.Row(w, "Tokens", "%s before, %s after (%s less), of the view, estimated", terminal.Number(before), terminal.Number(after),
		terminal.Percent(before-min(before, after), before))
}

// indexesText lists the edited messages.
func indexesText(edits []*compactordv1.Edit) string {
	indexes := make([]uint32, len(edits))
	for i, e := range edits {
		indexes[i] = e.GetIndex()
	}
	slices.Sort(indexes)
	return conversation.MessageNumbers(slices.Compact(indexes))
}

// pruneJSON is the document of `prune --json`.
type pruneJSON struct {
	Prune    *terminal.APIJSON `json:"prune,omitempty"`
	Skipped  *skippedJSON      `json:"skipped,omitempty"`
	Report   *terminal.APIJSON `json:"report,omitempty"`
	Notes    []string          `json:"notes"`
	Messages uint32            `json:"messages"`
}

func printPruneJSON(w io.Writer, c *conversation.Conversation, answer *compactordv1.PruneResponse, messages uint32) error {
	doc := pruneJSON{
		Prune: terminal.Optional(answer.GetPrune()), Report: terminal.Optional(answer.GetReport()),
		Notes: append([]string{}, c.Notes()...), Messages: messages,
	}
	if answer.GetPrune() == nil {
		doc.Skipped = &skippedJSON{Reason: answer.GetSkipReason().String(), Message: answer.GetMessage()}
	}
	return terminal.PrintJSON(w, doc)
}
