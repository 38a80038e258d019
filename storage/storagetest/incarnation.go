package storagetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// Where the context ends before the operation takes effect, its cause is returned and nothing is done.
func testContext(t *testing.T, s storage.Store) {
	t.Helper()
	row := create(t, s, NewSession("", "s", "u").Remember("request"))
	before := read(t, s, storage.RefOf(row))
	over := errors.New("over")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(over)
	for name, call := range calls(s, row) {
		require.ErrorIs(t, call(ctx), over, name)
	}
	same(t, before, read(t, s, storage.RefOf(row)))
	_, err := s.Session(t.Context(), "", "another")
	require.ErrorIs(t, err, storage.ErrNotFound)
}

// After Close every method returns ErrClosed. A second call of Close does nothing.
func testClosed(t *testing.T, s storage.Store) {
	t.Helper()
	row := create(t, s, NewSession("", "s", "u").Remember("request"))
	require.NoError(t, s.Close())
	for name, call := range calls(s, row) {
		require.ErrorIs(t, call(t.Context()), storage.ErrClosed, name)
	}
	require.NoError(t, s.Close())
}

// Close waits for running operations: each has a result, and those that were refused get the reason.
func testCloseWaits(t *testing.T, s storage.Store) {
	t.Helper()
	const sessions = 16
	for n := range sessions {
		create(t, s, NewSession("", name(n), "u"))
	}
	started := make(chan struct{}, sessions)
	outcomes := make(chan error, sessions)
	for n := range sessions {
		go func() {
			row := NewSession("", name(n), "u").Session
			var err error
			for round := 0; err == nil; round++ {
				d := Next(row).Text("more")
				if err = s.Commit(t.Context(), &d.Commit); err == nil {
					row = d.Session
				}
				if round == 0 {
					started <- struct{}{}
				}
			}
			outcomes <- err
		}()
	}
	for range sessions {
		<-started
	}
	require.NoError(t, s.Close())
	for range sessions {
		require.ErrorIs(t, <-outcomes, storage.ErrClosed)
	}
}

// What methods return belongs to the caller; they do not change or keep what they are given.
func testOwnership(t *testing.T, s storage.Store) {
	t.Helper()
	draft := func() *Draft {
		return NewSession("", "s", "u").Labels("k", "v").Texts(2).Prune(0).Compaction(1, "summary").Remember("request")
	}
	given := draft()
	create(t, s, given)
	want := draft()
	same(t, want.Commit, given.Commit)

	spoil := func(row *storagev1.Session, messages []*compactordv1.LoggedMessage, records ...*storagev1.StoredRecord) {
		row.Labels["k"] = "spoilt"
		row.Head.NextIndex = 99
		for _, m := range messages {
			m.Message.Parts[0].GetText().Text = "spoilt"
		}
		for _, r := range records {
			r.Head.NextIndex = 99
			for _, edit := range r.GetRecord().GetPrune().GetEdits() {
				edit.Replacement = "spoilt"
			}
		}
	}
	spoil(given.Session, given.Messages, given.Records...)
	given.Request.Stored.Response[0] = '!'

	ref := want.Ref()
	first := read(t, s, ref)
	messages, err := s.Messages(t.Context(), ref, 0, 2, 0)
	require.NoError(t, err)
	same(t, want.Messages, messages)
	same(t, want.Records, first.Records)
	same(t, want.Session, first.Row)
	entries, err := s.Compactions(t.Context(), ref, 0, 0)
	require.NoError(t, err)
	at, err := s.RecordAtOrBefore(t.Context(), ref, 0)
	require.NoError(t, err)
	rows, _, err := s.Sessions(t.Context(), storage.SessionQuery{Limit: 1})
	require.NoError(t, err)
	spoil(rows[0], messages, append(entries, at)...)
	edits, err := s.Edits(t.Context(), ref, 0, 2)
	require.NoError(t, err)
	edits[0].Edits[0].Replacement = "spoilt"
	request, err := s.Request(t.Context(), ref, "request")
	require.NoError(t, err)
	same(t, want.Request.Stored, request)
	request.Response[0] = '!'

	same(t, first, read(t, s, ref))
	request, err = s.Request(t.Context(), ref, "request")
	require.NoError(t, err)
	same(t, want.Request.Stored, request)
}

