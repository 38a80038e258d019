package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// checkpointCommand is `compactord checkpoint`.
type checkpointCommand struct {
	onSession
	Title    string `help:"What to call it." placeholder:"TEXT"`
	Announce bool   `help:"Show the model its number, so that it can ask to be sent back there."`
	List     bool   `help:"List the checkpoints, in place of making one."`
}

// Run makes a checkpoint, or lists them.
func (c *checkpointCommand) Run(ctx context.Context, a *app) error {
	if c.List && (c.Title != "" || c.Announce) {
		return usagef("--list makes no checkpoint: leave out --title and --announce")
	}
	return c.with(ctx, a, func(client *client) error {
		if c.List {
			return c.list(ctx, a, client)
		}
		answer, err := client.sessions.CreateCheckpoint(ctx, &compactordv1.CreateCheckpointRequest{
			SessionId: c.Session, Title: c.Title, Announce: c.Announce,
		})
		if err != nil {
			return refusedFlags(err)
		}
		if c.JSON {
			return printJSON(a.out, wholeAnswer(answer))
		}
		checkpoint := answer.GetCheckpoint()
		fmt.Fprintf(a.out, "Checkpoint %d of session %s, at point %d.\n", checkpoint.GetId(), c.Session, checkpoint.GetPoint())
		fmt.Fprintf(a.out, "To go back there: %s\n",
			a.hinted(command("revert", "--to-checkpoint", digits(checkpoint.GetId()))))
		return nil
	})
}

func (c *checkpointCommand) list(ctx context.Context, a *app, client *client) error {
	request := &compactordv1.ListCheckpointsRequest{SessionId: c.Session, PageSize: 1000}
	var all []*compactordv1.ListedCheckpoint
	for {
		page, err := client.sessions.ListCheckpoints(ctx, request)
		if err != nil {
			return refusedFlags(err)
		}
		all = append(all, page.GetCheckpoints()...)
		if request.PageToken = page.GetNextPageToken(); request.GetPageToken() == "" {
			break
		}
	}
	if c.JSON {
		return printJSON(a.out, map[string]any{"checkpoints": wholeAnswers(all)})
	}
	if len(all) == 0 {
		fmt.Fprintf(a.out, "Session %s has no checkpoints.\n", c.Session)
		return nil
	}
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CHECKPOINT\tPOINT\tMESSAGES\tMADE\tSTATE\tTITLE")
	for _, each := range all {
		state := "active"
		if each.GetPutAside() {
			state = "put aside"
		}
		fmt.Fprintf(table, "%d\t%d\t%s\t%s\t%s\t%s\n", each.GetCheckpoint().GetId(), each.GetCheckpoint().GetPoint(),
			number(each.GetNextIndex()), each.GetCreatedAt().AsTime().Local().Format("2006-01-02 15:04"), state,
			inLine(each.GetCheckpoint().GetTitle()))
	}
	return table.Flush()
}
