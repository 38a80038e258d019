package compaction

import (
	"context"
	"errors"
	"slices"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// OnUserMessage applies policy.on_user_message if a message of the write starts a turn, and returns its entry; nil
// where it changed nothing. Where the strategies fail, the messages are appended without it, since they are more
// important.
func (c *Compactor) OnUserMessage(ctx context.Context, next *sessionlog.Write) (*compactordv1.PruneEntry, error) {
	list := next.Before().GetResolvedPolicy().GetOnUserMessage().GetStrategies()
	if len(list) == 0 || !slices.ContainsFunc(next.Messages(), startsTurn) {
		return nil, nil
	}
	state, err := next.State(ctx)
	if err != nil {
		return nil, err
	}
	written, err := c.planOnUserMessage(ctx, state, list)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		c.logNotPlanned(ctx, err)
		return nil, nil
	case written == nil:
		return nil, nil
	}
	next.TakeOver(written)
	return written.Record.GetPrune(), nil
}

func startsTurn(l *compactordv1.LoggedMessage) bool { return session.StartsTurn(l.GetMessage()) }

// planOnUserMessage plans the strategies on a state, and returns one entry for all of their edits; nil where the view
// would not become smaller.
func (c *Compactor) planOnUserMessage(
	ctx context.Context, state *session.State, list []*compactordv1.Strategy,
) (*session.Written, error) {
	started := c.Hooks.Now()
	in := &strategies.Input{
		State: state, Policy: state.Policy, Reason: compactordv1.CompactionReason_COMPACTION_REASON_USER_MESSAGE,
	}
	plan, err := c.Strategies.PlanAll(ctx, in, list)
	if err != nil {
		return nil, err
	}
	if len(plan.GetEdits()) == 0 && plan.GetCut() == nil {
		return nil, nil
	}
	if plan.GetCut() != nil {
		return nil, errors.New("policy.on_user_message cuts")
	}
	if err := strategies.Check(in, plan); err != nil {
		return nil, err
	}
	entry := &compactordv1.PruneEntry{
		Id: sessionlog.NewID(), Edits: plan.GetEdits(),
		TokensBefore: state.Head.GetViewTokens(), CreatedAt: c.logs.Now(),
		Provenance: &compactordv1.Provenance{
			Reason: in.Reason, Strategy: c.inOrder(state.Policy, list), Duration: c.took(started),
		},
	}
	written, err := sessionlog.Simulate(state, &compactordv1.Record{
		Kind: &compactordv1.Record_Prune{Prune: entry}, CreatedAt: entry.GetCreatedAt(),
	})
	if err != nil {
		return nil, err
	}
	written.Record.GetPrune().TokensAfter = written.State.Head.GetViewTokens()
	if written.State.Head.GetViewTokens() >= state.Head.GetViewTokens() {
		return nil, nil
	}
	return written, nil
}

// inOrder returns the strategy for the entry's provenance, with its defaults: of several strategies, a ladder of them
// all.
func (c *Compactor) inOrder(policy *compactordv1.Policy, list []*compactordv1.Strategy) *compactordv1.Strategy {
	if len(list) == 1 {
		return c.Strategies.Resolved(policy, list[0])
	}
	all := &compactordv1.LadderStrategy{}
	for _, each := range list {
		all.Rungs = append(all.Rungs, &compactordv1.LadderStrategy_Rung{Strategy: c.Strategies.Resolved(policy, each)})
	}
	return &compactordv1.Strategy{Kind: &compactordv1.Strategy_Ladder{Ladder: all}}
}

// logNotPlanned logs why policy.on_user_message was not applied.
func (c *Compactor) logNotPlanned(ctx context.Context, err error) {
	attributes := append([]any{"error", err}, apierror.StrategyPanicFields(err)...)
	c.Logger.ErrorContext(ctx, "messages were appended without policy.on_user_message", attributes...)
}
