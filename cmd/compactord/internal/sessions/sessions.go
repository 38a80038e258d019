package sessions

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// List is `compactord sessions`.
type List struct {
	api.Where
	Label      map[string]string `help:"Only sessions with this label; may be given again." placeholder:"KEY=VALUE"`
	Parent     string            `help:"Only the children of this session." placeholder:"ID"`
	ForkedFrom string            `help:"Only the forks of this session, without its children." placeholder:"ID" name:"forked-from"`
	Changed    bool              `help:"Sort by last change, not by creation."`
	Limit      uint32            `help:"At most N sessions; 0 means all." placeholder:"N"`
	JSON       bool              `help:"Print one JSON document: sessions, each as the API returns it." name:"json"`
	terminal.QuietFlag
}

// Run lists sessions.
func (c *List) Run(ctx context.Context, a *api.App) (err error) {
	daemon, err := c.Open(ctx, a, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, daemon.Close()) }()
	sessions, err := c.list(ctx, daemon)
	if err != nil {
		return err
	}
	if c.JSON {
		return terminal.PrintJSON(a.Out, map[string]any{"sessions": terminal.WholeAnswers(sessions)})
	}
	if len(sessions) == 0 {
		fmt.Fprintln(a.Out, "There are no sessions.")
		return nil
	}
	table := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SESSION\tMESSAGES\tCOMPACTED\tCHANGED\tPARENT\tTITLE")
	for _, s := range sessions {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", s.GetSessionId(), terminal.Number(s.GetNextIndex()), compactedText(s),
			s.GetChangedAt().AsTime().Local().Format("2006-01-02 15:04"), parentText(s), terminal.InLine(s.GetTitle()))
	}
	return table.Flush()
}

func (c *List) list(ctx context.Context, daemon *api.Client) ([]*compactordv1.Session, error) {
	const pageSize = 500
	request := &compactordv1.ListSessionsRequest{
		Labels: c.Label, PageSize: pageSize, ParentSessionId: c.Parent, ForkedFromSessionId: c.ForkedFrom,
	}
	if c.Changed {
		request.Order = compactordv1.SessionOrder_SESSION_ORDER_CHANGED
	}
	var sessions []*compactordv1.Session
	for {
		if c.Limit > 0 {
			request.PageSize = min(pageSize, c.Limit-uint32(len(sessions)))
		}
		page, err := daemon.Sessions.ListSessions(ctx, request)
		if err != nil {
			return nil, api.RefusedFlags(err)
		}
		sessions = append(sessions, page.GetSessions()...)
		request.PageToken = page.GetNextPageToken()
		if request.GetPageToken() == "" || c.Limit > 0 && uint32(len(sessions)) >= c.Limit {
			return sessions, nil
		}
	}
}

// parentText names a child's parent, and says whether the child has ended.
func parentText(s *compactordv1.Session) string {
	switch {
	case s.GetParent() == nil:
		return "-"
	case s.GetEnded() != nil:
		return s.GetParent().GetSessionId() + " (ended)"
	default:
		return s.GetParent().GetSessionId()
	}
}

func compactedText(s *compactordv1.Session) string {
	if s.FirstKeptIndex == nil {
		return "-"
	}
	return fmt.Sprintf("up to #%d", s.GetFirstKeptIndex()-1)
}