// All methods may be called concurrently. Of several commits on one revision one succeeds and the others conflict, so
// that a caller who tries again loses nothing.
func testOneSessionAtOnce(t *testing.T, s storage.Store) {
	t.Helper()
	const writers, each = 8, 20
	create(t, s, NewSession("", "s", "u"))
	ref := storage.Ref{SessionID: "s", UID: "u"}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := 0; n < each; {
				row, err := s.Session(t.Context(), "", "s")
				if !noError(t, err) {
					return
				}
				switch err := s.Commit(t.Context(), &Next(row).Text(fmt.Sprintf("%d.%d", w, n)).Commit); {
				case err == nil:
					n++
				case !errors.Is(err, storage.ErrConflict):
					noError(t, err)
					return
				}
			}
		})
	}
	wg.Wait()
	messages, err := s.Messages(t.Context(), ref, 0, writers*each+1, 0)
	require.NoError(t, err)
	require.Len(t, messages, writers*each)
	next := map[string]int{}
	for i, m := range messages {
		require.Equal(t, uint32(i), m.GetIndex())
		var w string
		var n int
		_, err := fmt.Sscanf(m.GetMessage().GetParts()[0].GetText().GetText(), "%1s.%d", &w, &n)
		require.NoError(t, err)
		require.Equal(t, next[w], n, "a writer's messages stand in its order")
		next[w]++
	}
}

// All methods may be called concurrently, on many sessions.
func testManySessionsAtOnce(t *testing.T, s storage.Store) {
	t.Helper()
	const sessions, each = 24, 10
	var wg sync.WaitGroup
	for n := range sessions {
		wg.Go(func() {
			d := NewSession("t", name(n), "u").Labels("parity", fmt.Sprint(n%2))
			if !noError(t, s.CreateSession(t.Context(), &d.Commit)) {
				return
			}
			for i := range each {
				d = Next(d.Session).Text(fmt.Sprint(n)).ChangedAt(i).Remember(fmt.Sprint(i))
				if !noError(t, s.Commit(t.Context(), &d.Commit)) {
					return
				}
				messages, err := s.Messages(t.Context(), d.Ref(), 0, each, 0)
				if !noError(t, err) || len(messages) != i+1 {
					t.Errorf("%d messages after %d appends", len(messages), i+1)
					return
				}
				if _, _, err := s.Sessions(t.Context(), storage.SessionQuery{Tenant: "t", Limit: 5}); !noError(t, err) {
					return
				}
			}
			if n%3 == 0 {
				noError(t, s.DeleteSession(t.Context(), "t", name(n)))
			}
		})
	}
	wg.Wait()
	rows, next, err := s.Sessions(t.Context(), storage.SessionQuery{Tenant: "t", Limit: sessions})
	require.NoError(t, err)
	require.Empty(t, next)
	require.Len(t, rows, sessions-sessions/3)
	for _, row := range rows {
		messages, err := s.Messages(t.Context(), storage.RefOf(row), 0, each, 0)
		require.NoError(t, err)
		require.Len(t, messages, each)
		for _, m := range messages {
			var n int
			_, err := fmt.Sscan(m.GetMessage().GetParts()[0].GetText().GetText(), &n)
			require.NoError(t, err)
			require.Equal(t, row.GetSessionId(), name(n))
		}
	}
}

// noError fails the test from another goroutine than the test's.
func noError(t *testing.T, err error) bool {
	t.Helper()
	if err != nil {
		t.Errorf("unexpected: %v", err)
	}
	return err == nil
}

// CreateSession writes a new row and the beginning of its log.
func testCreate(t *testing.T, s storage.Store) {
	t.Helper()
	d := NewSession("tenant", "s", "u").Labels("k", "v").Texts(2).Prune(1).Remember("request")
	create(t, s, d)
	got := read(t, s, d.Ref())
	same(t, d.Session, got.Row)
	same(t, d.Messages, got.Messages)
	same(t, d.Records, got.Records)
	request, err := s.Request(t.Context(), d.Ref(), "request")
	require.NoError(t, err)
	same(t, d.Request.Stored, request)
}

// It returns ErrExists where the tenant has a session with this id.
func testCreateExisting(t *testing.T, s storage.Store) {
	t.Helper()
	first := NewSession("", "s", "u").Text("mine")
	create(t, s, first)
	before := read(t, s, first.Ref())
	for _, uid := range []string{"u", "v"} {
		require.ErrorIs(t, s.CreateSession(t.Context(), &NewSession("", "s", uid).Commit), storage.ErrExists)
	}
	same(t, before, read(t, s, first.Ref()))
	// A tenant and an id are different from others that look the same when joined.
	create(t, s, NewSession("s", "s", "u"))
	create(t, s, NewSession("a", "bc", "u"))
	create(t, s, NewSession("ab", "c", "u"))
	row, err := s.Session(t.Context(), "ab", "c")
	require.NoError(t, err)
	require.Equal(t, "c", row.GetSessionId())
}

