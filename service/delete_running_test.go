package service_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/summarizers"
)

func (d *daemon) delete(id string) {
	d.t.Helper()
	_, err := d.sessions.DeleteSession(d.t.Context(), &compactordv1.DeleteSessionRequest{SessionId: id})
	require.NoError(d.t, err)
}

// endless is a summarizer that runs until it is cancelled, and then calls a function of the test.
type endless struct {
	begun, ended chan struct{}
	cancelled    func()
}

func newEndless() *endless {
	return &endless{begun: make(chan struct{}, 1), ended: make(chan struct{}, 1)}
}

func (e *endless) option() option {
	return withSummarizer(&scripted{name: "endless", do: func(
		ctx context.Context, _ *summarizers.Request, _ summarizers.Progress,
	) (*summarizers.Summary, error) {
		e.begun <- struct{}{}
		<-ctx.Done()
		e.cancelled()
		e.ended <- struct{}{}
		return nil, context.Cause(ctx)
	}})
}

// Deleting a session ends its operation: nobody could cancel it any more, and a summary would be paid for nothing.
func TestDeletedSessionEndsWhatRuns(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*daemon) error{
		"detached compaction": func(d *daemon) error {
			_, err := d.compact(detached("s"))
			return err
		},
		"revert with a summary": func(d *daemon) error {
			_, err := d.sessions.RevertToCheckpoint(d.t.Context(), summarized(turnsBack(2)))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			summarizer, log := newEndless(), &kept{}
			d := start(t, summarizer.option(), log.option())
			d.create("s", by("endless", noFallback, small(1000)))
			d.append("s", working(6, 3000)...)
			d.create("other", nil)
			summarizer.cancelled = func() {
				// A delete that does not wait would answer within this time.
				for range 20 {
					d.append("other", user("meanwhile"))
				}
			}
			w := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s"})
			ended := make(chan error, 1)
			go func() { ended <- begin(d) }()
			<-summarizer.begun
			d.delete("s")
			require.Len(t, summarizer.ended, 1, "the delete waits for the end")
			err := <-ended
			requireReason(t, err, codes.Canceled, "CANCELLED")
			require.ErrorContains(t, err, "the session was deleted")
			requireReason(t, w.last(), codes.NotFound, "SESSION_NOT_FOUND")
			require.Empty(t, log.lines(t, "compaction attempt not recorded"), "there is no log left to note it in")
		})
	}
}

// untold is a store under a disk that fails once a write has taken effect: a deletion, or a commit that the test names.
type untold struct {
	storage.Store
	deletions bool
	// refusesDeletions: deletions fail without effect.
	refusesDeletions bool
	// commits says which commits fail so. refused are commits that fail without effect.
	commits, refused func(*storage.Commit) bool
}

var errUntold = storage.NewDiskError(fmt.Errorf("sync: %w", syscall.EIO))

func (u *untold) DeleteSession(ctx context.Context, tenant, id string) error {
	if u.refusesDeletions {
		return errUntold
	}
	if err := u.Store.DeleteSession(ctx, tenant, id); err != nil || !u.deletions {
		return err
	}
	return errUntold
}

func (u *untold) Commit(ctx context.Context, c *storage.Commit) error {
	if u.refused != nil && u.refused(c) {
		return errUntold
	}
	if err := u.Store.Commit(ctx, c); err != nil || u.commits == nil || !u.commits(c) {
		return err
	}
	return errUntold
}

// A deletion that took effect, although the disk then failed, ends what runs, too. One that did not leaves it.
func TestDeletionWithAnErrorEndsWhatRuns(t *testing.T) {
	t.Parallel()
	summarizer := newEndless()
	summarizer.cancelled = func() {}
	store := &untold{Store: memory.New(), deletions: true, refusesDeletions: true}
	d := start(t, summarizer.option(), withStore(store))
	d.create("s", by("endless", noFallback, small(1000)))
	d.append("s", working(6, 3000)...)
	ended := make(chan error, 1)
	go func() {
		_, err := d.compact(detached("s"))
		ended <- err
	}()
	<-summarizer.begun
	_, err := d.sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "s"})
	requireReason(t, err, codes.Unavailable, "STORE_UNAVAILABLE")
	require.Empty(t, summarizer.ended, "the session is still there")

	store.refusesDeletions = false
	_, err = d.sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "s"})
	requireReason(t, err, codes.Unavailable, "STORE_UNAVAILABLE")
	require.Len(t, summarizer.ended, 1, "the delete waits for the end")
	err = <-ended
	requireReason(t, err, codes.Canceled, "CANCELLED")
	require.ErrorContains(t, err, "the session was deleted")
}
