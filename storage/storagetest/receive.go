package storagetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
)

// receiver returns a store that takes over sessions.
func receiver(t *testing.T, s storage.Store) storage.Receiver {
	t.Helper()
	r, ok := s.(storage.Receiver)
	if !ok {
		t.Skipf("a %T takes over no sessions", s)
	}
	return r
}

// piece returns a draft as a piece of a session.
func piece(d *Draft, previous uint32, requests ...storage.ReceivedRequest) *storage.Piece {
	return &storage.Piece{Commit: d.Commit, Previous: previous, Requests: requests}
}

// received returns a request with the revision of its commit.
func received(id string, revision uint32) storage.ReceivedRequest {
	stored := &storagev1.StoredRequest{Schema: 1, Response: []byte(id)}
	return storage.ReceivedRequest{Request: storage.Request{ID: id, Stored: stored}, Revision: revision}
}

// A session that is taken over has the revisions of the source, and is one like any other afterwards.
func testReceive(t *testing.T, s storage.Store) {
	t.Helper()
	r := receiver(t, s)
	first := NewSession("t", "s", "u").Texts(3).Labels("k", "v")
	first.Session.Revision = 3
	require.NoError(t, r.Receive(t.Context(), piece(first, 0, received("b", 40))))
	require.ErrorIs(t, r.Receive(t.Context(), piece(first, 0)), storage.ErrExists)

	next := Next(first.Session).Texts(2).Compaction(2, "summary").Prune(1)
	next.Session.Revision = 128
	require.ErrorIs(t, r.Receive(t.Context(), piece(next, 2)), storage.ErrConflict)
	other := Next(first.Session).Texts(1)
	other.Session.Uid = "another"
	require.ErrorIs(t, r.Receive(t.Context(), piece(other, 3)), storage.ErrNotFound)
	require.NoError(t, r.Receive(t.Context(), piece(next, 3, received("a", 41), received("c", 42))))
	require.ErrorIs(t, r.Receive(t.Context(), piece(next, 3)), storage.ErrConflict)

	row, err := s.Session(t.Context(), "t", "s")
	require.NoError(t, err)
	same(t, next.Session, row)
	messages, err := s.Messages(t.Context(), next.Ref(), 0, 10, 0)
	require.NoError(t, err)
	same(t, append(first.Messages, next.Messages...), messages)
	edits, err := s.Edits(t.Context(), next.Ref(), 0, 5)
	require.NoError(t, err)
	require.Len(t, edits, 1)
	requests, err := s.Requests(t.Context(), next.Ref(), "", 10)
	require.NoError(t, err)
	require.Len(t, requests, 3)
	for i, id := range []string{"a", "b", "c"} {
		require.Equal(t, id, requests[i].ID)
		same(t, received(id, 1).Stored, requests[i].Stored)
	}
	require.ErrorIs(t, s.Commit(t.Context(), &Next(row).Text("again").Remember("b").Commit), storage.ErrRequestKnown)
	require.NoError(t, s.Commit(t.Context(), &Next(row).Text("on").Remember("d").Commit))
}

// What does not fit together is refused, and nothing is written.
func testReceiveInvalid(t *testing.T, s storage.Store) {
	t.Helper()
	r := receiver(t, s)
	sound := func() *storage.Piece { return piece(NewSession("t", "s", "u").Texts(2), 0, received("a", 1)) }
	for name, change := range map[string]func(p *storage.Piece){
		"the request of a commit": func(p *storage.Piece) { p.Request = &p.Requests[0].Request },
		"revision not higher":     func(p *storage.Piece) { p.Previous = 1 },
		"request without id":      func(p *storage.Piece) { p.Requests[0].ID = "" },
		"request without content": func(p *storage.Piece) { p.Requests[0].Stored = nil },
		"request never committed": func(p *storage.Piece) { p.Requests[0].Revision = 0 },
		"request of other schema": func(p *storage.Piece) { p.Requests[0].Stored.Schema = 9 },
		"long id of a request":    func(p *storage.Piece) { p.Requests[0].ID = string(make([]byte, 5000)) },
		"log without beginning":   func(p *storage.Piece) { p.Records, p.Messages[0].Sequence = nil, 2 },
	} {
		p := sound()
		change(p)
		require.ErrorIs(t, r.Receive(t.Context(), p), storage.ErrInvalid, name)
	}
	require.NoError(t, r.Receive(t.Context(), sound()))
	row, err := s.Session(t.Context(), "t", "s")
	require.NoError(t, err)
	gap := Next(row)
	gap.Session.Head.NextIndex++
	gap.Session.Head.NextSequence++
	gap.Text("behind a gap")
	require.ErrorIs(t, r.Receive(t.Context(), piece(gap, 1)), storage.ErrInvalid)
}

// A store says that it lacks a part until it is told that all is there.
func testReceiving(t *testing.T, s storage.Store) {
	t.Helper()
	r := receiver(t, s)
	for _, want := range []bool{true, true, false, false} {
		require.NoError(t, r.SetReceiving(t.Context(), want))
		got, err := r.Receiving(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
