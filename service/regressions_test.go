package service_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// A view as of a point, drawn under another placement of the summary, is another view.
func TestDeltaAfterAChangeOfPlacement(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	asOf := viewRequest()
	asOf.AsOf = proto.Uint32(d.append("s", user("more")).GetPoint())
	before, err := d.compactions.GetLLMView(t.Context(), asOf)
	require.NoError(t, err)
	policy := small(1000)
	policy.Summary = &compactordv1.SummaryPolicy{
		Placement: compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_SYSTEM.Enum(),
	}
	_, err = d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "s", UpdateMask: mask("policy"), Policy: policy,
	})
	require.NoError(t, err)
	asOf.ViewToken = before.GetViewToken()
	after, err := d.compactions.GetLLMView(t.Context(), asOf)
	require.NoError(t, err)
	require.Zero(t, after.GetUnchangedPrefix())
	require.Equal(t, compactordv1.Role_ROLE_SYSTEM, after.GetMessages()[1].GetMessage().GetRole())
}

// What weighs in bytes and not in tokens is compacted where bytes were the trigger.
func TestCompactsByBytesWhereBytesWereTheTrigger(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := small(5)
	policy.Trigger = &compactordv1.Trigger{MaxViewBytes: proto.Uint32(200_000)}
	d.create("s", policy)
	for range 8 {
		heavy := assistant("noted")
		heavy.GetParts()[0].Attachments = []*compactordv1.Attachment{{
			Dialect: compactordv1.Dialect_DIALECT_OPENAI_RESPONSES, Key: "encrypted_content",
			Json: `"` + strings.Repeat("x", 50_000) + `"`,
		}}
		d.append("s", user("go on"), heavy)
	}
	req := compactRequest("s", nil)
	req.Reason = compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD
	events, err := d.compact(req)
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetCompleted(), "%v", last(t, events))
	require.Less(t, last(t, events).GetCompleted().GetReport().GetViewBytes(), uint32(200_000))
	require.False(t, last(t, events).GetCompleted().GetReport().GetShouldCompact())
}

// A summary that is no text goes the way of other bad summaries, and a stream may break within a character.
func TestSummaryThatIsNotUTF8(t *testing.T) {
	t.Parallel()
	broken := &scripted{name: "broken", do: func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		p.Text("\xe4")
		p.Text("\xb8\xad \xff")
		// But for its last bytes it is a good one.
		s, err := faithful(ctx, req, unheard{})
		if err == nil {
			s.Text += "\xe4\xb8"
		}
		return s, err
	}}
	d := start(t, withSummarizer(broken))
	d.create("s", by("broken", fallingBack, small(1000)))
	d.append("s", working(10, 2000)...)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.Equal(t, fallingBack, last(t, events).GetCompleted().GetCompaction().GetFallback())
	var first string
	for _, e := range events {
		if delta := e.GetSummaryDelta(); delta.GetAttempt() == 1 {
			first += delta.GetText()
		}
	}
	require.Equal(t, "中 \uFFFD", first)
}

// unheard is progress that nobody follows.
type unheard struct{}

func (unheard) Read(uint32) {}
func (unheard) Text(string) {}
func (unheard) Again()      {}

// The budget is for all of a summary, also where it has two parts.
func TestSplitSummaryStaysWithinItsBudget(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user(long(1000)), assistant(long(600)), user(long(600)), assistant(long(600)), assistant(long(600)))
	point := proto.Uint32(5)
	for _, budget := range []uint32{64, 80, 100, 130, 200, 250, 400} {
		policy := small(500)
		policy.GetStrategy().GetSummarize().MaxSummaryTokens = proto.Uint32(budget)
		events, err := d.compact(compactRequest("s", policy))
		require.NoError(t, err)
		entry := last(t, events).GetCompleted().GetCompaction()
		require.NotNil(t, entry.SplitTurnStart)
		counter, err := session.CounterFor(compactordv1.Estimator_ESTIMATOR_CHARS4)
		require.NoError(t, err)
		require.LessOrEqual(t, session.TextTokens(counter, entry.GetSummary()), budget)
		_, err = d.sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
			SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Point{Point: *point},
		})
		require.NoError(t, err)
	}
}

