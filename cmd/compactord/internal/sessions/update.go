package sessions

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Update is `compactord update`.
type Update struct {
	onSession
	ContextWindow  *uint32 `help:"The model's context window in tokens." placeholder:"N"`
	MaxInputTokens *uint32 `help:"The model's input limit in tokens, if it is less than the window." placeholder:"N"`
}

// Help is printed below the flags.
func (c *Update) Help() string {
	return `The rest of the session's policy stays as it is, and its defaults follow the new limits.`
}

// Run changes the policy of a session.
func (c *Update) Run(ctx context.Context, a *api.App) error {
	if c.ContextWindow == nil && c.MaxInputTokens == nil {
		return terminal.Usagef("name what to change: --context-window or --max-input-tokens")
	}
	return c.with(ctx, a, func(client *api.Client) error {
		found, err := client.Sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: c.Session})
		if err != nil {
			return api.RefusedFlags(err)
		}
		policy := found.GetSession().GetPolicy()
		if policy == nil {
			policy = &compactordv1.Policy{}
		}
		if c.ContextWindow != nil {
			policy.ContextWindow = c.ContextWindow
		}
		if c.MaxInputTokens != nil {
			policy.MaxInputTokens = c.MaxInputTokens
		}
		answer, err := client.Sessions.UpdateSession(ctx, &compactordv1.UpdateSessionRequest{
			SessionId: c.Session, Policy: policy, UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"policy"}},
		})
		if err != nil {
			return api.RefusedFlags(err)
		}
		if c.JSON {
			return terminal.PrintJSON(a.Out, terminal.WholeAnswer(answer))
		}
		after, err := client.Sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: c.Session})
		if err != nil {
			return api.RefusedFlags(err)
		}
		fmt.Fprintf(a.Out, "Changed the policy of session %s. The context holds %s now.\n", c.Session, contextText(after.GetReport()))
		conversation.PrintWarnings(a.Out, answer.GetWarnings())
		conversation.PrintBlocked(a, c.Session, after.GetReport())
		return nil
	})
}
