package compaction

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
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// Commit commits a compaction whose texts the client's model has written.
func (c *Compactor) Commit(
	ctx context.Context, req *compactordv1.CommitCompactionRequest,
) (*compactordv1.CommitCompactionResponse, error) {
	row, err := c.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	answer := &compactordv1.CommitCompactionResponse{}
	if known, err := c.logs.Recorded(ctx, row, req, answer); known || err != nil {
		return answer, err
	}
	token, err := parsePlanToken(ctx, req.GetPlanToken(), c.DecodeRequest)
	if ctx.Err() != nil {
		return nil, apierror.EndCause(ctx)
	}
	if err != nil || token.req.GetSessionId() != req.GetSessionId() {
		return nil, apierror.InvalidToken("plan_token")
	}
	ctx, permit, err := c.Pool.Enter(ctx, weightOf(row), nil)
	if err != nil {
		return nil, err
	}
	defer permit.Leave()
	k := &clientCommit{
		job: c.clientJob(row, token.req, req.GetClientPlan()), req: req, token: token, answer: answer,
	}
	if err := k.run(ctx, row); err != nil {
		return nil, err
	}
	return answer, nil
}

// clientCommit is one run of Commit. It plans again, takes the client's texts, checks and commits them.
type clientCommit struct {
	job    *job
	req    *compactordv1.CommitCompactionRequest
	token  *planToken
	answer *compactordv1.CommitCompactionResponse
}

func (k *clientCommit) run(ctx context.Context, row *storagev1.Session) error {
	plan, err := k.planAgain(ctx, row)
	if err != nil {
		return err
	}
	w, err := k.takeTexts(ctx, plan)
	if err != nil {
		return err
	}
	ending, err := k.job.runRecorded(ctx, func(rs *runState) (*compactordv1.CompactionEvent, error) {
		// The request is valid: from here on the end is recorded.
		rs.writing, rs.recordsEnd = w, true
		texts, err := w.write(ctx)
		if err != nil {
			return nil, rejected(err, w.client)
		}
		return k.commit(ctx, texts)
	})
	if skipped := ending.GetSkipped(); skipped != nil {
		k.answer.Outcome = &compactordv1.CommitCompactionResponse_Skipped{Skipped: skipped}
	}
	return err
}

// planAgain plans again at the token's point. The plan must be the same as before.
func (k *clientCommit) planAgain(ctx context.Context, row *storagev1.Session) (*planned, error) {
	j := k.job
	own, err := ownDigest(j.own)
	if err != nil {
		return nil, err
	}
	if own != k.token.own {
		return nil, apierror.InvalidField("client_plan", "is not the one that PlanCompaction was given")
	}
	if k.token.uid != j.uid {
		return nil, j.stateChanged()
	}
	if k.token.point > session.Point(row.GetHead()) {
		return nil, apierror.InvalidToken("plan_token")
	}
	if err := j.findFold(ctx, row); err != nil {
		return nil, err
	}
	head, err := j.logs.HeadAt(ctx, row, k.token.point)
	if err != nil {
		return nil, err
	}
	policy, err := j.Policies.Resolve(ctx, row.GetPolicy(), j.policy)
	if err != nil {
		return nil, err
	}
	snapshot, err := j.logs.Outlines(ctx, row, head)
	if err != nil {
		return nil, err
	}
	if k.token.point != session.Point(row.GetHead()) {
		// A head of an earlier point has figures by the policy of that time.
		snapshot.Head = snapshot.WithMetrics()
	}
	if err := j.stillFits(snapshot, row); err != nil {
		return nil, err
	}
	if err := j.findBounds(ctx, row, head, policy); err != nil {
		return nil, err
	}
	return k.samePlan(ctx, policy, snapshot)
}

