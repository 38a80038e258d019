package storagetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// Long returns a new session with all that a log can have, also what a store splits.
func Long(tenant, id, uid string) *Draft {
	d := NewSession(tenant, id, uid).Texts(5).Prune(0, 3).Text(strings.Repeat("large ", 60_000)).Compaction(2, strings.Repeat("summary ", 9000))
	return d.Texts(3).Policy().Compaction(4, "second").Prune(3, 7).Texts(2).Labels("k", "v").Remember("request")
}

// Split returns the beginning of a log in pieces of so many messages and records, and a commit with the rest of it.
func Split(d *Draft, each int, rest int) (pieces []*storage.LogPiece, last *storage.Commit) {
	last = &storage.Commit{Session: d.Session, Request: d.Request, Messages: d.Messages, Records: d.Records}
	sequence := uint32(0)
	for len(last.Messages)+len(last.Records) > rest {
		p := &storage.LogPiece{}
		for n := 0; n < each && len(last.Messages)+len(last.Records) > rest; n++ {
			if len(last.Records) > 0 && last.Records[0].GetRecord().GetSequence() == sequence {
				p.Records, last.Records = append(p.Records, last.Records[0]), last.Records[1:]
			} else {
				p.Messages, last.Messages = append(p.Messages, last.Messages[0]), last.Messages[1:]
			}
			sequence++
		}
		pieces = append(pieces, p)
	}
	return pieces, last
}

// begin begins a session in pieces, all of which it appends, and discards it at the end of the test.
func begin(t *testing.T, s storage.Store, d *Draft, pieces []*storage.LogPiece) storage.Draft {
	t.Helper()
	w, err := s.Draft(t.Context(), d.Ref())
	require.NoError(t, err)
	t.Cleanup(func() { w.Discard(context.WithoutCancel(t.Context())) })
	for _, p := range pieces {
		require.NoError(t, w.Append(t.Context(), p))
	}
	return w
}

// requireUnseen requires that nothing is seen of a tenant's only session.
func requireUnseen(t *testing.T, s storage.Store, ref storage.Ref) {
	t.Helper()
	_, err := s.Session(t.Context(), ref.Tenant, ref.SessionID)
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = s.Messages(t.Context(), ref, 0, 10, 0)
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = s.Records(t.Context(), ref, 0, 10, 0)
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = s.Edits(t.Context(), ref, 0, 10)
	require.ErrorIs(t, err, storage.ErrNotFound)
	require.ErrorIs(t, s.DeleteSession(t.Context(), ref.Tenant, ref.SessionID), storage.ErrNotFound)
	for _, order := range []storage.SessionOrder{storage.ByCreation, storage.ByChange} {
		rows, _, err := s.Sessions(t.Context(), storage.SessionQuery{Tenant: ref.Tenant, Order: order, Limit: 10})
		require.NoError(t, err)
		require.Empty(t, rows)
	}
	counts, err := s.CountSessions(t.Context())
	require.NoError(t, err)
	require.NotContains(t, counts, ref.Tenant)
}

// A session that is written in pieces is unseen before the last commit, and then like one that was written at once.
func testDraft(t *testing.T, s storage.Store) {
	t.Helper()
	for _, each := range []int{1, 4, 100} {
		for _, rest := range []int{0, 3} {
			d := Long(fmt.Sprint(each, rest), "s", "u")
			pieces, last := Split(d, each, rest)
			w := begin(t, s, d, pieces)
			requireUnseen(t, s, d.Ref())
			require.NoError(t, w.Create(t.Context(), last))
			w.Discard(t.Context())

			at := Long("at once", fmt.Sprint(each, rest), "u")
			create(t, s, at)
			want, got := read(t, s, at.Ref()), read(t, s, d.Ref())
			same(t, d.Session, got.Row)
			got.Row = want.Row
			same(t, want, got)
			request, err := s.Request(t.Context(), d.Ref(), "request")
			require.NoError(t, err)
			same(t, d.Request.Stored, request)

			require.ErrorIs(t, s.Commit(t.Context(), &Next(d.Session).Text("again").Remember("request").Commit), storage.ErrRequestKnown)
			next := commit(t, s, Next(d.Session).Text("on").Prune(1).Compaction(9, "third").Remember("next"))
			same(t, next, read(t, s, d.Ref()).Row)
			require.NoError(t, s.DeleteSession(t.Context(), d.Ref().Tenant, "s"))
			requireUnseen(t, s, d.Ref())
		}
	}
}

