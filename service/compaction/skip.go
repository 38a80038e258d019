package compaction

import (
	"errors"
	"fmt"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// skip ends a compaction or a prune that has nothing to do. It is a result of the call, and an error only inside of the
// package.
type skip struct {
	reason  compactordv1.SkipReason
	message string
}

func (s *skip) Error() string { return s.message }

// asSkip returns the skip in an error, or nil.
func asSkip(err error) *skip {
	var skipped *skip
	errors.As(err, &skipped)
	return skipped
}

// Messages for the limits of a strategy itself.
const (
	belowMinimum = "what could be hidden, or what was appended since the last rewrite, is less than the strategy's minimum"
	// belowStrategysTrigger is for clear_tool_uses, which has its own trigger.
	belowStrategysTrigger = "the context is below the strategy's own trigger"
)

func skipMessage(reason compactordv1.SkipReason, tokens uint32) string {
	switch reason {
	case compactordv1.SkipReason_SKIP_REASON_ALREADY_COMPACTED:
		return "nothing was appended since the last compaction"
	case compactordv1.SkipReason_SKIP_REASON_BELOW_MINIMUM:
		return belowMinimum
	case compactordv1.SkipReason_SKIP_REASON_BELOW_THRESHOLD:
		return belowStrategysTrigger
	default:
		return fmt.Sprintf("nothing to compact: the view's %d tokens are all to be kept", tokens)
	}
}

func pruneSkipMessage(reason compactordv1.SkipReason) string {
	switch reason {
	case compactordv1.SkipReason_SKIP_REASON_BELOW_MINIMUM:
		return belowMinimum
	case compactordv1.SkipReason_SKIP_REASON_BELOW_THRESHOLD:
		return belowStrategysTrigger
	default:
		return "nothing to hide: every tool result is protected, hidden already or too short to gain by it"
	}
}
