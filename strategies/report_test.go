package strategies_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/strategies/strategiestest"
)

// leastReports says how often each class of reports must occur in a run: about a quarter of the usual number.
var leastReports = map[sessiontest.Class]int{
	sessiontest.DueNow:            100,
	sessiontest.BreakerOpen:       4,
	sessiontest.BreakerBlocks:     1,
	sessiontest.TargetUnreachable: 100,
	sessiontest.NothingToCut:      10,
	sessiontest.TriggerDisabled:   5,
}

// After every step of any log, the report says what is due and everything that prevents it, like the model.
func TestReportsOverGeneratedLogs(t *testing.T) {
	t.Parallel()
	counts := make(sessiontest.Counts)
	// Cases that are rare by chance occur in another round; cases that no round generates never occur.
	for range 5 {
		rapid.Check(t, func(t *rapid.T) { requireModelsReports(t, counts) })
		if t.Failed() || testing.Short() || counts.Rare(leastReports) == "" {
			break
		}
	}
	t.Log("\n" + counts.String())
	if !testing.Short() {
		require.Empty(t, counts.Rare(leastReports))
	}
}

func requireModelsReports(t *rapid.T, counts sessiontest.Counts) {
	g := sessiontest.NewGenerator(t, counts)
	for range sessiontest.Steps(t, 60) {
		before := len(g.W.Log.Items)
		g.Step(t)
		if len(g.W.Log.Items) == before {
			continue
		}
		model := strategiestest.ReportModel{Model: g.Model()}
		r := strategies.Report(g.W.Head, g.W.Policy)
		blocked := make(map[compactordv1.BlockedBy]bool)
		for _, by := range r.GetBlockedBy() {
			require.False(t, blocked[by], "%v is listed twice", by)
			blocked[by] = true
		}
		require.Equal(t, model.BlockedBy(), blocked)
		require.Equal(t, model.Due() && len(blocked) == 0, r.GetShouldCompact(), "due")
		require.Equal(t, model.Fixed(), r.GetFixedTokens(), "fixed")
		g.CountHead()
		g.CountReport(r)
	}
}

// A policy without a trigger does not cause a panic.
func TestReportWithoutATrigger(t *testing.T) {
	t.Parallel()
	l := newLog().script("U2")
	policy := &compactordv1.Policy{ContextWindow: proto.Uint32(1)}
	r := strategies.Report(l.head(), policy)
	require.Nil(t, r.TriggerTokens)
	require.False(t, r.GetShouldCompact())
	require.NoError(t, strategies.CheckPolicy(policy))
}

// All reasons that apply are listed, and one is enough to prevent a compaction.
func TestBlockedByEachReason(t *testing.T) {
	t.Parallel()
	h := &storagev1.Head{
		ViewTokens: 60, LeadTokens: 50, AppendedTokens: 7,
		Breaker: &storagev1.Breaker{Failures: 3, OpenedAtTokens: 5, SpanTokens: 3},
	}
	policy := &compactordv1.Policy{Trigger: &compactordv1.Trigger{
		TriggerTokens: proto.Uint32(50), Enabled: proto.Bool(false),
	}}
	r := strategies.Report(h, policy)
	require.Equal(t, []compactordv1.BlockedBy{
		compactordv1.BlockedBy_BLOCKED_BY_BREAKER_OPEN, compactordv1.BlockedBy_BLOCKED_BY_TARGET_UNREACHABLE,
		compactordv1.BlockedBy_BLOCKED_BY_DISABLED,
	}, r.GetBlockedBy())
	require.Equal(t, uint32(1), r.GetBreakerClosesAfterTokens())
	policy.Trigger = &compactordv1.Trigger{MaxViewBytes: proto.Uint32(1)}
	h.ViewBytes, h.Breaker = 1, nil
	require.True(t, strategies.Report(h, policy).GetShouldCompact(), "bytes may fall though tokens cannot")
}

// What no compaction can remove is converted to tokens of the model; tokens that are not in the log are not converted.
func TestFixedTokensAreThoseOfTheModel(t *testing.T) {
	t.Parallel()
	h := &storagev1.Head{
		LeadTokens: 100, TailTokens: 2202, Estimator: compactordv1.Estimator_ESTIMATOR_CALIBRATED,
		Calibration: &storagev1.Calibration{Permille: 1500},
	}
	r := strategies.Report(h, &compactordv1.Policy{OverheadTokens: proto.Uint32(10)})
	require.Equal(t, uint32(10+(100+2200+2)*3/2), r.GetFixedTokens())
}

// Pinned messages in the kept part cannot be removed either.
func TestPinnedInPlaceIsFixed(t *testing.T) {
	t.Parallel()
	l := newLog().script("U100 A1 U1")
	fixed := func() uint32 { return strategies.Report(l.head(), l.policy).GetFixedTokens() }
	require.Equal(t, uint32(1), fixed())
	l.pin(0)
	require.Equal(t, uint32(101), fixed())
	l.script("T2:a")
	l.pin(3)
	l.script("R10:a")
	inTail := fixed()
	l.script("U1")
	require.Equal(t, inTail+1, fixed(), "the tail moves on, the pinned group stays")
}

// Where instructions alone reach the trigger, a compaction cannot bring the context below it. Nevertheless no request is
// over the window: compaction waits until three quarters of the rest are full, and its summary has space in the rest.
func TestInstructionsOverTheTriggerDoNotFillTheWindow(t *testing.T) {
	t.Parallel()
	for name, lead := range map[string]int{"klaude": 8_400, "pi": 12_900, "default": 15_500, "xbot_current": 12_900} {
		p := presetFor(t, name, strategies.Limits{Window: 17_000}, nil)
		l := newLog()
		l.policy = p
		l.script(fmt.Sprintf("S%d U100", lead))
		trigger, ok := session.TriggerTokensIn(l.head(), p)
		require.True(t, ok)
		require.Greater(t, l.head().GetLeadTokens(), trigger, name)
		compactions := 0
		for range 200 {
			l.script("T10 R80 A30")
			report := strategies.Report(l.head(), p)
			require.Less(t, report.GetTokens(), uint32(17_000), name)
			fixed := report.GetFixedTokens()
			raised := 17_000 - (17_000-fixed)/4
			require.Equal(t, report.GetTokens() >= raised, report.GetShouldCompact(), "%s: %d of %d tokens", name, report.GetTokens(), raised)
			require.Equal(t, !report.GetShouldCompact(), slices.Contains(report.GetBlockedBy(), compactordv1.BlockedBy_BLOCKED_BY_TARGET_UNREACHABLE))
			if !report.GetShouldCompact() {
				continue
			}
			made, err := registry().Plan(t.Context(), &strategies.Input{State: l.state(), Policy: p, Reason: due}, p.GetStrategy())
			require.NoError(t, err)
			require.NotNil(t, made.GetCut(), name)
			require.Greater(t, made.GetCut().GetMaxSummaryTokens(), (17_000-fixed)/8, "%s has space for a summary", name)
			l.commit(made, textOf(largestText(l.state(), p, int(made.GetCut().GetMaxSummaryTokens()))))
			compactions++
		}
		require.Greater(t, compactions, 2, name)
	}
}
