package storagetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// Sessions lists the sessions whose rows name a parent, in both orders and with labels. Children counts them. Neither
// needs the parent to exist.
func testListChildren(t *testing.T, s storage.Store) {
	t.Helper()
	const first, second = "uid of the first", "uid of the second"
	create(t, s, NewSession("", "parent", first))
	create(t, s, NewSession("", "a", "u1").ChildOf(first).CreatedAt(1).ChangedAt(9).Labels("k", "v"))
	b := create(t, s, NewSession("", "b", "u2").ChildOf(first).CreatedAt(2).ChangedAt(2))
	create(t, s, NewSession("", "c", "u3").ChildOf(second).CreatedAt(3).ChangedAt(3).Labels("k", "v"))
	create(t, s, NewSession("t", "d", "u4").ChildOf(first))
	// A label is no parent, whatever its name and its value.
	create(t, s, NewSession("", "e", "u5").Labels(first, "", "", first))
	check := func(q storage.SessionQuery, want ...string) {
		t.Helper()
		for q.Limit = 1; q.Limit < 4; q.Limit++ {
			require.Equal(t, want, ids(walk(t, s, q, nil)), "%+v", q)
		}
	}
	count := func(want int, tenant, uid string) {
		t.Helper()
		got, err := s.Children(t.Context(), tenant, uid)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	check(storage.SessionQuery{Parent: first}, "b", "a")
	check(storage.SessionQuery{Parent: first, Order: storage.ByChange}, "a", "b")
	check(storage.SessionQuery{Parent: second}, "c")
	check(storage.SessionQuery{Parent: first, Labels: map[string]string{"k": "v"}}, "a")
	check(storage.SessionQuery{Parent: first, Tenant: "t"}, "d")
	check(storage.SessionQuery{Parent: "u1"}, []string{}...)
	count(2, "", first)
	count(1, "t", first)
	count(0, "", "u1")
	count(0, "", "")
	count(0, "", string(make([]byte, 1<<16)))

	b = commit(t, s, Next(b).ChangedAt(20).Text("more"))
	check(storage.SessionQuery{Parent: first, Order: storage.ByChange}, "b", "a")
	count(2, "", first)
	require.NoError(t, s.DeleteSession(t.Context(), "", "parent"))
	check(storage.SessionQuery{Parent: first}, "b", "a")
	require.NoError(t, s.DeleteSession(t.Context(), "", b.GetSessionId()))
	check(storage.SessionQuery{Parent: first}, "a")
	count(1, "", first)
}

// The parent of a session never changes, and has a uid; else ErrInvalid.
func testParentFixed(t *testing.T, s storage.Store) {
	t.Helper()
	child := create(t, s, NewSession("", "child", "u1").ChildOf("p"))
	other := create(t, s, NewSession("", "other", "u2"))
	for name, d := range map[string]*Draft{
		"another": Next(child).ChildOf("q"),
		"added":   Next(other).ChildOf("p"),
		"removed": Next(child),
	} {
		if name == "removed" {
			d.Session.Parent = nil
		}
		require.ErrorIs(t, s.Commit(t.Context(), &d.Commit), storage.ErrInvalid, name)
	}
	d := NewSession("", "none", "u3")
	d.Session.Parent = &compactordv1.ParentSession{SessionId: "p"}
	require.ErrorIs(t, s.CreateSession(t.Context(), &d.Commit), storage.ErrInvalid)
	count, err := s.Children(t.Context(), "", "p")
	require.NoError(t, err)
	require.Equal(t, 1, count)
}
