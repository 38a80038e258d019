package strategies

import (
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// inPause says whether a strategy that nests others waits for more content, though compaction is due. Where it is nested
// itself, the outermost has decided.
func inPause(in *Input, s *compactordv1.Strategy) bool {
	return in.whole == nil && in.Reason == compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD &&
		session.PauseEndsAfter(in.State.Head, in.Policy, s) > 0
}
