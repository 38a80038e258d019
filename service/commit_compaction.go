package service

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/summarizers"
)

// CommitCompaction implements CompactionService.
func (s *Service) CommitCompaction(
	ctx context.Context, req *compactordv1.CommitCompactionRequest,
) (*compactordv1.CommitCompactionResponse, error) {
	row, err := s.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	answer := &compactordv1.CommitCompactionResponse{}
	if known, err := s.logs.Recorded(ctx, row, req, answer); known || err != nil {
		return answer, err
	}
	token, err := parsePlanToken(req.GetPlanToken())
	if err != nil || token.req.GetSessionId() != req.GetSessionId() {
		return nil, apierror.InvalidToken("plan_token")
	}
	k := &clientCommit{
		compaction: s.clientCompaction(row, token.req, req.GetClientPlan()), commitment: req, token: token, answer: answer,
	}
	if err := k.run(ctx, row); err != nil {
		return nil, err
	}
	return answer, nil
}

// clientCommit is one run of CommitCompaction: it plans again, takes the client's texts in, checks and commits.
type clientCommit struct {
	*compaction
	commitment *compactordv1.CommitCompactionRequest
	token      *planToken
	answer     *compactordv1.CommitCompactionResponse
}

func (k *clientCommit) run(ctx context.Context, row *storagev1.Session) error {
	if err := k.planAgain(ctx, row); err != nil {
		return err
	}
	if err := k.takeTexts(ctx); err != nil {
		return err
	}
	// What was sent makes sense: from here on it is recorded how it ends.
	k.announced = true
	err := k.counted(ctx, func() error {
		summary, err := k.texted(ctx)
		if err != nil {
			return k.rejected(err)
		}
		return k.commit(ctx, summary)
	})
	if skipped := k.ending.GetSkipped(); skipped != nil {
		k.answer.Outcome = &compactordv1.CommitCompactionResponse_Skipped{Skipped: skipped}
	}
	return err
}

// planAgain makes the plan of the token's point again. It must come to the same.
func (k *clientCommit) planAgain(ctx context.Context, row *storagev1.Session) error {
	own, err := ownDigest(k.own)
	if err != nil {
		return err
	}
	if own != k.token.own {
		return apierror.InvalidField("client_plan", "is not the one that PlanCompaction was given")
	}
	if k.token.uid != k.uid {
		return k.overtaken()
	}
	head, err := k.service.headAt(ctx, row, k.token.point, "plan_token")
	if err != nil {
		return pointless(err)
	}
	if k.policy, err = k.service.resolvePolicy(row.GetPolicy(), k.req.GetPolicy()); err != nil {
		return err
	}
	if k.snapshot, err = k.service.logs.State(ctx, row, head); err != nil {
		return err
	}
	if k.token.point != row.GetHead().GetNextSequence()-1 {
		// What was rolled forward has the figures of the policy of then.
		k.snapshot.Head = k.snapshot.WithMetrics()
	}
	if err := k.stillFits(row); err != nil {
		return err
	}
	return k.samePlan(ctx)
}

