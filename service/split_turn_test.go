package service_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// Seed case 77: a turn is split, there is no complete turn before it, and the summary before is kept.
func TestCase077PreviousSummarySurvivesASplitTurn(t *testing.T) {
	t.Parallel()
	d, writer := caseDaemon(t, 400,
		user("Never touch the file secrets.txt. "+long(500)), assistant(long(500)), user(long(300)), assistant(long(300)))
	first := d.completed(nil)
	require.Equal(t, uint32(2), first.GetFirstKeptIndex())
	d.append("s", assistant(long(500)), assistant(long(500)))
	writer.requests = nil
	second := d.completed(nil)
	require.Equal(t, uint32(2), second.GetSplitTurnStart())
	require.Contains(t, second.GetSummary(), "secrets.txt")
	require.Len(t, writer.seen(), 1, "only the first part of the turn is new")
	require.Equal(t, summarizers.TurnPrefix, writer.seen()[0].Kind)
	require.Contains(t, second.GetSummary(), first.GetSummary())
}

// Seed case 78: without history before the split turn only the turn is summarized, in one text with the policy's
// sections.
func TestCase078SplitTurnWithoutHistory(t *testing.T) {
	t.Parallel()
	d, writer := caseDaemon(t, 500, user(long(1000)), assistant(long(600)), assistant(long(600)))
	entry := d.completed(nil)
	require.Equal(t, uint32(0), entry.GetSplitTurnStart())
	require.Len(t, writer.seen(), 1)
	require.Equal(t, summarizers.History, writer.seen()[0].Kind)
	require.Len(t, writer.seen()[0].Messages, 2)
	require.True(t, strings.HasPrefix(entry.GetSummary(), "## Goal\n"), entry.GetSummary())
	require.NotContains(t, entry.GetSummary(), "---")
}

// Seed cases 79 and 82: two summaries, each with the focus. Where one fails, nothing is written.
func TestCase079And082SplitTurnWithHistory(t *testing.T) {
	t.Parallel()
	messages := []*compactordv1.Message{
		user(long(1000)), assistant(long(600)), user(long(600)), assistant(long(600)), assistant(long(600)),
	}
	d, writer := caseDaemon(t, 500, messages...)
	req := compactRequest("s", nil)
	req.Focus = "the database"
	_, err := d.compact(req)
	require.NoError(t, err)
	require.Len(t, writer.seen(), 2)
	for i, kind := range []summarizers.Kind{summarizers.History, summarizers.TurnPrefix} {
		req := writer.seen()[i]
		require.Equal(t, kind, req.Kind)
		require.Equal(t, "the database", req.Focus)
		require.Len(t, req.Messages, 2)
		require.Equal(t, uint32(2*i), req.Messages[0].GetIndex(), "seed case 83: each message is in one of them")
	}

	for _, fails := range []summarizers.Kind{summarizers.History, summarizers.TurnPrefix} {
		half := &scripted{name: "writer", do: func(
			ctx context.Context, req *summarizers.Request, p summarizers.Progress,
		) (*summarizers.Summary, error) {
			if req.Kind == fails {
				return nil, errors.New("out of order")
			}
			return faithful(ctx, req, p)
		}}
		d = start(t, withSummarizer(half))
		d.create("s", splitting(500))
		d.append("s", messages...)
		before, records := d.view("s"), len(d.records("s"))
		_, err = d.compact(compactRequest("s", nil))
		requireReason(t, err, codes.Unavailable, "SUMMARIZER_UNAVAILABLE")
		requireSameView(t, before, d.view("s"))
		require.Len(t, d.records("s"), records+1)
		require.NotNil(t, d.lastRecord("s").GetAttempt())
	}
}

// The budget is for the whole summary, also where it has two parts.
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
