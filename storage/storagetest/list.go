package storagetest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
)

// ids returns the ids of rows, in order.
func ids(rows []*storagev1.Session) []string {
	list := []string{}
	for _, row := range rows {
		list = append(list, row.GetSessionId())
	}
	return list
}

// walk reads all pages of a query. It calls between after each page except the last.
func walk(t *testing.T, s storage.Store, q storage.SessionQuery, between func()) []*storagev1.Session {
	t.Helper()
	var all []*storagev1.Session
	for {
		rows, next, err := s.Sessions(t.Context(), q)
		require.NoError(t, err)
		all = append(all, rows...)
		if next == "" {
			return all
		}
		require.Len(t, rows, q.Limit, "a page that is not the last is full")
		q.Cursor = next
		if between != nil {
			between()
		}
	}
}

// Sessions returns rows newest first, by creation or by change. Of rows with the same time, the one created last comes
// first.
func testListOrders(t *testing.T, s storage.Store) {
	t.Helper()
	rows := map[string]*storagev1.Session{}
	for _, d := range []*Draft{
		NewSession("", "b", "u").CreatedAt(20).ChangedAt(20),
		NewSession("", "a", "u").CreatedAt(10).ChangedAt(10),
		NewSession("", "old", "u").CreatedAt(-1 << 31).ChangedAt(-1 << 31),
		NewSession("", "c", "u").CreatedAt(20).ChangedAt(20),
		NewSession("", "d", "u").CreatedAt(30).ChangedAt(30),
	} {
		rows[d.Session.GetSessionId()] = create(t, s, d)
	}
	check := func(order storage.SessionOrder, want ...string) {
		t.Helper()
		got, next, err := s.Sessions(t.Context(), storage.SessionQuery{Order: order, Limit: 10})
		require.NoError(t, err)
		require.Empty(t, next)
		require.Equal(t, want, ids(got))
	}
	check(storage.ByCreation, "d", "c", "b", "a", "old")
	check(storage.ByChange, "d", "c", "b", "a", "old")
	rows["a"] = commit(t, s, Next(rows["a"]).ChangedAt(40))
	rows["b"] = commit(t, s, Next(rows["b"]).ChangedAt(35).Text("m"))
	check(storage.ByCreation, "d", "c", "b", "a", "old")
	check(storage.ByChange, "a", "b", "d", "c", "old")
	// A clock can go backwards.
	rows["a"] = commit(t, s, Next(rows["a"]).ChangedAt(5))
	check(storage.ByChange, "b", "d", "c", "a", "old")
	require.NoError(t, s.DeleteSession(t.Context(), "", "d"))
	check(storage.ByCreation, "c", "b", "a", "old")
	check(storage.ByChange, "b", "c", "a", "old")
}

// The cursor of the next page is empty on the last page, also where that is full. Limit is at least 1.
func testListPages(t *testing.T, s storage.Store) {
	t.Helper()
	rows, next, err := s.Sessions(t.Context(), storage.SessionQuery{Limit: 1})
	require.NoError(t, err)
	require.Empty(t, rows)
	require.Empty(t, next)
	var want []string
	for n := range 12 {
		create(t, s, NewSession("", name(n), "u").CreatedAt(20*(n/3)).ChangedAt(20*(n/3)))
		want = append([]string{name(n)}, want...)
	}
	for _, order := range []storage.SessionOrder{storage.ByCreation, storage.ByChange} {
		for limit := 1; limit <= 13; limit++ {
			got := walk(t, s, storage.SessionQuery{Order: order, Limit: limit}, nil)
			require.Equal(t, want, ids(got), "limit %d", limit)
		}
	}
	for _, q := range []storage.SessionQuery{{}, {Limit: -1}, {Limit: 1, Order: 7}, {Limit: 1, Order: -1}} {
		_, _, err := s.Sessions(t.Context(), q)
		require.ErrorIs(t, err, storage.ErrInvalid)
	}
}

// In the pages of ByChange, each session that is not changed, created or deleted meanwhile occurs exactly once. In
// those of ByCreation, each one that is only changed does.
func testListPagesWhileChanging(t *testing.T, s storage.Store) {
	t.Helper()
	for _, order := range []storage.SessionOrder{storage.ByCreation, storage.ByChange} {
		tenant := []string{"creation", "change"}[order]
		rows := map[string]*storagev1.Session{}
		for n := range 20 {
			rows[name(n)] = create(t, s, NewSession(tenant, name(n), "u").CreatedAt(n/4).ChangedAt(n/4))
		}
		step := 0
		got := walk(t, s, storage.SessionQuery{Tenant: tenant, Order: order, Limit: 3}, func() {
			step++
			// Sometimes the last session of a page is changed, deleted or both.
			changed := name(step % 2)
			rows[changed] = commit(t, s, Next(rows[changed]).ChangedAt(100+step))
			changed = name(19)
			rows[changed] = commit(t, s, Next(rows[changed]).ChangedAt(-step))
			create(t, s, NewSession(tenant, "new"+name(step), "u").CreatedAt(50).ChangedAt(50))
			if step == 1 {
				require.NoError(t, s.DeleteSession(t.Context(), tenant, name(17)))
			}
		})
		count := map[string]int{}
		for _, id := range ids(got) {
			count[id]++
		}
		for n := range 20 {
			touched := n == 17 || (order == storage.ByChange && (n < 2 || n == 19))
			if !touched {
				require.Equal(t, 1, count[name(n)], "%s in order %d", name(n), order)
			}
		}
	}
}

