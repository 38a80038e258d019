package service_test

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/summarizers"
)

const (
	manual    = compactordv1.CompactionReason_COMPACTION_REASON_MANUAL
	threshold = compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD
)

// neverWriting returns a summarizer that never writes a summary.
func neverWriting() *scripted {
	return &scripted{name: "broken", do: func(
		context.Context, *summarizers.Request, summarizers.Progress,
	) (*summarizers.Summary, error) {
		return nil, errors.New("no")
	}}
}

// report returns a session's context report.
func (d *daemon) report(id string) *compactordv1.ContextReport {
	d.t.Helper()
	answer, err := d.sessions.GetSession(d.t.Context(), &compactordv1.GetSessionRequest{SessionId: id})
	require.NoError(d.t, err)
	return answer.GetReport()
}

// compactFor compacts with a reason.
func (d *daemon) compactFor(
	reason compactordv1.CompactionReason, policy *compactordv1.Policy,
) ([]*compactordv1.CompactionEvent, error) {
	req := compactRequest("s", policy)
	req.Reason = reason
	return d.compact(req)
}

// full creates a session over its trigger whose policy names a summarizer that always fails.
func full(t *testing.T, d *daemon) {
	t.Helper()
	d.create("s", by("broken", noFallback, small(1000)))
	d.append("s", working(30, 2000)...)
	require.True(t, d.report("s").GetShouldCompact())
}

// opened returns such a session after three attempts.
func opened(t *testing.T) (*daemon, *scripted) {
	t.Helper()
	writer := neverWriting()
	d := start(t, withSummarizer(writer))
	full(t, d)
	for range 3 {
		require.True(t, d.report("s").GetShouldCompact())
		_, err := d.compactFor(threshold, nil)
		require.Error(t, err)
	}
	return d, writer
}

func requireOpen(t *testing.T, d *daemon) {
	t.Helper()
	r := d.report("s")
	require.False(t, r.GetShouldCompact())
	require.Equal(t, []compactordv1.BlockedBy{compactordv1.BlockedBy_BLOCKED_BY_BREAKER_OPEN}, r.GetBlockedBy())
	require.Positive(t, r.GetBreakerClosesAfterTokens())
}

func requireClosed(t *testing.T, d *daemon) {
	t.Helper()
	require.Zero(t, d.report("s").GetBreakerClosesAfterTokens())
	require.Empty(t, d.report("s").GetBlockedBy())
}

// oh-my-pi#8920: 90 failed compactions in three days. An agent that compacts whenever the report says so stops after
// three.
func TestAnAgentStopsAfterThreeFailures(t *testing.T) {
	t.Parallel()
	writer := neverWriting()
	d := start(t, withSummarizer(writer))
	full(t, d)
	var attempts int
	for range 90 {
		r := d.append("s", user("Go on.")).GetReport()
		if !r.GetShouldCompact() {
			continue
		}
		attempts++
		_, err := d.compactFor(threshold, nil)
		require.Error(t, err)
	}
	require.Equal(t, 3, attempts)
	require.Len(t, d.attempts(), 3)
	require.NotEmpty(t, writer.seen())
	requireOpen(t, d)
}

// attempts returns the attempts of session s.
func (d *daemon) attempts() []*compactordv1.CompactionAttempt {
	d.t.Helper()
	answer, err := d.sessions.ListRecords(d.t.Context(), &compactordv1.ListRecordsRequest{SessionId: "s", PageSize: 1000})
	require.NoError(d.t, err)
	var found []*compactordv1.CompactionAttempt
	for _, r := range answer.GetRecords() {
		if a := r.GetAttempt(); a != nil {
			found = append(found, a)
		}
	}
	return found
}

// senpi#529: callers that did not check the breaker ignored it, and 12 prompts caused 12 compactions.
func TestTheBreakerStopsCallersThatDoNotCheck(t *testing.T) {
	t.Parallel()
	d, writer := opened(t)
	asked := len(writer.seen())
	requireOpen(t, d)
	for range 12 {
		events, err := d.compactFor(threshold, nil)
		require.Empty(t, events)
		info := requireReason(t, err, codes.FailedPrecondition, "BREAKER_OPEN")
		require.Equal(t, strconv.Itoa(int(d.report("s").GetBreakerClosesAfterTokens())), info.GetMetadata()["closes_after_tokens"])
		d.append("s", user("Go on."))
	}
	require.Len(t, writer.seen(), asked, "no summarizer is asked")
	require.Len(t, d.attempts(), 3, "what was refused is no attempt")
}

