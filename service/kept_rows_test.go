package service_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// notingStore is a store that notes what it is asked about sessions.
type notingStore struct {
	storage.Shared
	mu    sync.Mutex
	calls []string
	// loses says that commits are acknowledged and lost, as in a failover to a server that has not got them.
	loses atomic.Bool
}

func (s *notingStore) note(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
}

func (s *notingStore) Session(ctx context.Context, tenant, id string) (*storagev1.Session, error) {
	s.note("row")
	return s.Shared.Session(ctx, tenant, id)
}

func (s *notingStore) Request(ctx context.Context, ref storage.Ref, id string) (*storagev1.StoredRequest, error) {
	s.note("request")
	return s.Shared.Request(ctx, ref, id)
}

func (s *notingStore) Records(
	ctx context.Context, ref storage.Ref, start, end uint32, limit int,
) ([]*storagev1.StoredRecord, error) {
	s.note("records")
	return s.Shared.Records(ctx, ref, start, end, limit)
}

func (s *notingStore) RecordAtOrBefore(ctx context.Context, ref storage.Ref, sequence uint32) (*storagev1.StoredRecord, error) {
	s.note("records")
	return s.Shared.RecordAtOrBefore(ctx, ref, sequence)
}

func (s *notingStore) Commit(ctx context.Context, c *storage.Commit) error {
	s.note("commit")
	if s.loses.Load() {
		return nil
	}
	return s.Shared.Commit(ctx, c)
}

// during returns what the store is asked meanwhile.
func (s *notingStore) during(do func()) []string {
	s.mu.Lock()
	s.calls = nil
	s.mu.Unlock()
	do()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// twoThatAppend are two daemons on one store, the first of which is the only one that has written to the session "s".
type twoThatAppend struct {
	*testing.T

	first, second *daemon
	asked         *notingStore
	requests      int
}

// forTwoThatAppend runs a test for such daemons on each kind of shared store.
func forTwoThatAppend(t *testing.T, test func(two *twoThatAppend)) {
	t.Helper()
	t.Parallel()
	for name, newStore := range sharedStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := newStore(t)
			two := &twoThatAppend{T: t, asked: &notingStore{Shared: store.open(t)}}
			two.first, two.second = start(t, withStore(two.asked)), start(t, withStore(store.open(t)))
			two.first.create("s", nil)
			for range 3 {
				two.append(two.first)
			}
			test(two)
			two.second.requireSound(t)
		})
	}
}

// append appends a message with a request id.
func (two *twoThatAppend) append(d *daemon) *compactordv1.AppendMessagesResponse {
	two.Helper()
	two.requests++
	answer, err := d.sessions.AppendMessages(two.Context(), two.request(two.requests))
	require.NoError(two, err)
	return answer
}

func (two *twoThatAppend) request(number int) *compactordv1.AppendMessagesRequest {
	id := fmt.Sprint("request ", number)
	return &compactordv1.AppendMessagesRequest{
		SessionId: "s", RequestId: id, Messages: []*compactordv1.Message{user(id)},
	}
}

// An append to a session that only this daemon writes to asks the store once: to commit it.
func TestAppendsToASessionThatNobodyElseWritesToOnlyCommit(t *testing.T) {
	forTwoThatAppend(t, func(two *twoThatAppend) {
		for range 3 {
			require.Equal(two, []string{"commit"}, two.asked.during(func() { two.append(two.first) }))
		}
		labelled := map[string]string{"a": "b"}
		_, err := two.first.sessions.UpdateSession(two.Context(), &compactordv1.UpdateSessionRequest{
			SessionId: "s", Labels: labelled, UpdateMask: mask("labels"),
		})
		require.NoError(two, err)
		require.Equal(two, []string{"commit"}, two.asked.during(func() { two.append(two.first) }))
		session, err := two.second.sessions.GetSession(two.Context(), &compactordv1.GetSessionRequest{SessionId: "s"})
		require.NoError(two, err)
		require.Equal(two, labelled, session.GetSession().GetLabels())
	})
}

