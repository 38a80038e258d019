package sessions

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/recall"
)

// Pin is `compactord pin`.
type Pin struct {
	Message []string `arg:"" help:"Messages, by their numbers in the log: 12 or '#12'." optional:""`
	onSession
	Remove bool `help:"Unpin them."`
	List   bool `help:"List the pinned messages, instead of pinning."`
}

// Help is printed below the flags.
func (c *Pin) Help() string {
	return `Every view shows pinned messages word for word, whatever is compacted or pruned. A message of a tool group pins the whole
group: the calls and their results.`
}

// Run pins or unpins messages.
func (c *Pin) Run(ctx context.Context, a *api.App) error {
	indexes, err := c.indexes()
	if err != nil {
		return err
	}
	return c.with(ctx, a, func(client *api.Client) error {
		if c.List {
			return c.list(ctx, a, client)
		}
		if c.Remove {
			answer, err := client.Sessions.UnpinMessages(ctx, &compactordv1.UnpinMessagesRequest{
				SessionId: c.Session, Indexes: indexes,
			})
			if err != nil {
				return api.RefusedFlags(err)
			}
			return c.report(a, terminal.WholeAnswer(answer), "Unpinned", answer.GetRecord().GetUnpin().GetMembers(), answer.GetReport())
		}
		answer, err := client.Sessions.PinMessages(ctx, &compactordv1.PinMessagesRequest{
			SessionId: c.Session, Indexes: indexes,
		})
		if err != nil {
			return api.RefusedFlags(err)
		}
		return c.report(a, terminal.WholeAnswer(answer), "Pinned", answer.GetRecord().GetPin().GetMembers(), answer.GetReport())
	})
}

// indexes returns the messages that the arguments name.
func (c *Pin) indexes() ([]uint32, error) {
	switch {
	case c.List && (c.Remove || len(c.Message) > 0):
		return nil, terminal.Usagef("--list pins nothing: leave out --remove and the messages")
	case !c.List && len(c.Message) == 0:
		return nil, terminal.Usagef("name messages by their numbers, such as 12, or list the pinned ones with --list")
	}
	indexes := make([]uint32, len(c.Message))
	for i, text := range c.Message {
		named, err := recall.ParseReference(text)
		switch {
		case err != nil:
			return nil, terminal.Usagef("%q names no message: write 12 or '#12'", text)
		case named.Part != nil:
			return nil, terminal.Usagef("%q names a part: messages are pinned whole", text)
		}
		indexes[i] = named.Index
	}
	return indexes, nil
}

// list prints the pinned messages.
func (c *Pin) list(ctx context.Context, a *api.App, client *api.Client) error {
	request := &compactordv1.ListMessagesRequest{SessionId: c.Session, PageSize: 1000, MaxBytes: client.PageBytes}
	var pinned []*compactordv1.LoggedMessage
	for {
		page, err := client.Sessions.ListMessages(ctx, request)
		if err != nil {
			return api.RefusedFlags(err)
		}
		for _, l := range page.GetMessages() {
			if l.GetPinned() {
				pinned = append(pinned, l)
			}
		}
		if request.PageToken = page.GetNextPageToken(); request.GetPageToken() == "" {
			break
		}
	}
	if c.JSON {
		return terminal.PrintJSON(a.Out, map[string]any{"messages": terminal.WholeAnswers(pinned)})
	}
	if len(pinned) == 0 {
		fmt.Fprintf(a.Out, "Session %s has no pinned messages.\n", c.Session)
		return nil
	}
	table := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "MESSAGE\tROLE\tTOKENS\tTEXT")
	for _, l := range pinned {
		fmt.Fprintf(table, "#%d\t%s\t%s\t%s\n", l.GetIndex(), roleName(l.GetMessage().GetRole()), terminal.Number(l.GetTokens()),
			terminal.InLine(gist(l.GetMessage())))
	}
	return table.Flush()
}

func (c *Pin) report(
	a *api.App, answer terminal.APIJSON, done string, indexes []uint32, report *compactordv1.ContextReport,
) error {
	if c.JSON {
		if err := terminal.PrintJSON(a.Out, answer); err != nil {
			return err
		}
	}
	switch {
	case len(indexes) == 0:
		return terminal.NothingError{Why: strings.ToLower(done) + " already"}
	case !c.JSON:
		fmt.Fprintf(a.Out, "%s %s of session %s: %s. The context holds %s now.\n", done, terminal.Count(len(indexes), "message"),
			c.Session, conversation.MessageNumbers(indexes), contextText(report))
	}
	return nil
}
