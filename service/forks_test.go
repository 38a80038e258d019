package service_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// forksOf returns the ids of the forks of a session, and how many pages it took.
func (d *daemon) forksOf(req *compactordv1.ListSessionsRequest) (ids []string, pages int) {
	d.t.Helper()
	for {
		page, err := d.sessions.ListSessions(d.t.Context(), req)
		require.NoError(d.t, err)
		require.LessOrEqual(d.t, len(page.GetSessions()), int(max(req.GetPageSize(), 1)))
		for _, s := range page.GetSessions() {
			require.Equal(d.t, req.GetForkedFromSessionId(), s.GetForkedFrom().GetSessionId())
			ids = append(ids, s.GetSessionId())
		}
		pages++
		if req.PageToken = page.GetNextPageToken(); req.GetPageToken() == "" {
			return ids, pages
		}
	}
}

// Forks are listed by the session that they come from, whoever has its id later: neither its children nor forks of forks.
func TestListForks(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("older", nil)
	d.create("s", nil)
	for i := range 3 {
		d.fork(&compactordv1.ForkSessionRequest{SessionId: "s", NewSessionId: fmt.Sprintf("f%d", i), Labels: map[string]string{"n": fmt.Sprint(i % 2)}})
		d.create(fmt.Sprintf("other%d", i), nil)
	}
	d.fork(&compactordv1.ForkSessionRequest{SessionId: "f0", NewSessionId: "below"})
	d.fork(childOf("s", "child", &compactordv1.ChildContext{Sees: compactordv1.ChildSees_CHILD_SEES_EVERYTHING}))
	for size := uint32(1); size < 9; size++ {
		ids, _ := d.forksOf(&compactordv1.ListSessionsRequest{ForkedFromSessionId: "s", PageSize: size})
		require.Equal(t, []string{"f2", "f1", "f0"}, ids)
	}
	ids, _ := d.forksOf(&compactordv1.ListSessionsRequest{ForkedFromSessionId: "s", PageSize: 5, Labels: map[string]string{"n": "0"}})
	require.Equal(t, []string{"f2", "f0"}, ids)
	d.append("f0", user("More."))
	ids, _ = d.forksOf(&compactordv1.ListSessionsRequest{
		ForkedFromSessionId: "s", PageSize: 5, Order: compactordv1.SessionOrder_SESSION_ORDER_CHANGED,
	})
	require.Equal(t, []string{"f0", "f2", "f1"}, ids)
	ids, pages := d.forksOf(&compactordv1.ListSessionsRequest{ForkedFromSessionId: "other2", PageSize: 9})
	require.Empty(t, ids)
	require.Equal(t, 1, pages)

	_, err := d.sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	_, err = d.sessions.ListSessions(t.Context(), &compactordv1.ListSessionsRequest{ForkedFromSessionId: "s"})
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
	d.create("s", nil)
	ids, _ = d.forksOf(&compactordv1.ListSessionsRequest{ForkedFromSessionId: "s", PageSize: 5})
	require.Empty(t, ids, "these are not its forks")
}

// A page of forks looks through a bounded number of sessions: it can be empty, and the next one goes on.
func TestForksAreLookedForInPages(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.fork(&compactordv1.ForkSessionRequest{SessionId: "s", NewSessionId: "fork"})
	for i := range 60 {
		d.create(fmt.Sprintf("other%d", i), nil)
	}
	ids, pages := d.forksOf(&compactordv1.ListSessionsRequest{ForkedFromSessionId: "s", PageSize: 1})
	require.Equal(t, []string{"fork"}, ids)
	require.Equal(t, 3, pages, "a page of one session reads 50 times; the first one finds nothing, the last one only the origin")
}
