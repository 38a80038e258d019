package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestUnknownSessionsAndNames(t *testing.T) {
	t.Parallel()
	d := start(t)
	ctx := t.Context()
	_, err := d.sessions.GetSession(ctx, &compactordv1.GetSessionRequest{SessionId: "none"})
	info := requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
	require.Equal(t, "none", info.GetMetadata()["session_id"])
	_, err = d.compact(compactRequest("none", nil))
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
	_, err = d.sessions.DeleteSession(ctx, &compactordv1.DeleteSessionRequest{SessionId: "none"})
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")

	d.create("s", nil)
	_, err = d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: "s"})
	requireReason(t, err, codes.AlreadyExists, "SESSION_EXISTS")
	_, err = d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{
		Policy: &compactordv1.Policy{Preset: proto.String("nobody")},
	})
	requireReason(t, err, codes.InvalidArgument, "UNKNOWN_NAME")
	require.ErrorContains(t, err, "default")
	_, err = d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{
		Policy: &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{Summarizer: proto.String("nobody")}},
	})
	requireReason(t, err, codes.InvalidArgument, "UNKNOWN_NAME")
	require.ErrorContains(t, err, "extractive")
}

func TestUpdateSession(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	ctx := t.Context()
	answer, err := d.sessions.UpdateSession(ctx, &compactordv1.UpdateSessionRequest{
		SessionId: "s", UpdateMask: mask("labels", "policy"), Labels: map[string]string{"team": "blue"},
		Title: "not in the mask", Policy: &compactordv1.Policy{ContextWindow: proto.Uint32(1000)},
	})
	require.NoError(t, err)
	require.Equal(t, "blue", answer.GetSession().GetLabels()["team"])
	require.Empty(t, answer.GetSession().GetTitle())
	require.Equal(t, uint32(1000), answer.GetSession().GetResolvedPolicy().GetContextWindow())
	require.Equal(t, uint32(250), answer.GetSession().GetResolvedPolicy().GetTrigger().GetReserveTokens())
	require.NotNil(t, d.lastRecord("s").GetPolicyChange())
	_, err = d.sessions.UpdateSession(ctx, &compactordv1.UpdateSessionRequest{SessionId: "s", UpdateMask: mask("uid")})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	require.ErrorContains(t, err, "update_mask.paths[0]")
}

func TestListSessionsByLabelAndPage(t *testing.T) {
	t.Parallel()
	d := start(t)
	ctx := t.Context()
	for i := range 25 {
		_, err := d.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{
			SessionId: fmt.Sprintf("s%02d", i), Labels: map[string]string{"odd": fmt.Sprint(i % 2)},
		})
		require.NoError(t, err)
	}
	var ids []string
	req := &compactordv1.ListSessionsRequest{PageSize: 4, Labels: map[string]string{"odd": "1"}}
	for {
		page, err := d.sessions.ListSessions(ctx, req)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.GetSessions()), 4)
		for _, s := range page.GetSessions() {
			ids = append(ids, s.GetSessionId())
		}
		if page.GetNextPageToken() == "" {
			break
		}
		req.PageToken = page.GetNextPageToken()
	}
	require.Len(t, ids, 12)
	require.True(t, slices.IsSortedFunc(ids, func(a, b string) int { return strings.Compare(b, a) }), "newest first: %v", ids)

	d.append("s03", user("hello"))
	page, err := d.sessions.ListSessions(ctx, &compactordv1.ListSessionsRequest{
		PageSize: 1, Order: compactordv1.SessionOrder_SESSION_ORDER_CHANGED,
	})
	require.NoError(t, err)
	require.Equal(t, "s03", page.GetSessions()[0].GetSessionId())
	_, err = d.sessions.ListSessions(ctx, &compactordv1.ListSessionsRequest{PageToken: "made up"})
	requireReason(t, err, codes.InvalidArgument, "INVALID_TOKEN")
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

// Pages of sessions are not larger than plain gRPC stubs accept, however large labels are.
func TestPagesOfSessionsStaySmall(t *testing.T) {
	t.Parallel()
	d := start(t)
	labels := make(map[string]string)
	for i := range 64 {
		labels[fmt.Sprintf("label-%d", i)] = strings.Repeat("x", 512)
	}
	const sessions = 150
	for i := range sessions {
		_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{
			SessionId: fmt.Sprintf("s%d", i), Labels: labels,
		})
		require.NoError(t, err)
	}
	seen := 0
	req := &compactordv1.ListSessionsRequest{PageSize: 1000}
	for {
		page, err := d.sessions.ListSessions(t.Context(), req)
		require.NoError(t, err)
		require.Less(t, proto.Size(page), 4<<20)
		seen += len(page.GetSessions())
		if page.GetNextPageToken() == "" {
			break
		}
		req.PageToken = page.GetNextPageToken()
	}
	require.Equal(t, sessions, seen)
}
