package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

const (
	byThreshold = compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD
	byOverflow  = compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW
	byHand      = compactordv1.CompactionReason_COMPACTION_REASON_MANUAL
)

func attempted(
	reason compactordv1.CompactionReason, outcome compactordv1.AttemptOutcome,
) *compactordv1.Record {
	return &compactordv1.Record{Kind: &compactordv1.Record_Attempt{
		Attempt: &compactordv1.CompactionAttempt{Provenance: &compactordv1.Provenance{Reason: reason}, Outcome: outcome},
	}}
}

// interrupted is the attempt of a compaction that the end of its daemon interrupted.
func interrupted(reason compactordv1.CompactionReason) *compactordv1.Record {
	r := failedFor(reason)
	r.GetAttempt().ErrorReason = compactordv1.ErrorReason_ERROR_REASON_INTERRUPTED
	return r
}

func failedFor(reason compactordv1.CompactionReason) *compactordv1.Record {
	return attempted(reason, compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_FAILED)
}

// compacted cuts before a message. Entries of older daemons have no operation id, and count too.
func compacted(reason compactordv1.CompactionReason, firstKept uint32) *compactordv1.Record {
	return &compactordv1.Record{Kind: &compactordv1.Record_Compaction{Compaction: &compactordv1.CompactionEntry{
		Id: "c", FirstKeptIndex: firstKept, Summary: "s", Provenance: &compactordv1.Provenance{Reason: reason},
	}}}
}

// edited is a prune with hardly any effect.
func edited(reason compactordv1.CompactionReason, operation string, withCut bool) *compactordv1.Record {
	return &compactordv1.Record{Kind: &compactordv1.Record_Prune{Prune: &compactordv1.PruneEntry{
		Id: "p", Provenance: &compactordv1.Provenance{Reason: reason, OperationId: operation}, WithCut: withCut,
	}}}
}

// triggered is a log above its trigger of 50 tokens, with a window of 100. Its last message alone is above the trigger.
func triggered(trigger *compactordv1.Trigger, window uint32) *sessiontest.Writer {
	policy := &compactordv1.Policy{Trigger: trigger}
	if window > 0 {
		policy.ContextWindow = proto.Uint32(window)
	}
	w := sessiontest.NewWriter(policy)
	w.Append(user("first"), nil)
	w.Append(user("second"), nil)
	w.Append(user(strings.Repeat("x", 400)), nil)
	return w
}

func TestBreakerCounts(t *testing.T) {
	const skipped = compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_SKIPPED
	const cancelled = compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_CANCELLED
	for name, test := range map[string]struct {
		records  []*compactordv1.Record
		failures uint32
	}{
		"failures":              {[]*compactordv1.Record{failedFor(byThreshold), failedFor(byOverflow)}, 2},
		"three":                 {[]*compactordv1.Record{failedFor(byThreshold), failedFor(byThreshold), failedFor(byThreshold)}, 3},
		"skipped after started": {[]*compactordv1.Record{attempted(byThreshold, skipped)}, 1},
		"cancelled":             {[]*compactordv1.Record{attempted(byThreshold, cancelled)}, 0},
		"interrupted":           {[]*compactordv1.Record{interrupted(byThreshold), interrupted(byOverflow)}, 0},
		"interrupted between":   {[]*compactordv1.Record{failedFor(byThreshold), interrupted(byThreshold), failedFor(byThreshold)}, 2},
		"interrupted while open": {[]*compactordv1.Record{
			failedFor(byThreshold), failedFor(byThreshold), failedFor(byThreshold), interrupted(byThreshold), interrupted(byHand),
		}, 3},
		"manual fails":          {[]*compactordv1.Record{failedFor(byThreshold), failedFor(byHand)}, 1},
		"left above":            {[]*compactordv1.Record{compacted(byThreshold, 1), compacted(byOverflow, 2)}, 2},
		"manual completes":      {[]*compactordv1.Record{failedFor(byThreshold), failedFor(byThreshold), compacted(byHand, 1)}, 0},
		"edits of a compaction": {[]*compactordv1.Record{edited(byThreshold, "o", false)}, 1},
		"edits beside a cut":    {[]*compactordv1.Record{edited(byThreshold, "o", true), compacted(byThreshold, 1)}, 1},
		"a prune":               {[]*compactordv1.Record{failedFor(byThreshold), edited(byThreshold, "", false), edited(byHand, "", false)}, 1},
		"no reason":             {[]*compactordv1.Record{compacted(0, 1), failedFor(0)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := triggered(&compactordv1.Trigger{TriggerTokens: proto.Uint32(50)}, 100)
			for _, r := range test.records {
				w.Write(r)
			}
			require.Equal(t, test.failures, w.Head.GetBreaker().GetFailures())
			require.Equal(t, test.failures > 2, session.BreakerClosesAfter(w.Head) > 0)
		})
	}
}

