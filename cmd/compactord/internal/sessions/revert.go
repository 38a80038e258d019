package sessions

import (
	"context"
	"fmt"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Revert is `compactord revert`.
type Revert struct {
	onSession
	terminal.ConfirmFlags
	aim
	Turns     uint32 `help:"Go back before the last N turns." placeholder:"N"`
	Message   string `help:"Tell the model this, as a message from the future that is put aside." placeholder:"TEXT"`
	Summarize bool   `help:"Show the model a summary of what is put aside."`
	Focus     string `help:"With --summarize: what the summary must pay attention to." placeholder:"TEXT"`
	terminal.Diagnosis
}

// Help is printed below the flags.
func (c *Revert) Help() string {
	return `Name the point with --to-checkpoint, --to-point or --turns. Later messages and records are put aside: views no longer show
them, the log keeps them, and 'compactord undo' brings them back. Files and the outside world are not changed.

If this undoes a compaction or a prune and the context grows, the command first prints the context's size now and then.
On a terminal it also asks, unless --yes is given.`
}

// Run reverts.
func (c *Revert) Run(ctx context.Context, a *api.App) error {
	request := &compactordv1.RevertToCheckpointRequest{
		SessionId: c.Session, MessageFromFuture: c.Message, Summarize: c.Summarize, Focus: c.Focus,
	}
	if a.Given["message"] && c.Message == "" {
		return terminal.Usagef("--message: is blank")
	}
	named := 0
	if c.ToCheckpoint != nil {
		named++
		request.Target = &compactordv1.RevertToCheckpointRequest_CheckpointId{CheckpointId: *c.ToCheckpoint}
	}
	if c.ToPoint != nil {
		named++
		request.Target = &compactordv1.RevertToCheckpointRequest_Point{Point: *c.ToPoint}
	}
	if a.Given["turns"] {
		named++
		request.Target = &compactordv1.RevertToCheckpointRequest_Turns{Turns: c.Turns}
	}
	if named != 1 {
		return terminal.Usagef("give one of --to-checkpoint, --to-point and --turns")
	}
	return c.with(ctx, a, func(client *api.Client) error {
		return c.revert(ctx, a, client, request, c.Yes, "Reverted")
	})
}

// confirm reports a revert by which the context grows. On a terminal it asks whether to go on.
func (c *onSession) confirm(
	ctx context.Context, a *api.App, client *api.Client, request *compactordv1.RevertToCheckpointRequest, yes bool,
) error {
	grows, err := growthBy(ctx, &conversation.Conversation{Client: client, Session: c.Session}, request)
	if err != nil || grows == nil {
		return err
	}
	asks := a.Asks && !yes
	if asks || !c.Quiet {
		grows.print(a)
	}
	if !asks {
		return nil
	}
	return a.Confirm(ctx, "Go on?")
}

// revert sends the request and prints what it did.
func (c *onSession) revert(
	ctx context.Context, a *api.App, client *api.Client, request *compactordv1.RevertToCheckpointRequest, yes bool, done string,
) error {
	err := c.confirm(ctx, a, client, request, yes)
	if api.HasReason(err, "NOTHING_TO_REVERT") {
		return terminal.NothingError{Why: err.Error()}
	}
	if err != nil {
		return api.RefusedFlags(err)
	}
	before, err := c.compaction(ctx, client)
	if err != nil {
		return err
	}
	answer, err := client.Sessions.RevertToCheckpoint(ctx, request)
	if api.HasReason(err, "NOTHING_TO_REVERT") {
		return terminal.NothingError{Why: err.Error()}
	}
	if err != nil {
		return api.RefusedFlags(err)
	}
	if c.JSON {
		if err := terminal.PrintJSON(a.Out, terminal.WholeAnswer(answer)); err != nil {
			return err
		}
	}
	switch {
	case answer.GetRecord() == nil:
		return terminal.NothingError{Why: fmt.Sprintf("session %s is at point %d already", c.Session, answer.GetPoint())}
	case c.JSON:
		return nil
	}
	revert := answer.GetRecord().GetRevert()
	aside := ""
	if n := answer.GetMessagesPutAside(); n > 0 {
		aside = terminal.Count(n, "message") + " put aside, "
	}
	fmt.Fprintf(a.Out, "%s session %s to point %d: %s%s in the context now.\n", done, c.Session,
		revert.GetPoint(), aside, contextText(answer.GetReport()))
	if revert.FutureIndex != nil {
		fmt.Fprintf(a.Out, "The model is told by message #%d.\n", revert.GetFutureIndex())
	}
	if answer.FirstRequestPutAside != nil {
		reference := fmt.Sprintf("#%d", answer.GetFirstRequestPutAside())
		fmt.Fprintf(a.Out, "The first request put aside is %s: %s\n", reference, a.Hinted(terminal.Command("recall", reference)))
	}
	after, err := c.compaction(ctx, client)
	if err != nil {
		return err
	}
	if after != before {
		fmt.Fprintln(a.Out, compactionChange(before, after))
	}
	conversation.PrintBlocked(a, c.Session, answer.GetReport())
	fmt.Fprintf(a.Out, "To undo this: %s\n", a.Hinted(terminal.Command("undo")))
	return nil
}

// compaction returns the id of the compaction in effect; empty where there is none.
func (c *onSession) compaction(ctx context.Context, client *api.Client) (string, error) {
	answer, err := client.Sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: c.Session})
	return answer.GetSession().GetCompactionId(), api.RefusedFlags(err)
}