// A steering message that came between view and answer is counted, though the provider's report cannot know it.
func TestReportThatMissedAMessageIsNotTrusted(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", user("begin"))
	h := &holder{daemon: d}
	h.refresh(0)
	d.append("s", user(long(30_000)))
	answer := assistant("done")
	answer.Usage = &compactordv1.Usage{InputTokens: 10, OutputTokens: 1}
	got, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{answer}, ViewToken: h.token,
	})
	require.NoError(t, err)
	require.Greater(t, got.GetReport().GetTokens(), uint32(29_000))
	require.True(t, got.GetReport().GetShouldCompact())
}

// Figures of a view are those of the whole view, whatever of it an answer holds.
func TestDeltaReportsTheWholeView(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", working(5, 2000)...)
	req := viewRequest()
	whole, err := d.compactions.GetLLMView(t.Context(), req)
	require.NoError(t, err)
	req.ViewToken = whole.GetViewToken()
	delta, err := d.compactions.GetLLMView(t.Context(), req)
	require.NoError(t, err)
	require.Empty(t, delta.GetMessages())
	require.Equal(t, whole.GetViewReport().GetTokens(), delta.GetViewReport().GetTokens())
	require.Equal(t, whole.GetViewReport().GetBytes(), delta.GetViewReport().GetBytes())
}

// A dry run reports the context as it is.
func TestPruneDryRunReportsTheContextAsItIs(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	before := d.append("s", working(5, 4000)...).GetReport()
	answer, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Policy: hideAllBut(1), DryRun: true,
	})
	require.NoError(t, err)
	require.NotEmpty(t, answer.GetPrune().GetEdits())
	require.Empty(t, answer.GetPrune().GetId())
	require.True(t, proto.Equal(before, answer.GetReport()))
	require.Len(t, d.records("s"), 1)
}

// A session that was created anew does not wait for a compaction of its former life.
func TestCompactionOfAFormerLifeHoldsUpNobody(t *testing.T) {
	t.Parallel()
	g := newGate()
	d := start(t, withHooks(service.Hooks{BeforePlan: g.hold}))
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := d.compactCtx(ctx, compactRequest("s", nil))
		first <- err
	}()
	<-g.reached
	_, err := d.sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	d.create("s", small(1000))
	d.append("s", working(10, 2000)...)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetCompleted())
	cancel()
	require.Error(t, <-first)
}

func TestUpdateMasksThatMakeNoSense(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	for _, paths := range [][]string{{}, {"title", "title"}} {
		_, err := d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
			SessionId: "s", UpdateMask: mask(paths...),
		})
		requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
		require.ErrorContains(t, err, "update_mask.paths")
	}
	_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{
		Policy: &compactordv1.Policy{PruneStrategy: small(1).GetStrategy()},
	})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	require.ErrorContains(t, err, "policy.prune_strategy")
}

// Pages of entries stay below what raw stubs take.
func TestPagesOfCompactionsStaySmall(t *testing.T) {
	inFull(t)
	t.Parallel()
	wordy := &scripted{name: "wordy", do: func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		s, err := faithful(ctx, req, p)
		if err == nil {
			s.Text += "\n" + strings.Repeat("more ", 60_000)
		}
		return s, err
	}}
	d := start(t, withSummarizer(wordy))
	policy := by("wordy", noFallback, small(500))
	policy.GetStrategy().GetSummarize().MaxSummaryTokens = proto.Uint32(200_000)
	d.create("s", policy)
	for range 16 {
		d.append("s", user(long(270_000)), assistant("fine"), user("next"), assistant(long(600)))
		_, err := d.compact(compactRequest("s", nil))
		require.NoError(t, err)
	}
	seen := 0
	req := &compactordv1.ListCompactionsRequest{SessionId: "s", PageSize: 1000}
	for {
		page, err := d.compactions.ListCompactions(t.Context(), req)
		require.NoError(t, err)
		require.Less(t, proto.Size(page), 4<<20)
		seen += len(page.GetCompactions())
		if page.GetNextPageToken() == "" {
			break
		}
		req.PageToken = page.GetNextPageToken()
	}
	completed, _ := d.ends("s")
	require.Equal(t, completed, seen)
	require.Greater(t, seen, 12, "more than fit into one page")
}