// A tenth of the window of new tokens closes the breaker. Then a single failure opens it again.
func TestTheBreakerClosesByWhatIsAppended(t *testing.T) {
	t.Parallel()
	d, _ := opened(t)
	require.Equal(t, uint32(2000), d.report("s").GetBreakerClosesAfterTokens(), "a tenth of 20,000")
	d.append("s", user(strings.Repeat("x", 4*1999)))
	requireOpen(t, d)
	require.Equal(t, uint32(1), d.report("s").GetBreakerClosesAfterTokens())
	d.append("s", user("x"))
	requireClosed(t, d)
	require.True(t, d.report("s").GetShouldCompact())
	_, err := d.compactFor(threshold, nil)
	require.Error(t, err)
	requireOpen(t, d)
	require.Equal(t, uint32(2000), d.report("s").GetBreakerClosesAfterTokens())
}

func TestAManualCompactionClosesTheBreaker(t *testing.T) {
	t.Parallel()
	d, _ := opened(t)
	_, err := d.compactFor(manual, nil)
	require.Error(t, err)
	requireOpen(t, d)
	require.Equal(t, uint32(2000), d.report("s").GetBreakerClosesAfterTokens(), "one that fails changes nothing")
	events, err := d.compactFor(manual, by("extractive", noFallback, small(1000)))
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetCompleted())
	require.NotEmpty(t, last(t, events).GetCompleted().GetCompaction().GetProvenance().GetOperationId())
	require.Equal(t, events[0].GetOperationId(), last(t, events).GetCompleted().GetCompaction().GetProvenance().GetOperationId())
	requireClosed(t, d)
}

// A revert to before it opened, another policy and a restart do not close the breaker. A prune may help, so it runs.
func TestWhatDoesNotCloseTheBreaker(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	d := start(t, withSummarizer(neverWriting()), withStore(openStore(t, path)))
	full(t, d)
	before := d.report("s")
	for range 3 {
		_, err := d.compactFor(threshold, nil)
		require.Error(t, err)
	}
	_, err := d.sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: 121},
	})
	require.NoError(t, err)
	require.Equal(t, before.GetTokens(), d.report("s").GetTokens())
	requireOpen(t, d)
	for _, window := range []uint32{18_000, 21_000} {
		policy := by("broken", noFallback, small(1000))
		policy.ContextWindow = proto.Uint32(window)
		_, err := d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
			SessionId: "s", Policy: policy, UpdateMask: mask("policy"),
		})
		require.NoError(t, err)
		requireOpen(t, d)
		require.Equal(t, uint32(2000), d.report("s").GetBreakerClosesAfterTokens())
	}
	d.stop()
	d = start(t, withSummarizer(neverWriting()), withStore(openStore(t, path)))
	requireOpen(t, d)
	problems, err := sessionlog.Check(t.Context(), d.store, "")
	require.NoError(t, err)
	require.Empty(t, problems)
	pruned, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Reason: threshold, Policy: hideAllBut(1),
	})
	require.NoError(t, err)
	require.NotNil(t, pruned.GetPrune())
	require.Empty(t, pruned.GetPrune().GetProvenance().GetOperationId())
}

// A compaction that helps resets the count. A cancelled one does not count.
func TestWhatCountsForTheBreaker(t *testing.T) {
	t.Parallel()
	fails := true
	writer := &scripted{name: "broken", do: func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		if fails {
			return nil, errors.New("no")
		}
		return faithful(ctx, req, p)
	}}
	d := start(t, withSummarizer(writer))
	full(t, d)
	for range 2 {
		_, err := d.compactFor(threshold, nil)
		require.Error(t, err)
	}
	fails = false
	events, err := d.compactFor(threshold, nil)
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetCompleted())
	fails = true
	d.append("s", working(30, 2000)[1:]...)
	for range 2 {
		_, err := d.compactFor(threshold, nil)
		require.Error(t, err)
	}
	requireClosed(t, d)
	require.True(t, d.report("s").GetShouldCompact())
}

