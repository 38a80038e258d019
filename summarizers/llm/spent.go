package llm

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// spent adds up what requests cost.
type spent struct {
	calls, retries uint32
	// rejected are the checks that refused a text which was then written again.
	rejected []string
	model    string
	usage    *compactordv1.Usage
}

// add adds a request. Its answer may be nil.
func (s *spent) add(a *Answer) {
	s.calls++
	if a == nil {
		return
	}
	if a.Model != "" {
		s.model = a.Model
	}
	s.usage = session.AddUsage(s.usage, a.Usage)
}

// cost returns what a usage costs in US dollars, or nil if the price or the usage is unknown.
func cost(price *compactordv1.TokenPrice, u *compactordv1.Usage) *float64 {
	if price == nil || u == nil {
		return nil
	}
	dollars := (float64(u.GetInputTokens())*price.GetInput() + float64(u.GetOutputTokens())*price.GetOutput() +
		float64(u.GetCacheReadTokens())*price.GetCacheRead() + float64(u.GetCacheWriteTokens())*price.GetCacheWrite()) / 1e6
	return &dollars
}
