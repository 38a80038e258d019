package service_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

// stopping is a store whose daemon stops at one of the commits that follow: before it takes effect, or after.
type stopping struct {
	storage.Store
	// left is how many commits go well before that; negative: all do.
	left atomic.Int64
	// effect reports whether the commit takes effect.
	effect bool
	// between is called before each commit that goes well. May be nil.
	between func(c *storage.Commit)
}

var errStopped = errors.New("the daemon stopped")

func (s *stopping) Commit(ctx context.Context, c *storage.Commit) error {
	if s.left.Add(-1) == -1 {
		if s.effect {
			if err := s.Store.Commit(ctx, c); err != nil {
				return err
			}
		}
		return storage.NewDiskError(errStopped)
	}
	if s.between != nil {
		s.between(c)
	}
	return s.Store.Commit(ctx, c)
}

// Wherever the daemon stops while a child ends, the same call finishes it, and the result is in the parent's log once:
// also where the first call had another one.
func TestEndIsFinishedAfterAStop(t *testing.T) {
	t.Parallel()
	// The end goes to the child's log, the result to the parent's, and a note of that to the child's row.
	const commits = 3
	for at := range int64(commits) {
		for _, effect := range []bool{false, true} {
			t.Run(fmt.Sprintf("commit %d, effect %v", at, effect), func(t *testing.T) {
				t.Parallel()
				store := &stopping{Store: memory.New(), effect: effect}
				store.left.Store(1 << 40)
				d := start(t, withStore(store))
				busyParent(d)
				d.child("s", "c")
				d.append("c", user("Go."), assistant("Found."))
				before := d.messages("s")
				end := &compactordv1.EndChildRequest{SessionId: "c", CallId: "task"}
				store.left.Store(at)
				_, err := d.sessions.EndChild(t.Context(), end)
				require.Equal(t, codes.Unavailable.String(), statusCode(err).String(), err)
				store.left.Store(-2)
				ended := d.session("c").GetSession().GetEnded()
				closed := at > 0 || effect
				require.Equal(t, closed, ended != nil)
				if closed {
					_, err = d.sessions.EndChild(t.Context(), &compactordv1.EndChildRequest{SessionId: "c", CallId: "task", Result: "other"})
					requireReason(t, err, codes.FailedPrecondition, "CHILD_ENDED")
					d.append("s", user("meanwhile"))
				}
				answer := d.end(end)
				require.True(t, answer.GetAnswersCall(), "the call waits for its result")
				results := 0
				for _, l := range d.messages("s")[len(before):] {
					if l.GetChild() != nil {
						results++
						require.Equal(t, l.GetIndex(), answer.GetIndex())
					}
				}
				require.Equal(t, 1, results)
				require.Equal(t, answer.GetIndex(), d.session("c").GetSession().GetEnded().GetResultIndex())
				d.requireSound(t)
			})
		}
	}
}

// Where the parent's log goes on while a child ends, the result is not lost: it becomes a USER message if its call is no
// longer open.
func TestCallThatIsAnsweredWhileTheChildEnds(t *testing.T) {
	t.Parallel()
	store := &stopping{Store: memory.New()}
	store.left.Store(-2)
	d := start(t, withStore(store))
	busyParent(d)
	d.child("s", "c")
	store.between = func(c *storage.Commit) {
		if c.Session.GetEnded() != nil && c.Session.GetEnded().ResultIndex == nil {
			d.append("s", toolResult("task", "I did it myself"), assistant("Done."))
		}
	}
	answer := d.end(&compactordv1.EndChildRequest{SessionId: "c", CallId: "task", Result: "found"})
	require.False(t, answer.GetAnswersCall())
	log := d.messages("s")
	require.Equal(t, compactordv1.Role_ROLE_USER, log[answer.GetIndex()].GetMessage().GetRole())
	require.Contains(t, textOf(log[answer.GetIndex()].GetMessage()), "found")
	d.requireSound(t)
}

// Where the parent is deleted while a child ends, the child has ended and says why its result is nowhere.
func TestParentThatIsDeletedWhileTheChildEnds(t *testing.T) {
	t.Parallel()
	store := &stopping{Store: memory.New()}
	store.left.Store(-2)
	d := start(t, withStore(store))
	busyParent(d)
	d.child("s", "c")
	store.between = func(c *storage.Commit) {
		if c.Session.GetEnded() != nil {
			_, err := d.sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "s"})
			require.NoError(t, err)
		}
	}
	for range 2 {
		_, err := d.sessions.EndChild(t.Context(), &compactordv1.EndChildRequest{SessionId: "c", Result: "found"})
		requireReason(t, err, codes.FailedPrecondition, "NO_PARENT")
		store.between = nil
	}
	require.Nil(t, d.session("c").GetSession().GetEnded().ResultIndex)
}

// blind is a store that does not find one session by its parent, as where the row is damaged.
type blind struct {
	storage.Store
	id string
}

func (b *blind) Sessions(ctx context.Context, q storage.SessionQuery) ([]*storagev1.Session, string, error) {
	rows, cursor, err := b.Store.Sessions(ctx, q)
	rows = slices.DeleteFunc(rows, func(row *storagev1.Session) bool { return row.GetSessionId() == b.id })
	if q.Cursor = cursor; err == nil && len(rows) == 0 && cursor != "" {
		return b.Sessions(ctx, q)
	}
	return rows, cursor, err
}

// Where a child is damaged, its parent stays, and the error says that others below it are deleted. Once the child is
// deleted by its id, the parent can be.
func TestDeleteAParentOfADamagedChild(t *testing.T) {
	t.Parallel()
	d := start(t, withStore(&blind{memory.New(), "damaged"}))
	d.create("s", nil)
	for _, id := range []string{"a", "damaged", "b"} {
		d.child("s", id)
	}
	d.child("a", "c")
	all := &compactordv1.DeleteSessionRequest{SessionId: "s", Children: compactordv1.ChildrenOnDelete_CHILDREN_ON_DELETE_DELETE}
	for _, deleted := range []string{"3", "0"} {
		_, err := d.sessions.DeleteSession(t.Context(), all)
		info := requireReason(t, err, codes.FailedPrecondition, "HAS_CHILDREN")
		require.Equal(t, deleted, info.GetMetadata()["deleted_children"])
		require.ErrorContains(t, err, deleted+" other sessions below it are deleted")
		d.session("s")
		d.session("damaged")
	}
	_, err := d.sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "damaged"})
	require.NoError(t, err)
	_, err = d.sessions.DeleteSession(t.Context(), all)
	require.NoError(t, err)
}

// A damaged row that contradicts its log is a problem of the check.
func TestCheckFindsEndsWithoutRecord(t *testing.T) {
	t.Parallel()
	d := start(t)
	busyParent(d)
	d.child("s", "c")
	row, err := d.store.Session(t.Context(), "", "c")
	require.NoError(t, err)
	row.Revision++
	row.Ended = &compactordv1.EndedChild{Sequence: 0}
	require.NoError(t, d.store.Commit(t.Context(), &storage.Commit{Session: row}))
	problems, err := sessionlog.Check(t.Context(), d.store, "")
	require.NoError(t, err)
	require.Len(t, problems, 1)
	require.Contains(t, problems[0].What, "record 0 is no end of a child")
}
