package sessions

import (
	"context"
	"fmt"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Child is `compactord child`.
type Child struct {
	onSession
	aim
	As           string            `help:"The child's id (default: a new one)." placeholder:"ID"`
	Title        string            `help:"The child's title." placeholder:"TEXT"`
	Label        map[string]string `help:"A label of the child (default: those of its parent); may be given again." placeholder:"KEY=VALUE"`
	Sees         string            `help:"What the child sees of its parent: everything, chosen (then --message and --block) or nothing." enum:"everything,chosen,nothing" default:"nothing" placeholder:"WHAT"`
	Message      []uint32          `help:"With --sees chosen: a message, by its index, with its tool group; may be given again." placeholder:"INDEX"`
	Block        []string          `help:"With --sees chosen: a context block, by its name; may be given again." placeholder:"NAME"`
	Instructions bool              `help:"With --sees chosen or nothing: begin with the parent's instructions."`
}

// Help is printed below the flags.
func (c *Child) Help() string {
	return `A child is a session of its own, for a sub-agent of --session. 'compactord end' ends it, and appends its result to its
parent's log. 'compactord sessions --parent ID' lists the children of a session.`
}

// Run begins a child.
func (c *Child) Run(ctx context.Context, a *api.App) error {
	request := &compactordv1.ForkSessionRequest{
		SessionId: c.Session, NewSessionId: c.As, Title: c.Title, Labels: c.Label, Child: &compactordv1.ChildContext{
			Sees:    compactordv1.ChildSees(terminal.EnumNumber(compactordv1.ChildSees_value, "CHILD_SEES_", c.Sees)),
			Indexes: c.Message, Blocks: c.Block, Instructions: c.Instructions,
		},
	}
	if err := c.forkAt(request); err != nil {
		return err
	}
	if c.Sees != "chosen" && len(c.Message)+len(c.Block) > 0 {
		return terminal.Usagef("--message and --block need --sees chosen")
	}
	return c.with(ctx, a, func(client *api.Client) error {
		answer, err := client.Sessions.ForkSession(ctx, request)
		if err != nil {
			return api.RefusedFlags(err)
		}
		if c.JSON {
			return terminal.PrintJSON(a.Out, terminal.WholeAnswer(answer))
		}
		s := answer.GetSession()
		fmt.Fprintf(a.Out, "Began session %s, a child of session %s at point %d: %s, %s in the context.\n", s.GetSessionId(), c.Session,
			s.GetParent().GetPoint(), terminal.Count(s.GetNextIndex(), "message"), contextText(answer.GetReport()))
		conversation.PrintWarnings(a.Out, answer.GetWarnings())
		conversation.PrintBlocked(a, s.GetSessionId(), answer.GetReport())
		return nil
	})
}

// End is `compactord end`.
type End struct {
	onSession
	Result     string `help:"The result, for the parent's model (default: the child's last text)." placeholder:"TEXT"`
	ResultFile string `help:"The result is the text in a file; - is standard input." placeholder:"FILE"`
	CallID     string `help:"The result answers this open tool call of the parent." placeholder:"ID" name:"call-id"`
	Failed     bool   `help:"The child failed; the result says why."`
}

// Help is printed below the flags.
func (c *End) Help() string {
	return `The child's log takes no more messages. The command may be repeated: the result is appended once.`
}

// Run ends a child.
func (c *End) Run(ctx context.Context, a *api.App) error {
	request := &compactordv1.EndChildRequest{SessionId: c.Session, Result: c.Result, CallId: c.CallID, IsError: c.Failed}
	switch {
	case a.Given["result"] && a.Given["result-file"]:
		return terminal.Usagef("give either --result or --result-file")
	case a.Given["result-file"]:
		var err error
		if request.Result, err = a.ReadText(c.ResultFile); err != nil {
			return err
		}
	}
	if request.GetResult() == "" && (a.Given["result"] || a.Given["result-file"]) {
		return terminal.Usagef("the result is empty: leave it out, and it is the child's last text")
	}
	return c.with(ctx, a, func(client *api.Client) error {
		answer, err := client.Sessions.EndChild(ctx, request)
		if err != nil {
			return api.RefusedFlags(err)
		}
		if c.JSON {
			return terminal.PrintJSON(a.Out, terminal.WholeAnswer(answer))
		}
		fmt.Fprintf(a.Out, "Ended session %s. Its result is message #%d of session %s, whose context holds %s now.\n", c.Session,
			answer.GetIndex(), answer.GetSession().GetParent().GetSessionId(), contextText(answer.GetReport()))
		return nil
	})
}
