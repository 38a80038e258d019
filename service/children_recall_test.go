package service_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// family creates session s with the children a and b, a child c of a, and a session that is none of them. Message i of
// each says its session and i.
func family(d *daemon) {
	d.t.Helper()
	d.create("s", nil)
	d.create("stranger", nil)
	d.child("s", "a")
	d.child("s", "b")
	d.child("a", "c")
	for _, id := range []string{"s", "a", "b", "c", "stranger"} {
		for i := range 3 {
			d.append(id, user(fmt.Sprintf("needle of %s, message %d", id, i)))
		}
	}
}

// Recall reaches from a session into what is below it, and nowhere else.
func TestRecallReachesChildren(t *testing.T) {
	t.Parallel()
	d := start(t)
	family(d)
	recall := func(from, reference string) (*compactordv1.RecallContentResponse, error) {
		req := recallBy(reference)
		req.SessionId = from
		return d.sessions.RecallContent(t.Context(), req)
	}
	for reference, want := range map[string]string{
		"a#1": "needle of a, message 1", "[c#2]": "needle of c, message 2", " b#0.0 ": "needle of b, message 0",
		"recall a#0": "needle of a, message 0", "[recall a#0]": "needle of a, message 0", "s#1": "needle of s, message 1",
		"#1": "needle of s, message 1",
	} {
		answer, err := recall("s", reference)
		require.NoError(t, err, reference)
		require.Equal(t, want, answer.GetText(), reference)
		own := reference == "#1" || reference == "s#1"
		require.Equal(t, own, answer.GetSessionId() == "", reference)
	}
	answer, err := recall("a", "c#2")
	require.NoError(t, err)
	require.Equal(t, "c", answer.GetSessionId())
	for _, other := range [][2]string{
		{"a", "s#0"}, {"a", "b#0"}, {"c", "a#0"}, {"s", "stranger#0"}, {"s", "nobody#0"}, {"stranger", "a#0"},
	} {
		_, err := recall(other[0], other[1])
		info := requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
		require.Equal(t, other[1][:len(other[1])-2], info.GetMetadata()["session_id"], other)
	}
	_, err = recall("s", "a#9")
	requireReason(t, err, codes.NotFound, "CONTENT_NOT_FOUND")
	for _, text := range []string{"see a#1", "a#1 and c#2", "a#1#2"} {
		_, err := recall("s", text)
		requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	}
	// A fork has the results of children, not the children. Neither has a later session with the parent's id.
	d.fork(&compactordv1.ForkSessionRequest{SessionId: "s", NewSessionId: "fork"})
	_, err = recall("fork", "a#0")
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
	_, err = d.sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "a"})
	require.NoError(t, err)
	d.child("s", "a")
	_, err = recall("s", "c#0")
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
	_, err = recall("a", "c#0")
	requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
}

// A search reaches from a session into what is below it: the newest child first, each before its own children, whatever
// the size of the pages.
func TestSearchReachesChildren(t *testing.T) {
	t.Parallel()
	d := start(t)
	family(d)
	for size := range uint32(14) {
		for _, newest := range []bool{false, true} {
			req := searchWords("needle")
			req.IncludeChildren, req.PageSize, req.NewestFirst = true, size, newest
			hits, pages := d.search(req)
			var found []string
			for _, hit := range hits {
				found = append(found, fmt.Sprintf("%s%d", hit.GetSessionId(), hit.GetIndex()))
			}
			want := []string{"0", "1", "2", "b0", "b1", "b2", "a0", "a1", "a2", "c0", "c1", "c2"}
			if newest {
				want = []string{"2", "1", "0", "b2", "b1", "b0", "a2", "a1", "a0", "c2", "c1", "c0"}
			}
			require.Equal(t, want, found, "pages of %d", size)
			if size > 0 {
				require.Equal(t, (12+int(size)-1)/int(size), pages)
			}
		}
	}
	search := func(from, child string, include bool) (all []string) {
		req := searchWords("needle")
		req.SessionId, req.ChildSessionId, req.IncludeChildren, req.PageSize = from, child, include, 2
		hits, _ := d.search(req)
		for _, hit := range hits {
			if len(all) == 0 || all[len(all)-1] != hit.GetSessionId() {
				all = append(all, hit.GetSessionId())
			}
		}
		return all
	}
	require.Equal(t, []string{""}, search("s", "", false))
	require.Equal(t, []string{"a"}, search("s", "a", false))
	require.Equal(t, []string{"a", "c"}, search("s", "a", true))
	require.Equal(t, []string{"c"}, search("s", "c", true))
	require.Equal(t, []string{"", "c"}, search("a", "", true))
	for _, other := range [][2]string{{"a", "s"}, {"a", "b"}, {"s", "stranger"}, {"s", "nobody"}} {
		req := searchWords("needle")
		req.SessionId, req.ChildSessionId = other[0], other[1]
		_, err := d.sessions.SearchMessages(t.Context(), req)
		requireReason(t, err, codes.NotFound, "SESSION_NOT_FOUND")
	}
}

// A page token is for its own search only, and for the sessions that are there.
func TestPageTokensOfSearchesInChildren(t *testing.T) {
	t.Parallel()
	d := start(t)
	family(d)
	first := func(change func(*compactordv1.SearchMessagesRequest)) *compactordv1.SearchMessagesRequest {
		req := searchWords("needle")
		req.IncludeChildren, req.PageSize = true, 5
		change(req)
		answer, err := d.sessions.SearchMessages(t.Context(), req)
		require.NoError(t, err)
		require.NotEmpty(t, answer.GetNextPageToken())
		req.PageToken = answer.GetNextPageToken()
		return req
	}
	for name, spoil := range map[string]func(*compactordv1.SearchMessagesRequest){
		"words":       func(r *compactordv1.SearchMessagesRequest) { r.Query = searchWords("of").GetQuery() },
		"alone":       func(r *compactordv1.SearchMessagesRequest) { r.IncludeChildren = false },
		"of a child":  func(r *compactordv1.SearchMessagesRequest) { r.ChildSessionId = "a" },
		"elsewhere":   func(r *compactordv1.SearchMessagesRequest) { r.SessionId = "a" },
		"cut":         func(r *compactordv1.SearchMessagesRequest) { r.PageToken = r.GetPageToken()[:24] },
		"no children": func(r *compactordv1.SearchMessagesRequest) { r.PageToken = "dA" },
	} {
		req := first(func(*compactordv1.SearchMessagesRequest) {})
		spoil(req)
		_, err := d.sessions.SearchMessages(t.Context(), req)
		require.Equal(t, "page_token", requireReason(t, err, codes.InvalidArgument, "INVALID_TOKEN").GetMetadata()["field"], name)
	}
	// The page ended within b.
	req := first(func(*compactordv1.SearchMessagesRequest) {})
	_, err := d.sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "b"})
	require.NoError(t, err)
	_, err = d.sessions.SearchMessages(t.Context(), req)
	requireReason(t, err, codes.InvalidArgument, "INVALID_TOKEN")
}