// samePlan plans. It returns STATE_CHANGED where the plan is not the token's, or where no compaction for the reason was
// due at the token's point. The latter is checked since anyone can have written the token.
func (k *clientCommit) samePlan(
	ctx context.Context, policy *compactordv1.Policy, snapshot *session.State,
) (*planned, error) {
	j := k.job
	var plan *planned
	var digest digest
	err := compactionDue(j.reason(), snapshot.Head, policy)
	if err == nil {
		plan, err = j.makePlan(ctx, policy, snapshot)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err == nil {
		digest, err = planDigest(j.req, plan.plan, policy)
	}
	if err != nil || digest != k.token.plan {
		e := apierror.New(compactordv1.ErrorReason_ERROR_REASON_STATE_CHANGED,
			map[string]string{"operation_id": j.id},
			"the plan is no longer the one that PlanCompaction answered: plan again")
		e.Cause = err
		return nil, e
	}
	return plan, nil
}

// takeTexts makes the client's texts the plan's summarizer. For a provider's item without texts that is `extractive`.
// It refuses texts that do not match the plan.
func (k *clientCommit) takeTexts(ctx context.Context, plan *planned) (*writing, error) {
	// Counting the wanted texts redacts secrets too. These must not be counted, so the texts get another summary writer.
	counting, err := plan.writing(ctx, plan.operation())
	if err != nil {
		return nil, err
	}
	wanted, err := counting.wantedTexts(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	if err := k.checkBlock(plan); err != nil {
		return nil, err
	}
	texts, err := k.clientTexts(plan, len(wanted))
	if err != nil {
		return nil, err
	}
	plan.client = texts
	op := plan.operation()
	op.Spent = summaries.Spent{Usage: k.req.GetUsage(), CostUSD: k.req.CostUsd, Calls: k.req.GetSummarizerCalls()}
	_, byClient := texts.(*summaries.ClientTexts)
	op.NoFallback = byClient && !k.req.GetUseFallback()
	w, err := plan.writing(ctx, op)
	if err != nil {
		return nil, err
	}
	w.whole, w.block = k.req.GetSummary() != "", k.req.GetProviderBlock()
	return w, nil
}

// clientTexts returns the summarizer that returns the client's texts; for a provider's item without texts,
// `extractive`. wanted is the number of texts that the plan needs.
func (k *clientCommit) clientTexts(plan *planned, wanted int) (summarizers.Summarizer, error) {
	switch {
	case k.req.GetSummary() != "":
		return &summaries.ClientTexts{
			Texts: []string{k.req.GetSummary()}, Model: k.req.GetModel(), CachedPrefix: k.token.cached,
		}, checkWhole(plan.plan)
	case len(k.req.GetAnswers()) == 0 && k.req.GetProviderBlock() != nil:
		extractive, err := k.job.Summarizers.Get(summaries.Fallback)
		if err != nil {
			return nil, err
		}
		return summaries.BesideModel(extractive, k.req.GetModel()), nil
	case len(k.req.GetAnswers()) != wanted:
		return nil, apierror.InvalidField("answers", fmt.Sprintf(
			"send %d, one for each final prompt, instead of %d", wanted, len(k.req.GetAnswers())))
	default:
		return &summaries.ClientTexts{
			Texts: k.req.GetAnswers(), Model: k.req.GetModel(), Prompted: true, CachedPrefix: k.token.cached,
		}, nil
	}
}

// checkWhole refuses a whole summary where the plan needs other texts, too.
func checkWhole(plan *compactordv1.CompactionPlan) error {
	switch written := len(toWrite(plan.GetEdits())); {
	case plan.GetCut() == nil:
		return apierror.InvalidField("summary", "the plan has no cut, and so no summary")
	case written > 0:
		return apierror.InvalidField("summary", fmt.Sprintf(
			"the plan has %d edits whose texts are wanted too: send them all as answers", written))
	default:
		return nil
	}
}

// checkBlock refuses a provider's item that no view could show.
func (k *clientCommit) checkBlock(plan *planned) error {
	block := k.req.GetProviderBlock()
	if block == nil {
		return nil
	}
	if plan.plan.GetCut() == nil {
		return apierror.InvalidField("provider_block", "the plan has no cut, and so no summary that it could stand for")
	}
	return plan.CheckProviderBlock(block, "provider_block")
}

// rejected adds to the error which of the client's answers did not pass the checks.
func rejected(err error, by summarizers.Summarizer) error {
	e := &apierror.Error{}
	texts, fromClient := by.(*summaries.ClientTexts)
	if errors.As(err, &e) && e.Reason == compactordv1.ErrorReason_ERROR_REASON_SUMMARY_REJECTED &&
		e.Metadata["summarizer"] == summarizers.Client && fromClient && texts.Prompted {
		e.Metadata["prompt"] = strconv.Itoa(texts.Used() - 1)
	}
	return err
}

// commit commits the texts to the log as it is now.
func (k *clientCommit) commit(ctx context.Context, d *written) (*compactordv1.CompactionEvent, error) {
	d.beforeCommit(ctx)
	var completed *compactordv1.CompactionCompleted
	err := d.logs.Update(ctx, d.req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		proto.Reset(k.answer)
		completed = nil
		if known, err := d.logs.Recorded(ctx, row, k.req, k.answer); known || err != nil {
			return nil, err
		}
		if err := d.stillFits(d.snapshot, row); err != nil {
			return nil, err
		}
		next, done, err := d.put(ctx, row)
		if err != nil {
			return nil, err
		}
		completed = done
		k.answer.Outcome = &compactordv1.CommitCompactionResponse_Completed{Completed: done}
		return next, next.Remember(k.req, k.answer)
	})
	if err != nil {
		return nil, err
	}
	return &compactordv1.CompactionEvent{Event: &compactordv1.CompactionEvent_Completed{Completed: completed}}, nil
}
