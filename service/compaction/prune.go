package compaction

import (
	"context"
	"errors"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/tracing"
)

// Prune makes the edits of the policy's prune_strategy.
func (c *Compactor) Prune(
	ctx context.Context, req *compactordv1.PruneRequest,
) (*compactordv1.PruneResponse, error) {
	asked, err := c.Policies.OfCall(ctx, req.GetPolicy())
	if err != nil {
		return nil, err
	}
	ctx, permit, err := c.admittedPrune(ctx, req, asked)
	if err != nil {
		return nil, err
	}
	defer permit.Leave()
	answer := &compactordv1.PruneResponse{}
	wrote := false
	err = c.logs.Update(ctx, req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		wrote = false
		if known, err := c.logs.Recorded(ctx, row, req, answer); known || err != nil {
			return nil, err
		}
		next, err := c.planPrune(ctx, req, asked, row, answer)
		var skipped *skip
		if errors.As(err, &skipped) {
			answer.Prune, answer.SkipReason, answer.Message = nil, skipped.reason, skipped.message
			answer.Report = sessionlog.Report(row)
			return nil, nil
		}
		if err != nil || req.GetDryRun() {
			return nil, err
		}
		wrote = true
		return next, next.Remember(req, answer)
	})
	if err != nil {
		return nil, err
	}
	if wrote {
		c.Metrics.Pruned(answer.GetPrune())
	}
	return answer, nil
}

func (c *Compactor) planPrune(
	ctx context.Context, req *compactordv1.PruneRequest, asked *compactordv1.Policy, row *storagev1.Session,
	answer *compactordv1.PruneResponse,
) (next *sessionlog.Write, err error) {
	ctx, span := tracing.Begin(ctx, "plan")
	defer func() { endStep(span, err) }()
	started := c.Hooks.Now()
	policy, err := c.Policies.Resolve(ctx, row.GetPolicy(), asked)
	if err != nil {
		return nil, err
	}
	if err := pruneDue(reasonOf(req.GetReason()), row.GetHead(), policy); err != nil {
		return nil, err
	}
	state, err := c.logs.Outlines(ctx, row, row.GetHead())
	if err != nil {
		return nil, err
	}
	in := &strategies.Input{State: state, Policy: policy, Reason: reasonOf(req.GetReason())}
	plan, err := c.planBy(ctx, in, policy.GetPruneStrategy())
	if err != nil {
		return nil, err
	}
	if plan.GetCut() != nil {
		return nil, apierror.InvalidField("policy.prune_strategy", "this strategy cuts: use Compact")
	}
	if len(toWrite(plan.GetEdits())) > 0 {
		return nil, apierror.InvalidField("policy.prune_strategy", "this strategy needs a summarizer: use Compact")
	}
	if len(plan.GetEdits()) == 0 {
		return nil, &skip{plan.GetSkipReason(), pruneSkipMessage(plan.GetSkipReason())}
	}
	if err := strategies.Check(in, plan); err != nil {
		return nil, err
	}
	next = c.logs.Begin(row)
	next.StartFrom(state)
	answer.Prune, err = c.prune(ctx, next, &compactordv1.PruneEntry{
		Id: sessionlog.NewID(), Edits: plan.GetEdits(),
		Provenance: &compactordv1.Provenance{
			Reason: reasonOf(req.GetReason()), Strategy: c.Strategies.Resolved(policy, policy.GetPruneStrategy()),
			Duration: c.took(started),
		},
	}, strategies.DueByBytesAlone(policy, strategies.Report(row.GetHead(), policy)))
	if err != nil {
		return nil, err
	}
	if answer.Report, err = next.Report(ctx); err != nil {
		return nil, err
	}
	if req.GetDryRun() {
		// With dry_run nothing is written: the entry has no id and no sequence, and the context stays as it is.
		answer.Prune.Id, answer.Prune.Sequence = "", 0
		answer.Report = sessionlog.Report(row)
	}
	return next, nil
}
