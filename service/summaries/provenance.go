package summaries

import (
	"cmp"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Credit says in a provenance who wrote the text. Where it tells of others already, it goes on naming the first of them,
// unless a fallback wrote this one.
func (t *Written) Credit(p *compactordv1.Provenance) {
	p.Summarizer = cmp.Or(p.GetSummarizer(), t.Summarizer)
	p.Model = cmp.Or(p.GetModel(), t.Model)
	p.PromptVersion = max(p.GetPromptVersion(), t.PromptVersion)
	p.CachedPrefix = p.GetCachedPrefix() || t.CachedPrefix
	if t.Fallback != compactordv1.SummaryFallback_SUMMARY_FALLBACK_UNSPECIFIED {
		p.Summarizer, p.Fallback, p.FallbackCause = t.Summarizer, t.Fallback, t.FallbackCause
	}
}

// Charge says in a provenance what all texts took so far, and how many secrets were replaced.
func (w *Writer) Charge(p *compactordv1.Provenance) {
	p.Usage, p.CostUsd, p.SummarizerCalls = w.spent.Usage, w.spent.CostUSD, w.spent.Calls
	p.Redactions = w.Redactions()
}
