package main

import (
	"context"
	"fmt"
	"strings"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// pinCommand is `compactord pin`.
type pinCommand struct {
	Index []uint32 `arg:"" help:"Messages, by their numbers in the log."`
	onSession
	Remove bool `help:"Unpin them."`
}

// Help is printed below the flags.
func (c *pinCommand) Help() string {
	return `Pinned messages stay word for word in every view, whatever is compacted or pruned. A message of a tool group takes the whole
group along: the calls and their results.`
}

// Run pins or unpins messages.
func (c *pinCommand) Run(ctx context.Context, a *app) error {
	return c.with(ctx, a, func(client *client) error {
		if c.Remove {
			answer, err := client.sessions.UnpinMessages(ctx, &compactordv1.UnpinMessagesRequest{
				SessionId: c.Session, Indexes: c.Index,
			})
			if err != nil {
				return refusedFlags(err)
			}
			return c.tell(a, apiJSON{answer}, "Unpinned", answer.GetRecord().GetUnpin().GetUnpinned(), answer.GetReport())
		}
		answer, err := client.sessions.PinMessages(ctx, &compactordv1.PinMessagesRequest{
			SessionId: c.Session, Indexes: c.Index,
		})
		if err != nil {
			return refusedFlags(err)
		}
		return c.tell(a, apiJSON{answer}, "Pinned", answer.GetRecord().GetPin().GetPinned(), answer.GetReport())
	})
}

func (c *pinCommand) tell(
	a *app, answer apiJSON, done string, indexes []uint32, report *compactordv1.ContextReport,
) error {
	if c.JSON {
		if err := printJSON(a.out, answer); err != nil {
			return err
		}
	}
	switch {
	case len(indexes) == 0:
		return nothingError{strings.ToLower(done) + " already"}
	case !c.JSON:
		fmt.Fprintf(a.out, "%s %s of session %s: %s. The context holds %s now.\n", done, count(len(indexes), "message"),
			c.Session, hashed(indexes), contextText(report))
	}
	return nil
}
