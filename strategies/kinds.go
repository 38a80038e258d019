package strategies

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Cuts says whether a strategy of the contract cuts, apart from what it nests. Prune and on_user_message refuse such a
// strategy.
func Cuts(s *compactordv1.Strategy) bool {
	// Only the kind counts: in Go it can be set without parameters, which means all defaults.
	_, cuts := s.GetKind().(*compactordv1.Strategy_Summarize)
	return cuts
}

// NeedsSummarizer says whether a strategy of the contract needs a summarizer, apart from what it nests. Only Compact
// waits for a summarizer.
func NeedsSummarizer(s *compactordv1.Strategy) bool {
	switch s.GetKind().(type) {
	case *compactordv1.Strategy_CompressObservations, *compactordv1.Strategy_FoldSubtasks:
		return true
	default:
		return Cuts(s)
	}
}
