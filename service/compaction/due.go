package compaction

import (
	"fmt"
	"slices"
	"strconv"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/strategies"
)

// compactionDue returns an error where a THRESHOLD compaction must not run now: the report that the client acts on may
// be old. Compactions for other reasons may always run.
func compactionDue(reason compactordv1.CompactionReason, h *storagev1.Head, policy *compactordv1.Policy) error {
	if err := pruneDue(reason, h, policy); err != nil {
		return err
	}
	after := session.BreakerClosesAfter(h)
	if reason != compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD || after == 0 {
		return nil
	}
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_BREAKER_OPEN,
		map[string]string{"closes_after_tokens": figure(after)},
		"the last three automatic compactions did not help: the next may run once %d more tokens were appended, "+
			"or after a manual compaction that completes", after)
}

// pruneDue is compactionDue for a prune. The breaker does not stop it, since it needs no summarizer and may help.
func pruneDue(reason compactordv1.CompactionReason, h *storagev1.Head, policy *compactordv1.Policy) error {
	if reason != compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD {
		return nil
	}
	r := strategies.Report(h, policy)
	switch {
	case !session.Due(policy, r), slices.Contains(r.GetBlockedBy(), compactordv1.BlockedBy_BLOCKED_BY_DISABLED):
		return &skip{compactordv1.SkipReason_SKIP_REASON_BELOW_THRESHOLD, notDue(policy, r)}
	case strategies.Unreachable(policy, r):
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_TARGET_UNREACHABLE,
			map[string]string{
				"fixed_tokens":   figure(r.GetFixedTokens()),
				"trigger_tokens": figure(r.GetTriggerTokens()),
			},
			"%d tokens cannot be compacted, and compaction is due at %d: raise the window or lower what is fixed",
			r.GetFixedTokens(), r.GetTriggerTokens())
	default:
		return nil
	}
}

func figure(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

func notDue(policy *compactordv1.Policy, r *compactordv1.ContextReport) string {
	t := policy.GetTrigger()
	switch {
	case slices.Contains(r.GetBlockedBy(), compactordv1.BlockedBy_BLOCKED_BY_DISABLED):
		return "the policy's trigger is disabled, so compaction is never due by itself"
	case slices.Contains(r.GetBlockedBy(), compactordv1.BlockedBy_BLOCKED_BY_WINDOW_UNKNOWN):
		return "the policy has no context_window and no trigger_tokens, so compaction is never due by tokens"
	case r.TriggerTokens != nil:
		return fmt.Sprintf("the context holds %d tokens; compaction is due at %d", r.GetTokens(), r.GetTriggerTokens())
	case t.TriggerToolGroups != nil:
		return fmt.Sprintf("the view holds %d tool groups; compaction is due at %d",
			r.GetToolGroups(), t.GetTriggerToolGroups())
	default:
		return fmt.Sprintf("the view holds %d bytes; compaction is due at %d", r.GetViewBytes(), t.GetMaxViewBytes())
	}
}
