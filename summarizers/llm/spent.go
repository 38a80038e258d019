package llm

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// spent adds up what requests took.
type spent struct {
	calls uint32
	model string
	usage *compactordv1.Usage
	// total is the sum of all requests' totals; told where a provider gave one of its own.
	total uint32
	told  bool
}

// add adds a request, whose answer may be nil.
func (s *spent) add(a *Answer) {
	s.calls++
	if a == nil {
		return
	}
	if a.Model != "" {
		s.model = a.Model
	}
	if a.Usage == nil {
		return
	}
	if s.usage == nil {
		s.usage = &compactordv1.Usage{}
	}
	s.usage.InputTokens += a.Usage.GetInputTokens()
	s.usage.OutputTokens += a.Usage.GetOutputTokens()
	s.usage.CacheReadTokens += a.Usage.GetCacheReadTokens()
	s.usage.CacheWriteTokens += a.Usage.GetCacheWriteTokens()
	// A total wins over the sum of the others, so it has to hold the requests that came without one.
	s.total += session.ReportedTokens(a.Usage)
	if s.told = s.told || a.Usage.GetTotalTokens() > 0; s.told {
		s.usage.TotalTokens = s.total
	}
}

// cost is what a usage costs in US dollars; nil where the price or the usage is not known.
func cost(price *compactordv1.TokenPrice, u *compactordv1.Usage) *float64 {
	if price == nil || u == nil {
		return nil
	}
	dollars := (float64(u.GetInputTokens())*price.GetInput() + float64(u.GetOutputTokens())*price.GetOutput() +
		float64(u.GetCacheReadTokens())*price.GetCacheRead() + float64(u.GetCacheWriteTokens())*price.GetCacheWrite()) / 1e6
	return &dollars
}
