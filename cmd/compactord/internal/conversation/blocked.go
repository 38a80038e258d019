package conversation

import (
	"fmt"
	"io"

	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// PrintBlocked says for people why no compaction comes, where one would be due or never is. It prints nothing where
// nothing stands in the way.
func PrintBlocked(w io.Writer, r *compactordv1.ContextReport) {
	for _, reason := range r.GetBlockedBy() {
		fmt.Fprintln(w, blockedText(reason, r))
	}
}

// PrintWarnings says what is probably not meant in a policy.
func PrintWarnings(w io.Writer, warnings []*compactordv1.PolicyWarning) {
	for _, warning := range warnings {
		fmt.Fprintf(w, "%s: %s\n", warning.GetField(), warning.GetText())
	}
}

func blockedText(reason compactordv1.BlockedBy, r *compactordv1.ContextReport) string {
	switch reason {
	case compactordv1.BlockedBy_BLOCKED_BY_WINDOW_UNKNOWN:
		return "No compaction comes due by itself: the policy names no context window (--context-window of import for a " +
			"new session, of update for one that exists)."
	case compactordv1.BlockedBy_BLOCKED_BY_DISABLED:
		return "No compaction comes due by itself: the trigger of the policy is disabled."
	case compactordv1.BlockedBy_BLOCKED_BY_BREAKER_OPEN:
		return fmt.Sprintf("Compaction is due, but the last three did not help. It is tried again after %s more.",
			terminal.Count(r.GetBreakerClosesAfterTokens(), "token"))
	case compactordv1.BlockedBy_BLOCKED_BY_TARGET_UNREACHABLE:
		return "Compaction would not help now: it could remove nothing, or too little to come below the trigger."
	case compactordv1.BlockedBy_BLOCKED_BY_PAUSE:
		return fmt.Sprintf("Compaction is due, but too little is new since the last one. It waits for %s more.",
			terminal.Count(r.GetPauseEndsAfterTokens(), "token"))
	default:
		return "No compaction comes, for a reason that this version does not know."
	}
}