func TestACancelledCompactionDoesNotCount(t *testing.T) {
	t.Parallel()
	var cancel context.CancelFunc
	writer := &scripted{name: "broken", do: func(
		ctx context.Context, _ *summarizers.Request, _ summarizers.Progress,
	) (*summarizers.Summary, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	d := start(t, withSummarizer(writer))
	full(t, d)
	for range 4 {
		ctx, stop := context.WithCancel(t.Context())
		cancel = stop
		req := compactRequest("s", nil)
		req.Reason, req.Preempt = threshold, true
		_, err := d.compactCtx(ctx, req)
		stop()
		require.Error(t, err)
	}
	d.waitForCompactions()
	require.Len(t, d.attempts(), 4)
	requireClosed(t, d)
}

// waitForCompactions waits until no compaction of the session runs, by preempting one.
func (d *daemon) waitForCompactions() {
	d.t.Helper()
	req := compactRequest("s", nil)
	req.DryRun, req.Preempt = true, true
	_, err := d.compact(req)
	require.NoError(d.t, err)
}

// tight returns a policy that leaves so little beside the fixed tokens that any summary fills it.
func tight() *compactordv1.Policy {
	policy := small(6000)
	policy.OverheadTokens = proto.Uint32(4950)
	policy.Trigger = &compactordv1.Trigger{TriggerTokens: proto.Uint32(5000)}
	return policy
}

// openai/codex#23585: turns alternated between work and compactions that left the context at the trigger.
func TestCompactionsThatLeaveItFullOpenTheBreaker(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", tight())
	d.append("s", working(30, 2000)...)
	compactions := 0
	for range 60 {
		r := d.append("s", working(1, 400)[1:]...).GetReport()
		if !r.GetShouldCompact() {
			require.Equal(t, []compactordv1.BlockedBy{compactordv1.BlockedBy_BLOCKED_BY_BREAKER_OPEN}, r.GetBlockedBy())
			continue
		}
		events, err := d.compactFor(threshold, nil)
		require.NoError(t, err)
		require.NotNil(t, events[0].GetStarted())
		require.GreaterOrEqual(t, d.report("s").GetTokens(), uint32(5000), "it completed or gained nothing")
		compactions++
	}
	require.Equal(t, 7, compactions, "three, and then one after each tenth of the window that was appended")
}

// After a compaction that left the context full, there is no second one on the same state, though the report still says
// that compaction is due.
func TestCase044NotAgainOnTheSameState(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", tight())
	d.append("s", working(30, 2000)...)
	events, err := d.compactFor(threshold, nil)
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetCompleted())
	require.GreaterOrEqual(t, d.report("s").GetTokens(), uint32(5000))
	for range 5 {
		events, err = d.compactFor(threshold, nil)
		require.NoError(t, err)
		require.Len(t, events, 1)
		require.Equal(t, compactordv1.SkipReason_SKIP_REASON_ALREADY_COMPACTED, events[0].GetSkipped().GetReason())
	}
}

// Compactions that only edit count, too: each has its operation id, and three that leave the context full open the
// breaker.
func TestCompactionsThatOnlyEditCount(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := hideAllBut(1)
	policy.Strategy, policy.Trigger = policy.GetPruneStrategy(), &compactordv1.Trigger{TriggerTokens: proto.Uint32(100)}
	d.create("s", policy)
	for range 3 {
		require.True(t, d.append("s", working(2, 2000)[1:]...).GetReport().GetShouldCompact())
		events, err := d.compactFor(threshold, nil)
		require.NoError(t, err)
		prune := last(t, events).GetCompleted().GetPrune()
		require.Equal(t, events[0].GetOperationId(), prune.GetProvenance().GetOperationId())
		require.False(t, prune.GetWithCut())
	}
	requireOpen(t, d)
}

// A provider that answers 500 opens the breaker like any failure, and is not asked while it is open. The next committed
// summary closes it.
func TestAProviderThatFailsOpensTheBreaker(t *testing.T) {
	t.Parallel()
	model := persisting(fails(&summarizers.ProviderError{Status: 500, Retryable: true}))
	d := start(t, withSummarizer(model))
	d.create("s", by("model", noFallback, small(1000)))
	d.append("s", working(30, 2000)...)
	for range 3 {
		require.True(t, d.report("s").GetShouldCompact())
		_, err := d.compactFor(threshold, nil)
		info := requireReason(t, err, codes.Unavailable, "SUMMARIZER_UNAVAILABLE")
		require.Equal(t, "500", info.GetMetadata()["http_status"])
	}
	requireOpen(t, d)
	asked := len(model.seen())
	_, err := d.compactFor(threshold, nil)
	requireReason(t, err, codes.FailedPrecondition, "BREAKER_OPEN")
	require.Len(t, model.seen(), asked)

	model.do = faithful
	_, err = d.compactFor(manual, nil)
	require.NoError(t, err)
	requireClosed(t, d)
}
