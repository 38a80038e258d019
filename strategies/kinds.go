package strategies

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Cuts says whether a strategy of the contract cuts, without what it nests. Prune and on_user_message refuse one that does.
func Cuts(s *compactordv1.Strategy) bool {
	// By the kind alone: in Go it can be set without parameters, and then all defaults hold.
	_, cuts := s.GetKind().(*compactordv1.Strategy_Summarize)
	return cuts
}

// NeedsSummarizer says whether a summarizer writes for a strategy of the contract, without what it nests. Only Compact waits
// for a summarizer.
func NeedsSummarizer(s *compactordv1.Strategy) bool {
	_, compresses := s.GetKind().(*compactordv1.Strategy_CompressObservations)
	return compresses || Cuts(s)
}
