package sessions

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Checkpoint is `compactord checkpoint`.
type Checkpoint struct {
	onSession
	Title    string `help:"The checkpoint's title." placeholder:"TEXT"`
	Announce bool   `help:"Show the model the checkpoint's number, so that it can ask to go back there."`
	List     bool   `help:"List the checkpoints, instead of creating one."`
}

// Run creates a checkpoint or lists the checkpoints.
func (c *Checkpoint) Run(ctx context.Context, a *api.App) error {
	if c.List && (c.Title != "" || c.Announce) {
		return terminal.Usagef("--list creates no checkpoint: leave out --title and --announce")
	}
	return c.with(ctx, a, func(client *api.Client) error {
		if c.List {
			return c.list(ctx, a, client)
		}
		answer, err := client.Sessions.CreateCheckpoint(ctx, &compactordv1.CreateCheckpointRequest{
			SessionId: c.Session, Title: c.Title, Announce: c.Announce,
		})
		if err != nil {
			return api.RefusedFlags(err)
		}
		if c.JSON {
			return terminal.PrintJSON(a.Out, terminal.WholeAnswer(answer))
		}
		checkpoint := answer.GetCheckpoint()
		fmt.Fprintf(a.Out, "Checkpoint %d of session %s, at point %d.\n", checkpoint.GetId(), c.Session, checkpoint.GetPoint())
		fmt.Fprintf(a.Out, "To go back there: %s\n",
			a.Hinted(terminal.Command("revert", "--to-checkpoint", terminal.Digits(checkpoint.GetId()))))
		return nil
	})
}

func (c *Checkpoint) list(ctx context.Context, a *api.App, client *api.Client) error {
	all, err := client.Records(ctx, &compactordv1.ListRecordsRequest{
		SessionId: c.Session, Kinds: []compactordv1.RecordKind{compactordv1.RecordKind_RECORD_KIND_CHECKPOINT},
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(a.Out, map[string]any{"checkpoints": terminal.WholeAnswers(all)})
	}
	if len(all) == 0 {
		fmt.Fprintf(a.Out, "Session %s has no checkpoints.\n", c.Session)
		return nil
	}
	table := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CHECKPOINT\tPOINT\tMESSAGES\tMADE\tSTATE\tTITLE")
	for _, each := range all {
		state := "active"
		if each.GetPutAside() {
			state = "put aside"
		}
		fmt.Fprintf(table, "%d\t%d\t%s\t%s\t%s\t%s\n", each.GetCheckpoint().GetId(), each.GetCheckpoint().GetPoint(),
			terminal.Number(each.GetNextIndex()), each.GetCreatedAt().AsTime().Local().Format("2006-01-02 15:04"), state,
			terminal.InLine(each.GetCheckpoint().GetTitle()))
	}
	return table.Flush()
}