// Of a session that is not finished nothing is ever seen, and its id is free for another one.
func testDraftDiscarded(t *testing.T, s storage.Store) {
	t.Helper()
	d := Long("t", "s", "u")
	pieces, last := Split(d, 4, 2)
	w := begin(t, s, d, pieces)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	w.Discard(over)
	w.Discard(t.Context())
	requireUnseen(t, s, d.Ref())

	again := begin(t, s, d, pieces)
	require.NoError(t, again.Create(t.Context(), last))
	same(t, d.Session, read(t, s, d.Ref()).Row)
	again.Discard(t.Context())
	same(t, d.Session, read(t, s, d.Ref()).Row)
}

// ErrExists where a session has the id, at the beginning and at the end. Its log stays as it is.
func testDraftExists(t *testing.T, s storage.Store) {
	t.Helper()
	d := Long("t", "s", "u")
	pieces, last := Split(d, 4, 2)
	first, second := begin(t, s, d, pieces), begin(t, s, d, pieces[:1])
	other := create(t, s, NewSession("t", "s", "another").Texts(2))
	before := read(t, s, storage.RefOf(other))
	require.ErrorIs(t, first.Create(t.Context(), last), storage.ErrExists)
	first.Discard(t.Context())
	second.Discard(t.Context())
	_, err := s.Draft(t.Context(), d.Ref())
	require.ErrorIs(t, err, storage.ErrExists)
	same(t, before, read(t, s, storage.RefOf(other)))
	commit(t, s, Next(other).Text("on"))
}

// What does not fit together is refused, and the draft goes on as if it had not been given.
func testDraftInvalid(t *testing.T, s storage.Store) {
	t.Helper()
	d := Long("t", "s", "u")
	pieces, last := Split(d, 4, 2)
	w := begin(t, s, d, nil)
	require.ErrorIs(t, w.Append(t.Context(), pieces[1]), storage.ErrInvalid, "the second piece first")
	require.ErrorIs(t, w.Append(t.Context(), &storage.LogPiece{Messages: d.Messages[:1]}), storage.ErrInvalid, "a message first")
	require.ErrorIs(t, w.Append(t.Context(), &storage.LogPiece{}), storage.ErrInvalid, "nothing first")
	require.ErrorIs(t, w.Create(t.Context(), last), storage.ErrInvalid, "the end first")
	for _, p := range pieces {
		require.NoError(t, w.Append(t.Context(), p))
		require.ErrorIs(t, w.Append(t.Context(), p), storage.ErrInvalid, "a piece twice")
	}
	for name, change := range map[string]func(c *storage.Commit){
		"a gap":             func(c *storage.Commit) { c.Messages = c.Messages[:len(c.Messages)-1] },
		"another revision":  func(c *storage.Commit) { c.Session.Revision = 2 },
		"another session":   func(c *storage.Commit) { c.Session.SessionId = "other" },
		"another uid":       func(c *storage.Commit) { c.Session.Uid = "other" },
		"no head":           func(c *storage.Commit) { c.Session.Head = nil },
		"an edit of none":   func(c *storage.Commit) { c.Records = append(c.Records, NewSession("", "", "").Prune(900).Records[1]) },
		"an unknown schema": func(c *storage.Commit) { c.Request.Stored.Schema = 9 },
	} {
		_, wrong := Split(Long("t", "s", "u"), 4, 2)
		change(wrong)
		require.ErrorIs(t, w.Create(t.Context(), wrong), storage.ErrInvalid, name)
	}
	requireUnseen(t, s, d.Ref())
	require.NoError(t, w.Create(t.Context(), last))
	same(t, d.Session, read(t, s, d.Ref()).Row)
}

