package summaries

import (
	"cmp"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// SetWriterIn sets in a provenance who wrote the text. If the provenance already names somebody, that name stays,
// unless the fallback wrote this text.
func (t *Written) SetWriterIn(p *compactordv1.Provenance) {
	p.Summarizer = cmp.Or(p.GetSummarizer(), t.Summarizer)
	p.Model = cmp.Or(p.GetModel(), t.Model)
	p.PromptVersion = max(p.GetPromptVersion(), t.PromptVersion)
	p.CachedPrefix = p.GetCachedPrefix() || t.CachedPrefix
	p.UnsupportedNames += t.UnsupportedNames
	if t.Fallback != compactordv1.SummaryFallback_SUMMARY_FALLBACK_UNSPECIFIED {
		p.Summarizer, p.Fallback, p.FallbackCause = t.Summarizer, t.Fallback, t.FallbackCause
	}
}

// SetCostsIn sets in a provenance the costs of all texts so far, and how many secrets were replaced.
func (w *Writer) SetCostsIn(p *compactordv1.Provenance) {
	p.Usage, p.CostUsd, p.SummarizerCalls = w.spent.Usage, w.spent.CostUSD, w.spent.Calls
	p.Redactions = w.Redactions()
}
