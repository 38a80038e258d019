package service_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// An agent was told to compact at each of its steps, and each compaction did nothing, for ever: the strategy kept more
// than the trigger leaves, and no limit ended it.
func TestAnAgentIsNotToldToCompactForEver(t *testing.T) {
	inFull(t)
	t.Parallel()
	for name, c := range map[string]struct {
		policy *compactordv1.Policy
		turns  int
		// outside is the overhead that the provider reports.
		outside uint32
		// tight says that the view has so few tokens left that the breaker may be needed.
		tight bool
	}{
		"trigger_tokens far below the window": {
			policy: &compactordv1.Policy{
				ContextWindow: proto.Uint32(200_000), Trigger: &compactordv1.Trigger{TriggerTokens: proto.Uint32(10_000)},
			},
			turns: 24,
		},
		"trigger_tokens and no window": {
			policy: &compactordv1.Policy{Trigger: &compactordv1.Trigger{TriggerTokens: proto.Uint32(2000)}},
			turns:  9,
		},
		"trigger_tool_groups": {
			policy: &compactordv1.Policy{Trigger: &compactordv1.Trigger{TriggerToolGroups: proto.Uint32(5)}},
			turns:  8,
		},
		"max_view_bytes": {
			policy: &compactordv1.Policy{Trigger: &compactordv1.Trigger{MaxViewBytes: proto.Uint32(3000)}},
			turns:  4, tight: true,
		},
		"nearly all is outside the log": {
			policy: &compactordv1.Policy{ContextWindow: proto.Uint32(40_000)},
			turns:  3, outside: 28_696, tight: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t)
			d.create("s", c.policy)
			for _, m := range working(c.turns, 2000) {
				if m.GetRole() == compactordv1.Role_ROLE_ASSISTANT && c.outside > 0 {
					m.Usage = &compactordv1.Usage{InputTokens: d.estimate("s") + c.outside, OutputTokens: 20}
				}
				d.append("s", m)
			}
			require.True(t, d.report("s").GetShouldCompact())
			require.NotNil(t, d.obey("s").GetCompleted())
			require.False(t, d.report("s").GetShouldCompact())
			require.Empty(t, d.report("s").GetBlockedBy())
			for _, m := range working(40, 2000)[1:] {
				if !d.append("s", m).GetReport().GetShouldCompact() {
					continue
				}
				require.NotEqual(t, compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT, d.obey("s").GetSkipped().GetReason())
				require.True(t, c.tight || !d.report("s").GetShouldCompact(), d.report("s"))
			}
			require.True(t, c.tight || len(d.report("s").GetBlockedBy()) == 0)
		})
	}
}

// obey compacts as the report said, and returns the last event.
func (d *daemon) obey(id string) *compactordv1.CompactionEvent {
	d.t.Helper()
	req := compactRequest(id, nil)
	req.Reason = threshold
	events, err := d.compact(req)
	require.NoError(d.t, err)
	return last(d.t, events)
}

// estimate returns the estimated tokens of a session's view.
func (d *daemon) estimate(id string) uint32 {
	d.t.Helper()
	return d.countTokens(countSession(id, compactordv1.Estimator_ESTIMATOR_UNSPECIFIED)).GetTokens()
}

// Where no cut can lower bytes or tool groups, the report says so. It says should_compact again as soon as a cut is
// possible.
func TestNothingCanBeCut(t *testing.T) {
	t.Parallel()
	for name, trigger := range map[string]*compactordv1.Trigger{
		"bytes":       {MaxViewBytes: proto.Uint32(400)},
		"tool groups": {TriggerToolGroups: proto.Uint32(1)},
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t)
			d.create("s", &compactordv1.Policy{Trigger: trigger})
			turn := working(1, 500)
			report := d.append("s", turn[0], turn[2], turn[3]).GetReport()
			require.False(t, report.GetShouldCompact())
			require.Equal(t, []compactordv1.BlockedBy{compactordv1.BlockedBy_BLOCKED_BY_TARGET_UNREACHABLE}, report.GetBlockedBy())
			require.Equal(t, compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT, d.obey("s").GetSkipped().GetReason())
			require.True(t, d.append("s", user("Go on.")).GetReport().GetShouldCompact())

			_, err := d.sessions.PinMessages(t.Context(), &compactordv1.PinMessagesRequest{
				SessionId: "s", Indexes: []uint32{1},
			})
			require.NoError(t, err)
			require.False(t, d.report("s").GetShouldCompact(), "what is pinned stays")
			require.Equal(t, []compactordv1.BlockedBy{compactordv1.BlockedBy_BLOCKED_BY_TARGET_UNREACHABLE},
				d.report("s").GetBlockedBy())
		})
	}
}

// Prune may hide a result that no cut can remove.
func TestPruneWhereNothingCanBeCut(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := hideAllBut(0)
	policy.Trigger = &compactordv1.Trigger{MaxViewBytes: proto.Uint32(400)}
	d.create("s", policy)
	turn := working(1, 500)
	report := d.append("s", turn[0], turn[2], turn[3]).GetReport()
	require.NotEmpty(t, report.GetBlockedBy())
	answer, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Reason: threshold,
	})
	require.NoError(t, err)
	require.NotNil(t, answer.GetPrune())
	require.Empty(t, answer.GetReport().GetBlockedBy())
}

// In any session and under every preset: a compaction that the report asks for makes the view smaller.
func TestWhatIsDueCanBeCompacted(t *testing.T) {
	t.Parallel()
	counts := make(map[string]int)
	rapid.Check(t, func(t *rapid.T) {
		w := newCheckedService(t, counts, func(low, high int, label string) int { return between(t, low, high, label) })
		defer w.service.Close()
		w.triggered()
		for range between(t, 40, 80, "steps") {
			switch between(t, 0, 39, "step") {
			case 0:
				w.revert()
			case 1:
				w.pin()
			case 2:
				w.prune()
			case 3:
				w.compact(func() {})
			case 4:
				w.triggered()
			default:
				w.message(t)
			}
			// An agent may go on for some messages before it obeys, as within a turn.
			if between(t, 0, 2, "obeys") == 0 {
				w.obey()
			}
		}
		w.obey()
	})
	if !fullRun() {
		return
	}
	for _, what := range []string{"due", "obeyed", "due after it", "blocked"} {
		require.Greater(t, counts[what], 10, what)
	}
}
