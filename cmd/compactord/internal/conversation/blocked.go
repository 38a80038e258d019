package conversation

import (
	"fmt"
	"io"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// PrintBlocked says for people why no compaction comes to a session, where one would be due or never is. It prints nothing
// where nothing stands in the way.
func PrintBlocked(a *api.App, session string, r *compactordv1.ContextReport) {
	for _, reason := range r.GetBlockedBy() {
		if reason == compactordv1.BlockedBy_BLOCKED_BY_WINDOW_UNKNOWN {
			fmt.Fprintf(a.Out, "No compaction comes due by itself: the policy of session %s names no context window. %s\n", session,
				NameWindow(a, session))
			continue
		}
		fmt.Fprintln(a.Out, BlockedText(reason, r))
	}
}

// UsualWindow is the context window of many models, in tokens.
const UsualWindow = 200_000

// NameWindow says how to give a session a context window.
func NameWindow(a *api.App, session string) string {
	return "If it has " + terminal.Count(UsualWindow, "token") + ": " +
		a.Hinted(terminal.Command("update", "--context-window", terminal.Digits(UsualWindow), "--session", session))
}

// PrintWarnings says what is probably not meant in a policy.
func PrintWarnings(w io.Writer, warnings []*compactordv1.PolicyWarning) {
	for _, warning := range warnings {
		fmt.Fprintf(w, "%s: %s\n", warning.GetField(), warning.GetText())
	}
}

// BlockedText says for people why no compaction comes to a session whose window is known.
func BlockedText(reason compactordv1.BlockedBy, r *compactordv1.ContextReport) string {
	switch reason {
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
