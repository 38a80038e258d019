package compaction

import (
	"context"
	"errors"

	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/summarizers"
)

// estimate sets in the plan what its texts cost at the summarizer: calls, tokens and money. If whole is false and the
// prompts need not be built to know the calls, it sets only these. Where the summarizer cannot estimate, the figures
// stay as they are: the writing of the texts will report the reason.
func (w *writing) estimate(ctx context.Context, whole bool) error {
	texts, err := w.wantedTexts(ctx)
	if err != nil {
		return err
	}
	w.plan.Chunks, w.plan.SummarizerInputTokens = uint32(len(texts)), 0
	chosen, err := w.Summarizers.Get(w.policy.GetSummary().GetSummarizer())
	if err != nil {
		return err
	}
	estimator, ok := chosen.(summarizers.Estimator)
	if !ok || !whole && w.fitsOneCall(estimator) {
		return nil
	}
	var all summarizers.Estimate
	for _, a := range texts {
		// An estimate sends nothing to a provider.
		a.request.Redact = nil
		one := w.estimated(ctx, estimator, a.request)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if one == nil {
			return nil
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
	w.plan.Chunks, w.plan.SummarizerInputTokens, w.plan.EstimatedCostUsd = all.Calls, all.InputTokens, all.CostUSD
	return nil
}

// estimateMargin is how many times the conversation must fit into the window, so that it fits into one summarizer call
// by every estimator.
const estimateMargin = 4

// fitsOneCall says whether the conversation is so small compared with the summarizer's window that each text surely
// needs only one summarizer call.
func (w *writing) fitsOneCall(chosen summarizers.Summarizer) bool {
	describer, ok := chosen.(summarizers.Describer)
	if !ok {
		return false
	}
	head := w.snapshot.Head
	reads := uint64(w.snapshot.Scaled(w.toRead() + head.GetLeadTokens() + head.GetBlockTokens()))
	return reads*estimateMargin < uint64(describer.Describe().GetContextWindow())
}

// errEstimate is the error of a summarizer that returned neither an estimate nor an error.
var errEstimate = errors.New("no estimate")

// estimated returns a summarizer's estimate for a request; nil where it fails, which does not stop the compaction.
func (w *writing) estimated(
	ctx context.Context, by summarizers.Estimator, req *summarizers.Request,
) *summarizers.Estimate {
	e, err := w.askForEstimate(ctx, by, req)
	if err != nil && ctx.Err() == nil {
		w.Logger.DebugContext(ctx, "no estimate by the summarizer", "summarizer", by.Name())
	}
	if err != nil {
		return nil
	}
	return e
}

func (w *writing) askForEstimate(
	ctx context.Context, by summarizers.Estimator, req *summarizers.Request,
) (e *summarizers.Estimate, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = apierror.Recovered(ctx, w.Logger, "summarizer "+by.Name(), w.id, r)
		}
	}()
	if _, can := by.(summarizers.Piecewise); !can {
		if req, err = req.WithContents(); err != nil {
			return nil, err
		}
	}
	if e, err = by.Estimate(ctx, req); err == nil && e == nil {
		err = errEstimate
	}
	return e, err
}
