package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/recall"
)

// Search is `compactord search`.
type Search struct {
	Query string `arg:"" help:"Words to look for. A message must have all of them, in upper or lower case."`
	conversation.Source
	Regexp      bool     `help:"QUERY is a regular expression (RE2)." short:"e"`
	Role        []string `help:"Only messages of this role: system, developer, user, assistant or tool; may be given again." placeholder:"ROLE" enum:"system,developer,user,assistant,tool"`
	State       []string `help:"Only messages in this state: active, covered or put-aside; may be given again." placeholder:"STATE" enum:"active,covered,put-aside"`
	NewestFirst bool     `help:"List the newest first."`
	Children    bool     `help:"Search the session's children too, and their children."`
	Limit       uint32   `help:"At most N messages; 0 means all." default:"20" placeholder:"N"`
	terminal.Output
}

// Help is printed below the flags.
func (c *Search) Help() string {
	return `Searches the whole log: content that views show or hide, messages that a summary covers, and messages that are put aside.
Each hit has the message's number, for 'compactord recall'.`
}

// Run searches.
func (c *Search) Run(ctx context.Context, a *api.App) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	p := a.Progress(c.Quiet)
	defer p.Clear()
	conv, err := c.Open(ctx, a, nil, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conv.Close()) }()
	p.Stage("searching", "", 0)
	hits, more, cutOff := c.search(ctx, conv)
	if cutOff != nil && len(hits) == 0 {
		return cutOff
	}
	p.Clear()
	if c.JSON {
		if err := terminal.PrintJSON(a.Out, map[string]any{"hits": terminal.WholeAnswers(hits), "has_more": more}); err != nil {
			return err
		}
	}
	if len(hits) == 0 {
		return terminal.NothingError{Why: "nothing in " + conv.Name() + " matches"}
	}
	if !c.JSON {
		for _, hit := range hits {
			fmt.Fprintln(a.Out, hitText(hit))
		}
	}
	switch {
	case cutOff != nil:
		// What was found is no less true.
		return fmt.Errorf("the search was cut off after %s: %w", terminal.Count(len(hits), "hit"), cutOff)
	case more && !c.JSON:
		p.Say("There are more. All of them: %s", a.Hinted(terminal.Again("--limit", "0")))
	}
	return nil
}

// check reports a wrong query before a file is read.
func (c *Search) check() error {
	if c.Query == "" {
		return terminal.Usagef("the query is blank: name words to look for")
	}
	if c.Regexp {
		if _, err := recall.CompilePattern(c.Query, false); err != nil {
			return terminal.AsUsage(err)
		}
	}
	return nil
}

// search returns the hits, and whether there may be more. With an error, hits are those of the pages before it.
func (c *Search) search(ctx context.Context, conv *conversation.Conversation) (hits []*compactordv1.SearchHit, more bool, err error) {
	request := c.request()
	request.SessionId = conv.Session
	for {
		request.PageSize = 1000
		if c.Limit > 0 {
			request.PageSize = min(1000, c.Limit-uint32(len(hits)))
		}
		answer, err := conv.Sessions.SearchMessages(ctx, request)
		if err != nil {
			return hits, true, api.RefusedFlags(err)
		}
		hits = append(hits, answer.GetHits()...)
		request.PageToken = answer.GetNextPageToken()
		full := c.Limit > 0 && uint32(len(hits)) >= c.Limit
		if request.GetPageToken() == "" || full {
			return hits, request.GetPageToken() != "", nil
		}
	}
}

func (c *Search) request() *compactordv1.SearchMessagesRequest {
	request := &compactordv1.SearchMessagesRequest{NewestFirst: c.NewestFirst, IncludeChildren: c.Children}
	if c.Regexp {
		request.Query = &compactordv1.SearchMessagesRequest_Pattern{Pattern: c.Query}
	} else {
		request.Query = &compactordv1.SearchMessagesRequest_Words{Words: c.Query}
	}
	for _, role := range slices.Compact(slices.Sorted(slices.Values(c.Role))) {
		value := terminal.EnumNumber(compactordv1.Role_value, "ROLE_", role)
		request.Roles = append(request.Roles, compactordv1.Role(value))
	}
	for _, state := range slices.Compact(slices.Sorted(slices.Values(c.State))) {
		value := terminal.EnumNumber(compactordv1.MessageState_value, "MESSAGE_STATE_", state)
		request.States = append(request.States, compactordv1.MessageState(value))
	}
	return request
}

// hitText formats a hit as one line.
func hitText(hit *compactordv1.SearchHit) string {
	place := fmt.Sprintf("%s#%d.%d", hit.GetSessionId(), hit.GetIndex(), hit.GetPart())
	if hit.ResultPart != nil {
		place += fmt.Sprintf(".%d", hit.GetResultPart())
	}
	who := roleName(hit.GetRole())
	if hit.GetTool() != "" {
		who += " " + hit.GetTool()
	}
	if hit.GetState() != compactordv1.MessageState_MESSAGE_STATE_ACTIVE {
		who += ", " + stateName(hit.GetState())
	}
	if len(hit.GetEdits()) > 0 {
		who += ", edited"
	}
	snippet := strings.Join(strings.Fields(terminal.Printable(hit.GetSnippet())), " ")
	return fmt.Sprintf("%s  %s  line %s: %s", place, terminal.Printable(who), terminal.Number(hit.GetLine()), snippet)
}