// Where the context ends, its cause is returned; after Close, ErrClosed.
func testDraftEnds(t *testing.T, s storage.Store) {
	t.Helper()
	d := Long("t", "s", "u")
	pieces, last := Split(d, 4, 2)
	w := begin(t, s, d, pieces)
	over := errors.New("over")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(over)
	ended := func(ctx context.Context, want error) {
		_, err := s.Draft(ctx, NewSession("t", "another", "u").Ref())
		require.ErrorIs(t, err, want)
		require.ErrorIs(t, w.Append(ctx, &storage.LogPiece{Messages: last.Messages}), want)
		require.ErrorIs(t, w.Create(ctx, last), want)
	}
	ended(ctx, over)
	requireUnseen(t, s, d.Ref())
	require.NoError(t, s.Close())
	ended(t.Context(), storage.ErrClosed)
	w.Discard(t.Context())
}

// Sessions that are written in pieces at the same time, beside other commits and deletions, do not disturb each other.
func testDraftsAtOnce(t *testing.T, s storage.Store) {
	t.Helper()
	const writers = 6
	var all sync.WaitGroup
	for n := range writers {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 3))
			for round := range 4 {
				d := Long("t", name(n), fmt.Sprint("u", round))
				pieces, last := Split(d, 1+random.IntN(6), random.IntN(5))
				if err := writeInPieces(t.Context(), s, d, pieces, last, round == 3); err != nil {
					t.Error(err)
				}
				other := NewSession("t", "other "+name(n), fmt.Sprint(round)).Texts(3)
				if err := s.CreateSession(t.Context(), &other.Commit); err != nil {
					t.Error(err)
				}
				if err := s.DeleteSession(t.Context(), "t", "other "+name(n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	want := read(t, s, Long("t", name(0), "u3").Ref())
	for n := 1; n < writers; n++ {
		got := read(t, s, Long("t", name(n), "u3").Ref())
		got.Row = want.Row
		same(t, want, got)
	}
}

// writeInPieces writes a session in pieces and creates it, or discards it.
func writeInPieces(
	ctx context.Context, s storage.Store, d *Draft, pieces []*storage.LogPiece, last *storage.Commit, creates bool,
) error {
	w, err := s.Draft(ctx, d.Ref())
	if err != nil {
		return err
	}
	defer w.Discard(ctx)
	for _, p := range pieces {
		if err := w.Append(ctx, p); err != nil {
			return err
		}
	}
	if !creates {
		return nil
	}
	return w.Create(ctx, last)
}

// Of a session that was being written when the store was closed nothing is seen in the next opening.
func testReopenDraft(t *testing.T, b Backend) {
	t.Helper()
	if b.Reopen == nil {
		t.Skip("the backend keeps nothing after Close")
	}
	s := b.Open(t)
	d := Long("t", "s", "u")
	pieces, last := Split(d, 4, 2)
	_, err := s.Draft(t.Context(), d.Ref())
	require.NoError(t, err)
	begin(t, s, d, pieces)
	s = b.Reopen(t, s)
	requireUnseen(t, s, d.Ref())
	w := begin(t, s, d, pieces)
	require.NoError(t, w.Create(t.Context(), last))
	s = b.Reopen(t, s)
	got := read(t, s, d.Ref())
	same(t, d.Session, got.Row)
	messages, ok := got.Messages.([]*compactordv1.LoggedMessage)
	require.True(t, ok)
	sameAll(t, d.Messages, messages)
	records, ok := got.Records.([]*storagev1.StoredRecord)
	require.True(t, ok)
	sameAll(t, d.Records, records)
}

// draft writes a session in pieces, and finishes it or not.
func (p *pair) draft(t *rapid.T) {
	p.clock += rapid.IntRange(-1, 2).Draw(t, "seconds")
	p.incarnations++
	d := Long(p.tenant, p.id(t), fmt.Sprint(p.incarnations)).CreatedAt(p.clock).ChangedAt(p.clock).Labels(p.labels(t)...)
	if parent := p.parent(t); parent != "" {
		d.ChildOf(parent)
	}
	pieces, last := Split(d, rapid.IntRange(1, 20).Draw(t, "each"), rapid.IntRange(0, 20).Draw(t, "rest"))
	creates := rapid.Bool().Draw(t, "creates")
	p.sameError(
		writeInPieces(t.Context(), p.model, d, pieces, last, creates),
		writeInPieces(t.Context(), p.store, d, pieces, last, creates))
}