// A new session has revision 1, and its log starts with a record; else ErrInvalid.
func testCreateInvalid(t *testing.T, s storage.Store) {
	t.Helper()
	for name, spoil := range map[string]func(*Draft){
		"revision": func(d *Draft) { d.Session.Revision = 2 },
		"no log":   func(d *Draft) { d.Records, d.Session.Head.NextSequence = nil, 0 },
		"message first": func(d *Draft) {
			d.Text("m")
			d.Messages[0].Sequence, d.Records[0].Record.Sequence = 0, 1
		},
		"later": func(d *Draft) {
			d.Records[0].Record.Sequence = 5
			d.Session.Head.NextSequence = 6
		},
		"no id":  func(d *Draft) { d.Session.SessionId = "" },
		"no uid": func(d *Draft) { d.Session.Uid = "" },
	} {
		d := NewSession("", "s", "u")
		spoil(d)
		require.ErrorIs(t, s.CreateSession(t.Context(), &d.Commit), storage.ErrInvalid, name)
	}
	_, err := s.Session(t.Context(), "", "s")
	require.ErrorIs(t, err, storage.ErrNotFound)
}

// Session returns ErrNotFound where there is no such session.
func testSessionNotFound(t *testing.T, s storage.Store) {
	t.Helper()
	create(t, s, NewSession("a", "s", "u"))
	for _, key := range [][2]string{{"", "s"}, {"a", ""}, {"a", "ss"}, {"as", ""}, {"", ""}, {string(make([]byte, 70000)), "s"}} {
		_, err := s.Session(t.Context(), key[0], key[1])
		require.ErrorIs(t, err, storage.ErrNotFound)
	}
}

// DeleteSession removes the session and its log. It returns ErrNotFound where there is no such session.
func testDelete(t *testing.T, s storage.Store) {
	t.Helper()
	require.ErrorIs(t, s.DeleteSession(t.Context(), "", "s"), storage.ErrNotFound)
	kept := create(t, s, NewSession("", "kept", "u").Labels("k", "v").Texts(3))
	row := create(t, s, NewSession("", "s", "u").Labels("k", "v").Texts(3).Prune(0).Compaction(1, "").Remember("request"))
	before := read(t, s, storage.RefOf(kept))
	require.NoError(t, s.DeleteSession(t.Context(), "", "s"))
	gone(t, s, row)
	require.ErrorIs(t, s.DeleteSession(t.Context(), "", "s"), storage.ErrNotFound)
	for _, labels := range []map[string]string{nil, {"k": "v"}} {
		rows, _, err := s.Sessions(t.Context(), storage.SessionQuery{Limit: 9, Labels: labels})
		require.NoError(t, err)
		require.Len(t, rows, 1)
	}
	same(t, before, read(t, s, storage.RefOf(kept)))
}

// gone requires ErrNotFound from every method that names an incarnation.
func gone(t *testing.T, s storage.Store, row *storagev1.Session) {
	t.Helper()
	for name, call := range calls(s, row) {
		switch name {
		case "CreateSession", "Session", "Sessions", "Children", "CountSessions", "DeleteSession", "Abandoned":
			// These name no incarnation.
		default:
			require.ErrorIs(t, call(t.Context()), storage.ErrNotFound, name)
		}
	}
}

// Deleting a large session is no different.
func testDeleteLarge(t *testing.T, s storage.Store) {
	t.Helper()
	row := create(t, s, NewSession("", "s", "u").Texts(12000).Remember("request"))
	require.NoError(t, s.DeleteSession(t.Context(), "", "s"))
	gone(t, s, row)
	again := NewSession("", "s", "u").Text("new")
	create(t, s, again)
	got := read(t, s, again.Ref())
	same(t, again.Messages, got.Messages)
	require.NoError(t, s.DeleteSession(t.Context(), "", "s"))
	gone(t, s, again.Session)
}

// A session that is created again is another incarnation: methods that name the earlier one return ErrNotFound, and
// nothing of it is visible.
func testNewIncarnation(t *testing.T, s storage.Store) {
	t.Helper()
	old := create(t, s, NewSession("", "s", "first").Labels("k", "v").Texts(3).Prune(0).Compaction(1, "").Remember("request"))
	require.NoError(t, s.DeleteSession(t.Context(), "", "s"))
	d := NewSession("", "s", "second")
	create(t, s, d)
	gone(t, s, old)
	got := read(t, s, d.Ref())
	require.Empty(t, got.Messages)
	require.Empty(t, got.Entries)
	require.Empty(t, got.Edits)
	same(t, d.Records, got.Records)
	_, err := s.Request(t.Context(), d.Ref(), "request")
	require.ErrorIs(t, err, storage.ErrNotFound)
	commit(t, s, Next(d.Session).Text("new").Remember("request"))
}