// A tenant's listing contains only its own sessions.
func testListTenants(t *testing.T, s storage.Store) {
	t.Helper()
	for _, tenant := range []string{"", "a", "ab", "b"} {
		for n := range 3 {
			create(t, s, NewSession(tenant, tenant+name(n), "u").Labels("k", "v"))
		}
	}
	for _, tenant := range []string{"", "a", "ab", "b", "c"} {
		for _, labels := range []map[string]string{nil, {"k": "v"}} {
			got := walk(t, s, storage.SessionQuery{Tenant: tenant, Labels: labels, Limit: 2}, nil)
			if tenant == "c" {
				require.Empty(t, got)
				continue
			}
			require.Equal(t, []string{tenant + name(2), tenant + name(1), tenant + name(0)}, ids(got))
		}
	}
}

// CountSessions counts the sessions of each tenant that has any.
func testCountSessions(t *testing.T, s storage.Store) {
	t.Helper()
	count := func(want map[string]int) {
		t.Helper()
		got, err := s.CountSessions(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	count(map[string]int{})
	for n, tenant := range []string{"", "a", "ab"} {
		for i := range n + 1 {
			create(t, s, NewSession(tenant, name(i), "u").Labels("k", "v"))
		}
	}
	count(map[string]int{"": 1, "a": 2, "ab": 3})
	require.NoError(t, s.DeleteSession(t.Context(), "", name(0)))
	require.NoError(t, s.DeleteSession(t.Context(), "ab", name(1)))
	count(map[string]int{"a": 2, "ab": 2})
}

// A session must have all labels of the query.
func testListLabels(t *testing.T, s storage.Store) {
	t.Helper()
	row := create(t, s, NewSession("", "both", "u").Labels("a", "1", "b", "1"))
	create(t, s, NewSession("", "a", "u").Labels("a", "1"))
	create(t, s, NewSession("", "b", "u").Labels("b", "1"))
	create(t, s, NewSession("", "other", "u").Labels("a", "2", "b", ""))
	create(t, s, NewSession("", "none", "u"))
	check := func(want []string, pairs ...string) {
		t.Helper()
		labels := NewSession("", "x", "u").Labels(pairs...).Session.GetLabels()
		for _, order := range []storage.SessionOrder{storage.ByCreation, storage.ByChange} {
			for limit := 1; limit < 4; limit++ {
				got := ids(walk(t, s, storage.SessionQuery{Order: order, Labels: labels, Limit: limit}, nil))
				slices.Sort(got)
				require.Equal(t, want, got, "labels %v", pairs)
			}
		}
	}
	check([]string{"a", "b", "both", "none", "other"})
	check([]string{"a", "both"}, "a", "1")
	check([]string{"b", "both"}, "b", "1")
	check([]string{"both"}, "a", "1", "b", "1")
	check([]string{"other"}, "b", "")
	check([]string{}, "a", "")
	check([]string{}, "a1", "")
	check([]string{}, "a", "2", "b", "1")
	check([]string{}, "a", string(make([]byte, 1<<16+1)))

	row = commit(t, s, Next(row).Labels("b", "1", "c", "1").ChangedAt(1))
	check([]string{"a"}, "a", "1")
	check([]string{"both"}, "b", "1", "c", "1")
	commit(t, s, Next(row).Labels())
	check([]string{"b"}, "b", "1")
	check([]string{}, "c", "1")
}

// ErrNotFound for a cursor that the store did not make for this tenant, order and labels.
func testListCursors(t *testing.T, s storage.Store) {
	t.Helper()
	for n := range 4 {
		create(t, s, NewSession("", name(n), "u").Labels("k", "v"))
		create(t, s, NewSession("t", name(n), "u").Labels("k", "v"))
	}
	q := storage.SessionQuery{Limit: 2}
	_, cursor, err := s.Sessions(t.Context(), q)
	require.NoError(t, err)
	require.NotEmpty(t, cursor)
	for name, other := range map[string]storage.SessionQuery{
		"garbage": {Limit: 2, Cursor: "garbage"},
		"cut":     {Limit: 2, Cursor: cursor[:len(cursor)-4]},
		"twice":   {Limit: 2, Cursor: cursor + cursor},
		"tenant":  {Limit: 2, Cursor: cursor, Tenant: "t"},
		"order":   {Limit: 2, Cursor: cursor, Order: storage.ByChange},
		"labels":  {Limit: 2, Cursor: cursor, Labels: map[string]string{"k": "v"}},
		"parent":  {Limit: 2, Cursor: cursor, Parent: "u"},
	} {
		_, _, err := s.Sessions(t.Context(), other)
		require.ErrorIs(t, err, storage.ErrNotFound, name)
	}
	q.Cursor, q.Limit = cursor, 9
	rows, next, err := s.Sessions(t.Context(), q)
	require.NoError(t, err)
	require.Empty(t, next)
	require.Equal(t, []string{name(1), name(0)}, ids(rows), "another limit is no other query")
}
