package service

import (
	"context"
	"errors"

	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// foresee says in the plan what its texts take of the summarizer: requests, tokens and money. whole wants all of that;
// else it is left out where it takes to write the whole conversation down a second time, and only the requests are told.
// What cannot be foreseen is left as it is: having the texts written will tell why.
func (c *compaction) foresee(ctx context.Context, whole bool) error {
	asks := c.asks()
	c.plan.Chunks, c.plan.SummarizerInputTokens = uint32(len(asks)), 0
	chosen, err := c.service.summarizers.Get(c.policy.GetSummary().GetSummarizer())
	if err != nil {
		return err
	}
	estimator, ok := chosen.(summarizers.Estimator)
	if !ok || !whole && c.fitsOneRequest(estimator) {
		return nil
	}
	var all summarizers.Estimate
	for _, a := range asks {
		// Nothing of it leaves the daemon.
		a.request.Redact = nil
		one, err := c.estimated(ctx, estimator, a.request)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			c.service.logger.DebugContext(ctx, "no estimate by the summarizer", "summarizer", chosen.Name())
			return nil //nolint:nilerr // It ends the estimate and not the compaction.
		}
		all.Calls += one.Calls
		all.InputTokens += one.InputTokens
		if one.CostUSD != nil {
			sum := *one.CostUSD
			if all.CostUSD != nil {
				sum += *all.CostUSD
			}
			all.CostUSD = &sum
		}
	}
	c.plan.Chunks, c.plan.SummarizerInputTokens, c.plan.EstimatedCostUsd = all.Calls, all.InputTokens, all.CostUSD
	return nil
}

// roomy is how many times what is to be read has to fit a window for one request to hold it whatever its estimator.
const roomy = 4

// fitsOneRequest says whether the conversation is so small beside the summarizer's window that each text plainly takes one
// request.
func (c *compaction) fitsOneRequest(chosen summarizers.Summarizer) bool {
	describer, ok := chosen.(summarizers.Describer)
	if !ok {
		return false
	}
	reads := uint64(c.snapshot.Scaled(c.toRead() + session.StoredTokens(c.snapshot.Lead)))
	return reads*roomy < uint64(describer.Describe().GetContextWindow())
}

// errEstimate says that a summarizer gave neither an estimate nor an error.
var errEstimate = errors.New("no estimate")

func (c *compaction) estimated(
	ctx context.Context, by summarizers.Estimator, req *summarizers.Request,
) (e *summarizers.Estimate, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = apierror.Recovered(ctx, c.service.logger, "summarizer "+by.Name(), c.id, r)
		}
	}()
	if e, err = by.Estimate(ctx, req); err == nil && e == nil {
		err = errEstimate
	}
	return e, err
}