// samePlan plans, and says STATE_CHANGED where that comes to something else than the token has, or where no compaction
// for its reason was due at its point: anyone can have written that into a token.
func (k *clientCommit) samePlan(ctx context.Context) error {
	err := compactionDue(k.reason(), k.snapshot.Head, k.policy)
	if err == nil {
		err = k.makePlan(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var plan digest
	if err == nil {
		plan, err = planDigest(k.req, k.plan, k.policy)
	}
	if err != nil || plan != k.token.plan {
		e := apierror.New(compactordv1.ErrorReason_ERROR_REASON_STATE_CHANGED,
			map[string]string{"operation_id": k.id},
			"the plan is no longer the one that PlanCompaction answered: plan again")
		e.Cause = err
		return e
	}
	return nil
}

// pointless makes an error of the token of a point that the log does not have.
func pointless(err error) error {
	e := &apierror.Error{}
	if errors.As(err, &e) && e.Reason == compactordv1.ErrorReason_ERROR_REASON_POINT_OUT_OF_RANGE {
		return apierror.InvalidToken("plan_token")
	}
	return err
}

// takeTexts sets who writes: the client, or where it only has a provider's item, `extractive`. What does not go with the
// plan is refused.
func (k *clientCommit) takeTexts(ctx context.Context) error {
	req, wanted := k.commitment, len(k.asks())
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	k.block = req.GetProviderBlock()
	if err := k.checkBlock(); err != nil {
		return err
	}
	texts := &summaries.ClientTexts{
		Texts: req.GetAnswers(), Model: req.GetModel(), Prompted: true, CachedPrefix: k.token.cached,
	}
	k.client = texts
	switch {
	case req.GetSummary() != "":
		if err := k.checkWhole(); err != nil {
			return err
		}
		k.whole, texts.Texts, texts.Prompted = true, []string{req.GetSummary()}, false
	case len(req.GetAnswers()) == 0 && k.block != nil:
		extractive, err := k.service.summarizers.Get(summaries.Fallback)
		if err != nil {
			return err
		}
		k.client = summaries.BesideModel(extractive, req.GetModel())
	case len(req.GetAnswers()) != wanted:
		return apierror.InvalidField("answers", fmt.Sprintf(
			"%d are wanted, one for each prompt that is final, and not %d", wanted, len(req.GetAnswers())))
	}
	op := k.operation()
	op.Spent = summaries.Spent{Usage: req.GetUsage(), CostUSD: req.CostUsd, Calls: req.GetSummarizerCalls()}
	op.NoFallback = k.client == texts && !req.GetUseFallback()
	// Anew, since what the asks above had redacted is not to be counted.
	var err error
	k.writer, err = summaries.NewWriter(ctx, k.service.summaries, op)
	return err
}

// checkWhole refuses a whole summary where it is not all that the plan needs.
func (k *clientCommit) checkWhole() error {
	switch written := len(toWrite(k.plan.GetEdits())); {
	case k.plan.GetCut() == nil:
		return apierror.InvalidField("summary", "the plan has no cut, and so no summary")
	case written > 0:
		return apierror.InvalidField("summary", fmt.Sprintf(
			"the plan has %d edits whose texts are wanted too: send them all as answers", written))
	default:
		return nil
	}
}

// checkBlock refuses a provider's item that no view could show.
func (k *clientCommit) checkBlock() error {
	if k.block == nil {
		return nil
	}
	if k.plan.GetCut() == nil {
		return apierror.InvalidField("provider_block", "the plan has no cut, and so no summary that it could stand for")
	}
	return k.service.checkProviderBlock(k.block, "provider_block")
}

// rejected says which of the answers did not pass the checks.
func (k *clientCommit) rejected(err error) error {
	e := &apierror.Error{}
	texts, fromClient := k.client.(*summaries.ClientTexts)
	if errors.As(err, &e) && e.Reason == compactordv1.ErrorReason_ERROR_REASON_SUMMARY_REJECTED &&
		e.Metadata["summarizer"] == summarizers.Client && fromClient && texts.Prompted {
		e.Metadata["prompt"] = strconv.Itoa(texts.Taken() - 1)
	}
	return err
}

// commit writes what the compaction made, on the state as it is by now.
func (k *clientCommit) commit(ctx context.Context, summary *summaries.Written) error {
	s := k.service
	if s.hooks.BeforeCommit != nil {
		s.hooks.BeforeCommit(ctx)
	}
	var completed *compactordv1.CompactionCompleted
	err := s.logs.Update(ctx, k.req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		proto.Reset(k.answer)
		completed = nil
		if known, err := s.logs.Recorded(ctx, row, k.commitment, k.answer); known || err != nil {
			return nil, err
		}
		if err := k.stillFits(row); err != nil {
			return nil, err
		}
		p, done, err := k.write(ctx, row, summary)
		if err != nil {
			return nil, err
		}
		completed = done
		k.answer.Outcome = &compactordv1.CommitCompactionResponse_Completed{Completed: done}
		return p, p.Remember(k.commitment, k.answer)
	})
	if err != nil {
		return err
	}
	k.conclude(&compactordv1.CompactionEvent{Event: &compactordv1.CompactionEvent_Completed{Completed: completed}})
	return nil
}
