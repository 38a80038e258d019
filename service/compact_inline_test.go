package service_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/httpapi/httpapitest"
)

// compactOver calls Compact, and returns its events and the view at the end.
func compactOver(
	ctx context.Context, conn grpc.ClientConnInterface, req *compactordv1.CompactRequest,
) (events []*compactordv1.CompactionEvent, view *compactordv1.GetLLMViewResponse, err error) {
	stream, err := compactordv1.NewCompactionServiceClient(conn).Compact(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	for {
		answer, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return events, view, nil
		case err != nil:
			return events, view, err
		case view != nil:
			return events, view, fmt.Errorf("after the view comes %v", answer)
		case answer.GetView() != nil:
			view = answer.GetView()
		default:
			events = append(events, answer.GetEvent())
		}
	}
}

// withView returns a request to compact a history, and to return the view.
func withView(h *compactordv1.InlineHistory, view *compactordv1.CompactedView) *compactordv1.CompactRequest {
	return &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_History{History: h}, Policy: keepTurns(2), View: view,
	}
}

// ofAnthropic returns a conversation of a few turns as Anthropic has it.
func ofAnthropic(turns int, end ...string) *compactordv1.InlineHistory {
	var list []string
	for i := range turns {
		list = append(list, fmt.Sprintf(`{"role":"user","content":"Count pier %d. %s"}`, i, strings.Repeat("tide ", 300)),
			`{"role":"assistant","content":[{"type":"text","text":"Nine."}]}`)
	}
	return &compactordv1.InlineHistory{ProviderJson: &compactordv1.ProviderJson{
		Dialect: anthropic, Json: `{"system":"Be brief.","messages":[` + strings.Join(append(list, end...), ",") + `]}`,
	}}
}

// One call takes a conversation and returns the view after the compaction: what GetLLMView returns for the conversation
// with the entry. It is the same over gRPC and in each protocol over HTTP, and no session is left.
func TestCompactReturnsTheViewOfAHistory(t *testing.T) {
	t.Parallel()
	d := start(t)
	overGRPC := d.connect()
	defer func() { require.NoError(t, overGRPC.Close()) }()
	conns := map[string]grpc.ClientConnInterface{"gRPC": overGRPC}
	for _, protocol := range httpapitest.Protocols {
		conns[string(protocol)] = d.web.conn(protocol)
	}
	for name, conn := range conns {
		history := ofAnthropic(8, `{"role":"user","content":"And all together?"}`)
		events, view, err := compactOver(t.Context(), conn, withView(history, &compactordv1.CompactedView{
			Dialect: anthropic, MarkCacheBreakpoints: true,
		}))
		require.NoError(t, err, name)
		require.NotNil(t, view, name)
		require.Empty(t, view.GetViewToken(), name)
		require.Empty(t, brokenRules(anthropic, view, dialect.Request), name)
		require.Contains(t, view.GetMessagesJson()[0], "Count pier 1.", name)
		require.Contains(t, strings.Join(view.GetMessagesJson(), ""), `"cache_control"`, name)

		history.Compaction = last(t, events).GetCompleted().GetCompaction()
		require.NotNil(t, history.GetCompaction(), name)
		request := historyTarget(history)
		request.Dialect, request.MarkCacheBreakpoints, request.Policy = anthropic, true, keepTurns(2)
		want, err := d.compactions.GetLLMView(t.Context(), request)
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(want, view, protocmp.Transform()), name)
	}
	listed, err := d.sessions.ListSessions(t.Context(), &compactordv1.ListSessionsRequest{})
	require.NoError(t, err)
	require.Empty(t, listed.GetSessions())
}

// Where nothing is done, the view is the conversation.
func TestCompactReturnsTheViewWhereNothingIsDone(t *testing.T) {
	t.Parallel()
	d := start(t)
	conn := d.web.conn(httpapitest.JSON)
	events, view, err := compactOver(t.Context(), conn, withView(&compactordv1.InlineHistory{Messages: turnsWithTools(1)}, &compactordv1.CompactedView{}))
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetSkipped())
	require.Len(t, view.GetMessages(), 5)
}

// What cannot return a view is refused before a summarizer costs anything.
func TestCompactRefusesAViewThatItCouldNotReturn(t *testing.T) {
	t.Parallel()
	writer := &scripted{name: "writer", do: faithful}
	d := start(t, withSummarizer(writer))
	conn := d.web.conn(httpapitest.GRPCWeb)
	d.create("s", nil)
	d.append("s", turnsWithTools(8)...)
	asking := `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"count","input":{}}]}`
	inAnthropic := &compactordv1.CompactedView{Dialect: anthropic}
	ofSession := compactRequest("s", keepTurns(2))
	ofSession.View = inAnthropic
	dry := withView(ofAnthropic(8), inAnthropic)
	dry.DryRun = true
	for name, c := range map[string]struct {
		request      *compactordv1.CompactRequest
		code         codes.Code
		reason, says string
	}{
		"open calls":        {withView(ofAnthropic(8, `{"role":"user","content":"Go."}`, asking), inAnthropic), codes.FailedPrecondition, "TOOL_CALLS_OPEN", "1 tool call waits"},
		"a session":         {ofSession, codes.InvalidArgument, "INVALID_FIELD", "view"},
		"a dry run":         {dry, codes.InvalidArgument, "INVALID_FIELD", "view"},
		"marks, no dialect": {withView(ofAnthropic(8), &compactordv1.CompactedView{MarkCacheBreakpoints: true}), codes.InvalidArgument, "INVALID_FIELD", "view.mark_cache_breakpoints"},
		"unknown dialect":   {withView(ofAnthropic(8), &compactordv1.CompactedView{Dialect: 99}), codes.InvalidArgument, "INVALID_FIELD", "view.dialect"},
	} {
		c.request.Policy = by("writer", noFallback, keepTurns(2))
		events, view, err := compactOver(t.Context(), conn, c.request)
		requireReason(t, err, c.code, c.reason)
		require.Contains(t, status.Convert(err).Message(), c.says, name)
		require.Nil(t, view, name)
		require.Empty(t, events, name)
	}
	require.Empty(t, writer.requests)
}

// A view that is larger than the client wants fails after the last event, so that the summary is not lost.
func TestCompactKeepsTheEntryWhereItsViewIsTooLarge(t *testing.T) {
	t.Parallel()
	d := start(t)
	conn := d.web.conn(httpapitest.JSON)
	events, view, err := compactOver(t.Context(), conn, withView(ofAnthropic(8), &compactordv1.CompactedView{Dialect: anthropic, MaxBytes: 10}))
	info := requireReason(t, err, codes.ResourceExhausted, "LIMIT_EXCEEDED")
	require.Equal(t, map[string]string{"limit": "max_bytes", "value": "10"}, info.GetMetadata())
	require.Nil(t, view)
	require.NotNil(t, last(t, events).GetCompleted().GetCompaction())
}
