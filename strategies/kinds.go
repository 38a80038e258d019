package strategies

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Cuts says whether a strategy of the contract cuts, what it nests aside. Prune and on_user_message do not take it then.
func Cuts(s *compactordv1.Strategy) bool { return s.GetSummarize() != nil }

// NeedsSummarizer says whether a summarizer writes for a strategy of the contract, what it nests aside. Only Compact waits
// for one.
func NeedsSummarizer(s *compactordv1.Strategy) bool {
	return s.GetSummarize() != nil || s.GetCompressObservations() != nil
}

// nests says whether a strategy only runs others.
func nests(s *compactordv1.Strategy) bool {
	return s.GetLadder() != nil || s.GetFirstEffective() != nil
}
