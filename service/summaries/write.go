package summaries

import (
	"cmp"
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Write has a summary written: by the summarizer within its time limits, or by the fallback. It fails with a
// *NoGainError where no summary is small enough, else with an *apierror.Error or the cause of a context that has ended.
// Costs count in any case.
func (w *Writer) Write(ctx context.Context, t *Task) (*Written, error) {
	if t.Replaces <= minTokens && w.op.Client == nil && w.asksModel() {
		// Even the smallest summary would gain nothing, so no model is asked.
		return nil, &NoGainError{Replaces: t.Replaces}
	}
	parts := w.parts(t)
	stream := w.stream(parts)
	stream.begin(ctx)
	texts := make([]*Written, len(parts))
	order, shared := w.order(parts), &sharedBudget{}
	if parts[0].request == nil {
		shared.show(parts[0].text)
	}
	err := w.runConcurrently(ctx, len(parts), func(ctx context.Context, n int) error {
		i := order[n]
		texts[i] = &Written{}
		if parts[i].request == nil {
			texts[i].Text = parts[i].text
			stream.add(ctx, i, parts[i].text)
			stream.finish(ctx, i, parts[i].text)
			return nil
		}
		d := &draft{
			writer: w, task: t, request: parts[i].request, stream: stream, part: i, written: texts[i], shared: shared,
		}
		return d.write(ctx)
	})
	whole := joined(texts)
	whole.Sections = parts[0].sections
	w.spent.add(whole.spent)
	if err != nil {
		return nil, err
	}
	stream.end(ctx)
	return whole, nil
}

// joined joins the texts that were begun.
func joined(texts []*Written) *Written {
	whole := &Written{}
	for _, t := range texts {
		if t == nil {
			continue
		}
		whole.spent.add(t.spent)
		whole.Text += t.Text
		whole.Summarizer = cmp.Or(whole.Summarizer, t.Summarizer)
		whole.Model = cmp.Or(whole.Model, t.Model)
		whole.PromptVersion = max(whole.PromptVersion, t.PromptVersion)
		whole.CachedPrefix = whole.CachedPrefix || t.CachedPrefix
		whole.UnsupportedNames += t.UnsupportedNames
		if t.Fallback != compactordv1.SummaryFallback_SUMMARY_FALLBACK_UNSPECIFIED {
			whole.Summarizer, whole.Fallback, whole.FallbackCause = t.Summarizer, t.Fallback, t.FallbackCause
		}
	}
	return whole
}