// An append follows what another daemon has written, and the daemon reads the session's row until it is alone again.
func TestAppendsFollowThoseOfAnotherDaemon(t *testing.T) {
	forTwoThatAppend(t, func(two *twoThatAppend) {
		require.EqualValues(two, 3, two.append(two.second).GetFirstIndex())
		calls := two.asked.during(func() { require.EqualValues(two, 4, two.append(two.first).GetFirstIndex()) })
		require.Equal(two, []string{"commit", "row", "request", "commit"}, calls)
		for range 3 {
			two.append(two.second)
			calls = two.asked.during(func() { two.append(two.first) })
			require.Equal(two, []string{"row", "request", "commit"}, calls, "it does not begin with a row that is no longer the newest")
		}
		two.append(two.first)
		require.Equal(two, []string{"commit"}, two.asked.during(func() { two.append(two.first) }))
	})
}

// Where the database has lost the newest commit of a daemon, and another daemon has written in its place, nothing follows from the
// row that the first one keeps.
func TestAppendsDoNotFollowLostCommits(t *testing.T) {
	forTwoThatAppend(t, func(two *twoThatAppend) {
		two.asked.loses.Store(true)
		require.EqualValues(two, 3, two.append(two.first).GetFirstIndex())
		two.asked.loses.Store(false)
		require.EqualValues(two, 3, two.append(two.second).GetFirstIndex())
		calls := two.asked.during(func() { require.EqualValues(two, 4, two.append(two.first).GetFirstIndex()) })
		require.Equal(two, []string{"commit", "row", "request", "commit"}, calls)
	})
}

// What an append is refused for is judged by the session's newest row.
func TestAppendsAreRefusedByTheNewestRow(t *testing.T) {
	forTwoThatAppend(t, func(two *twoThatAppend) {
		two.append(two.second)
		next, late := uint32(4), uint32(3)
		req := two.request(100)
		req.ExpectedNextIndex = &next
		_, err := two.first.sessions.AppendMessages(two.Context(), req)
		require.NoError(two, err)
		req = two.request(101)
		req.ExpectedNextIndex = &late
		_, err = two.first.sessions.AppendMessages(two.Context(), req)
		info := requireReason(two.T, err, codes.Aborted, "WRONG_NEXT_INDEX")
		require.Equal(two, "5", info.GetMetadata()["next_index"])
	})
}

// A request that any daemon has carried out is answered as it was, also where the daemon did not look for it, or would refuse
// it by what has come since.
func TestRepeatedAppendsAreAnsweredAsBefore(t *testing.T) {
	forTwoThatAppend(t, func(two *twoThatAppend) {
		next := uint32(3)
		req := two.request(100)
		req.ExpectedNextIndex = &next
		for _, d := range []*daemon{two.first, two.first, two.second, two.first} {
			answer, err := d.sessions.AppendMessages(two.Context(), req)
			require.NoError(two, err)
			require.EqualValues(two, 3, answer.GetFirstIndex())
		}
		other := two.request(2)
		other.Messages = append(other.Messages, user("another one"))
		_, err := two.first.sessions.AppendMessages(two.Context(), other)
		requireReason(two.T, err, codes.InvalidArgument, "REQUEST_ID_REUSED")
		require.Len(two, two.first.messages("s"), 4)
	})
}

// An append goes to the session that there is now.
func TestAppendsFollowADeletionByAnotherDaemon(t *testing.T) {
	forTwoThatAppend(t, func(two *twoThatAppend) {
		_, err := two.second.sessions.DeleteSession(two.Context(), &compactordv1.DeleteSessionRequest{SessionId: "s"})
		require.NoError(two, err)
		_, err = two.first.sessions.AppendMessages(two.Context(), two.request(100))
		requireReason(two.T, err, codes.NotFound, "SESSION_NOT_FOUND")
		two.second.create("s", nil)
		require.EqualValues(two, 0, two.append(two.first).GetFirstIndex())
	})
}