// A compaction that gets below the trigger helps, for every kind of trigger.
func TestBreakerJudgesByEveryTrigger(t *testing.T) {
	for name, trigger := range map[string]*compactordv1.Trigger{
		"tokens": {TriggerTokens: proto.Uint32(60)}, "bytes": {MaxViewBytes: proto.Uint32(300)},
		"groups": {TriggerToolGroups: proto.Uint32(1)},
	} {
		t.Run(name, func(t *testing.T) {
			w := sessiontest.NewWriter(&compactordv1.Policy{Trigger: trigger})
			w.Append(user(strings.Repeat("x", 400)), nil)
			w.Append(assistant(calling("a", "read", "{}")), nil)
			w.Append(answers("a", "1"), nil)
			w.Append(user("last"), nil)
			w.Write(compacted(byThreshold, 1))
			failures := w.Head.GetBreaker().GetFailures()
			require.Equal(t, name == "groups", failures == 1, "the group is kept: %v", w.Head)
			w.Write(compacted(byThreshold, 3))
			require.Nil(t, w.Head.GetBreaker())
		})
	}
}

// The breaker closes after a tenth of the window; without a window, of the trigger; without either, of the view.
func TestBreakerCloses(t *testing.T) {
	for name, test := range map[string]struct {
		trigger *compactordv1.Trigger
		window  uint32
		span    uint32
	}{
		"window":      {&compactordv1.Trigger{TriggerTokens: proto.Uint32(50)}, 300, 30},
		"trigger":     {&compactordv1.Trigger{TriggerTokens: proto.Uint32(50)}, 0, 5},
		"view":        {&compactordv1.Trigger{MaxViewBytes: proto.Uint32(1)}, 0, 10},
		"at least 1":  {&compactordv1.Trigger{TriggerTokens: proto.Uint32(1)}, 9, 1},
		"no triggers": {nil, 0, 10},
	} {
		t.Run(name, func(t *testing.T) {
			w := triggered(test.trigger, test.window)
			for range 3 {
				require.Zero(t, session.BreakerClosesAfter(w.Head))
				w.Write(failedFor(byThreshold))
			}
			require.Equal(t, test.span, session.BreakerClosesAfter(w.Head))
			w.Append(user(strings.Repeat("x", int(4*(test.span-1)))), nil)
			require.Equal(t, uint32(1), session.BreakerClosesAfter(w.Head))
			w.Append(user("x"), nil)
			require.Zero(t, session.BreakerClosesAfter(w.Head))
			w.Write(failedFor(byOverflow))
			require.NotZero(t, session.BreakerClosesAfter(w.Head), "one more opens it again")
		})
	}
}

// A Revert or a change of policy does not change the breaker.
func TestBreakerOutlivesReverts(t *testing.T) {
	w := triggered(&compactordv1.Trigger{TriggerTokens: proto.Uint32(50)}, 100)
	before := session.Point(w.Head)
	for range 3 {
		w.Write(failedFor(byThreshold))
	}
	open := w.Head.GetBreaker()
	revert(w, before)
	require.True(t, proto.Equal(open, w.Head.GetBreaker()))
	revert(w, 0)
	require.True(t, proto.Equal(open, w.Head.GetBreaker()))
	policy := &compactordv1.Policy{ContextWindow: proto.Uint32(10), Trigger: &compactordv1.Trigger{}}
	w.Write(&compactordv1.Record{Kind: &compactordv1.Record_PolicyChange{
		PolicyChange: &compactordv1.PolicyChange{Given: policy, Resolved: policy},
	}})
	require.Equal(t, uint32(10), session.BreakerClosesAfter(w.Head), "a tenth of the window that it had")
}
