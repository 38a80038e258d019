package service

import (
	"context"
	"errors"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// What a strategy's own limits say.
const (
	belowMinimum = "what could be hidden, or what was appended since the last rewrite, is less than the strategy's minimum"
	// belowStrategysTrigger is of clear_tool_uses, which has a trigger of its own.
	belowStrategysTrigger = "the context is below the strategy's own trigger"
)

func pruneSkipMessage(reason compactordv1.SkipReason) string {
	switch reason {
	case compactordv1.SkipReason_SKIP_REASON_BELOW_MINIMUM:
		return belowMinimum
	case compactordv1.SkipReason_SKIP_REASON_BELOW_THRESHOLD:
		return belowStrategysTrigger
	default:
		return "nothing to hide: every tool result is protected, hidden already or too short to gain by it"
	}
}

// Prune implements CompactionService.
func (s *Service) Prune(
	ctx context.Context, req *compactordv1.PruneRequest,
) (*compactordv1.PruneResponse, error) {
	if req.GetHistory() != nil {
		return s.pruneInline(ctx, req)
	}
	answer := &compactordv1.PruneResponse{}
	wrote := false
	err := s.logs.Update(ctx, req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		wrote = false
		if known, err := s.logs.Recorded(ctx, row, req, answer); known || err != nil {
			return nil, err
		}
		p, err := s.planPrune(ctx, req, row, answer)
		var skipped *skip
		if errors.As(err, &skipped) {
			answer.Prune, answer.SkipReason, answer.Message = nil, skipped.reason, skipped.message
			answer.Report = session.Report(row.GetHead(), row.GetResolvedPolicy())
			return nil, nil
		}
		if err != nil || req.GetDryRun() {
			return nil, err
		}
		wrote = true
		return p, p.Remember(req, answer)
	})
	if err != nil {
		return nil, err
	}
	if wrote {
		s.metrics.freed.Add(float64(freedTokens(&compactordv1.CompactionCompleted{Prune: answer.GetPrune()})))
	}
	return answer, nil
}

func (s *Service) planPrune(
	ctx context.Context, req *compactordv1.PruneRequest, row *storagev1.Session, answer *compactordv1.PruneResponse,
) (*sessionlog.Write, error) {
	started := s.hooks.Now()
	policy, err := s.resolvePolicy(row.GetPolicy(), req.GetPolicy())
	if err != nil {
		return nil, err
	}
	if err := pruneDue(reasonOf(req.GetReason()), row.GetHead(), policy); err != nil {
		return nil, err
	}
	state, err := s.logs.State(ctx, row, row.GetHead())
	if err != nil {
		return nil, err
	}
	in := &strategies.Input{State: state, Policy: policy, Reason: reasonOf(req.GetReason())}
	plan, err := s.plan(ctx, in, policy.GetPruneStrategy())
	if err != nil {
		return nil, err
	}
	if plan.GetCut() != nil {
		return nil, apierror.InvalidField("policy.prune_strategy", "this strategy cuts: that is for Compact")
	}
	if len(toWrite(plan.GetEdits())) > 0 {
		return nil, apierror.InvalidField("policy.prune_strategy", "this strategy needs a summarizer: that is for Compact")
	}
	if len(plan.GetEdits()) == 0 {
		return nil, &skip{plan.GetSkipReason(), pruneSkipMessage(plan.GetSkipReason())}
	}
	if err := strategies.Check(in, plan); err != nil {
		return nil, err
	}
	p := s.logs.Begin(row)
	answer.Prune, err = s.prune(ctx, p, &compactordv1.PruneEntry{
		Id: newID(), Edits: plan.GetEdits(), Reason: reasonOf(req.GetReason()),
		Strategy: s.strategies.Resolved(policy, policy.GetPruneStrategy()),
	}, started, session.DueByBytesAlone(policy, session.Report(row.GetHead(), policy)))
	answer.Report = p.Report()
	if req.GetDryRun() {
		// What would be written has no place yet, and the context is as it was.
		answer.Prune.Id, answer.Prune.Sequence = "", 0
		answer.Report = session.Report(row.GetHead(), row.GetResolvedPolicy())
	}
	return p, err
}
