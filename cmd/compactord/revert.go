package main

import (
	"context"
	"fmt"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// revertCommand is `compactord revert`.
type revertCommand struct {
	onSession
	confirmFlags
	aim
	Turns     uint32 `help:"Take back so many turns." placeholder:"N"`
	Message   string `help:"Tell the model this, as a message from the future that is put aside." placeholder:"TEXT"`
	Summarize bool   `help:"Leave the model a summary of what is put aside."`
	Focus     string `help:"With --summarize: what the summary is to attend to." placeholder:"TEXT"`
	diagnosis
}

// Help is printed below the flags.
func (c *revertCommand) Help() string {
	return `Say where to: --to-checkpoint, --to-point or --turns. What came later is put aside: views no longer show it, the log keeps
it, and 'compactord undo' brings it back. Files and the outside world stay as they are.

Where a compaction or a prune is undone by that and the context grows, it is said first what the context holds now and
then. On a terminal it is asked whether to go on, unless --yes is given; elsewhere it goes on.`
}

// Run reverts.
func (c *revertCommand) Run(ctx context.Context, a *app) error {
	request := &compactordv1.RevertToCheckpointRequest{
		SessionId: c.Session, MessageFromFuture: c.Message, Summarize: c.Summarize, Focus: c.Focus,
	}
	if a.given["message"] && c.Message == "" {
		return usagef("--message: is blank")
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
	if a.given["turns"] {
		named++
		request.Target = &compactordv1.RevertToCheckpointRequest_Turns{Turns: c.Turns}
	}
	if named != 1 {
		return usagef("say where to go back to by one of --to-checkpoint, --to-point and --turns")
	}
	return c.with(ctx, a, func(client *client) error {
		return c.revert(ctx, a, client, request, c.Yes, "Reverted")
	})
}

// agreed tells of a revert by which the context grows, and asks about it where a person can be asked.
func (c *onSession) agreed(
	ctx context.Context, a *app, client *client, request *compactordv1.RevertToCheckpointRequest, yes bool,
) error {
	grows, err := foresee(ctx, &conversation{client: client, session: c.Session}, request)
	if err != nil || grows == nil {
		return err
	}
	grows.tell(a)
	if yes || !a.asks {
		return nil
	}
	return a.confirm(ctx, "Go on?")
}

// revert sends the request and says what it did.
func (c *onSession) revert(
	ctx context.Context, a *app, client *client, request *compactordv1.RevertToCheckpointRequest, yes bool, done string,
) error {
	err := c.agreed(ctx, a, client, request, yes)
	if hasReason(err, "NOTHING_TO_REVERT") {
		return nothingError{err.Error()}
	}
	if err != nil {
		return refusedFlags(err)
	}
	before, err := c.compaction(ctx, client)
	if err != nil {
		return err
	}
	answer, err := client.sessions.RevertToCheckpoint(ctx, request)
	if hasReason(err, "NOTHING_TO_REVERT") {
		return nothingError{err.Error()}
	}
	if err != nil {
		return refusedFlags(err)
	}
	if c.JSON {
		if err := printJSON(a.out, wholeAnswer(answer)); err != nil {
			return err
		}
	}
	switch {
	case answer.GetRecord() == nil:
		return nothingError{fmt.Sprintf("session %s is at point %d already", c.Session, answer.GetPoint())}
	case c.JSON:
		return nil
	}
	revert := answer.GetRecord().GetRevert()
	aside := ""
	if n := answer.GetMessagesPutAside(); n > 0 {
		aside = count(n, "message") + " put aside, "
	}
	fmt.Fprintf(a.out, "%s session %s to point %d: %s%s in the context now.\n", done, c.Session,
		revert.GetPoint(), aside, contextText(answer.GetReport()))
	if revert.FutureIndex != nil {
		fmt.Fprintf(a.out, "The model is told by message #%d.\n", revert.GetFutureIndex())
	}
	if answer.FirstRequestPutAside != nil {
		reference := fmt.Sprintf("#%d", answer.GetFirstRequestPutAside())
		fmt.Fprintf(a.out, "The first request put aside is %s: %s\n", reference, a.hinted(command("recall", reference)))
	}
	after, err := c.compaction(ctx, client)
	if err != nil {
		return err
	}
	if after != before {
		fmt.Fprintln(a.out, compactionChange(before, after))
	}
	fmt.Fprintf(a.out, "To take this back: %s\n", a.hinted(command("undo")))
	return nil
}

// compaction is the id of the compaction that is in effect; empty where there is none.
func (c *onSession) compaction(ctx context.Context, client *client) (string, error) {
	answer, err := client.sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: c.Session})
	return answer.GetSession().GetCompactionId(), refusedFlags(err)
}

// compactionChange says what a revert did to the compaction in effect, which people do not expect of taking back turns.
func compactionChange(before, after string) string {
	switch {
	case after == "":
		return "The compaction " + before + " is undone: nothing is summarized now."
	case before == "":
		return "The compaction " + after + " is in effect again."
	default:
		return "The compaction " + after + " is in effect again, in place of " + before + "."
	}
}

// undoCommand is `compactord undo`.
type undoCommand struct {
	onSession
	confirmFlags
}

// Help is printed below the flags.
func (c *undoCommand) Help() string {
	return `The newest compaction, prune, pin, revert or clear is undone, by a revert to the point before it; messages appended since
are put aside. A second undo brings all of it back. To take back turns, see 'compactord revert --turns'.
Where the context grows, it is said first, and asked on a terminal, as by 'compactord revert'.`
}

// Run undoes the last change.
func (c *undoCommand) Run(ctx context.Context, a *app) error {
	return c.with(ctx, a, func(client *client) error {
		return c.revert(ctx, a, client, &compactordv1.RevertToCheckpointRequest{
			SessionId: c.Session, Target: &compactordv1.RevertToCheckpointRequest_Undo{Undo: true},
		}, c.Yes, "Undone: reverted")
	})
}

// clearCommand is `compactord clear`.
type clearCommand struct {
	onSession
}

// Help is printed below the flags.
func (c *clearCommand) Help() string {
	return `All is put aside but the leading system and developer messages. The log keeps it, and 'compactord undo' brings it back.`
}

// Run clears a session.
func (c *clearCommand) Run(ctx context.Context, a *app) error {
	return c.with(ctx, a, func(client *client) error {
		answer, err := client.sessions.ClearSession(ctx, &compactordv1.ClearSessionRequest{SessionId: c.Session})
		if err != nil {
			return refusedFlags(err)
		}
		if c.JSON {
			if err := printJSON(a.out, wholeAnswer(answer)); err != nil {
				return err
			}
		}
		switch {
		case answer.GetRecord() == nil:
			return nothingError{"session " + c.Session + " is clear already"}
		case !c.JSON:
			fmt.Fprintf(a.out, "Cleared session %s: %s put aside, %s in the context now.\n", c.Session,
				count(answer.GetMessagesPutAside(), "message"), contextText(answer.GetReport()))
			fmt.Fprintf(a.out, "To take this back: %s\n", a.hinted(command("undo")))
		}
		return nil
	})
}