// compactionChange describes how a revert changed the compaction in effect, which people may not expect of it.
func compactionChange(before, after string) string {
	switch {
	case after == "":
		return "The compaction " + before + " is undone: nothing is summarized now."
	case before == "":
		return "The compaction " + after + " is in effect again."
	default:
		return "The compaction " + after + " is in effect again, instead of " + before + "."
	}
}

// Undo is `compactord undo`.
type Undo struct {
	onSession
	terminal.ConfirmFlags
}

// Help is printed below the flags.
func (c *Undo) Help() string {
	return `Undoes the newest compaction, prune, pin, revert or clear by a revert to the point before it. Messages that were appended
since are put aside. A second undo undoes the first. To go back before the last turns, see 'compactord revert --turns'.
If the context grows, the command reports it and on a terminal asks first, like 'compactord revert'.`
}

// Run undoes the last change.
func (c *Undo) Run(ctx context.Context, a *api.App) error {
	return c.with(ctx, a, func(client *api.Client) error {
		return c.revert(ctx, a, client, &compactordv1.RevertToCheckpointRequest{
			SessionId: c.Session, Target: &compactordv1.RevertToCheckpointRequest_Undo{Undo: true},
		}, c.Yes, "Undone: reverted")
	})
}

// Clear is `compactord clear`.
type Clear struct {
	onSession
}

// Help is printed below the flags.
func (c *Clear) Help() string {
	return `Puts aside all messages but the leading system and developer messages. The log keeps them, and 'compactord undo' brings
them back.`
}

// Run clears a session.
func (c *Clear) Run(ctx context.Context, a *api.App) error {
	return c.with(ctx, a, func(client *api.Client) error {
		answer, err := client.Sessions.ClearSession(ctx, &compactordv1.ClearSessionRequest{SessionId: c.Session})
		if err != nil {
			return api.RefusedFlags(err)
		}
		if c.JSON {
			if err := terminal.PrintJSON(a.Out, terminal.WholeAnswer(answer)); err != nil {
				return err
			}
		}
		switch {
		case answer.GetRecord() == nil:
			return terminal.NothingError{Why: "session " + c.Session + " is clear already"}
		case !c.JSON:
			fmt.Fprintf(a.Out, "Cleared session %s: %s put aside, %s in the context now.\n", c.Session,
				terminal.Count(answer.GetMessagesPutAside(), "message"), contextText(answer.GetReport()))
			conversation.PrintBlocked(a, c.Session, answer.GetReport())
			fmt.Fprintf(a.Out, "To undo this: %s\n", a.Hinted(terminal.Command("undo")))
		}
		return nil
	})
}
