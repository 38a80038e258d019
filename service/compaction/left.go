package compaction

import (
	"context"
	"sync"
	"time"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/storage"
)

const (
	// recordLeftEvery is how often a daemon tries again to record the end of its compactions that the store refused.
	recordLeftEvery = time.Second
	// maxLeft bounds for how many sessions it does so. Of further ones the next compaction by this daemon records it.
	maxLeft = 10_000
)

// left are the sessions whose rows may name a compaction of this daemon that has ended, since the store took neither its
// entry nor its attempt. To other daemons such a session looks as if this one, which lives, still compacted it.
type left struct {
	mu       sync.Mutex
	sessions map[storage.Ref]bool
}

func (l *left) add(ref storage.Ref) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sessions == nil {
		l.sessions = make(map[storage.Ref]bool)
	}
	if len(l.sessions) < maxLeft {
		l.sessions[ref] = true
	}
}

// take returns all, and forgets them.
func (l *left) take() map[storage.Ref]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.sessions
	l.sessions = nil
	return all
}

// recordOwnLeft records the compactions that are left, as far as the store takes it now.
func (c *Compactor) recordOwnLeft(ctx context.Context) {
	for ref := range c.left.take() {
		err := c.recordLeft(ctx, ref, func(r *storagev1.RunningCompaction) bool {
			// An operation is among the running ones before a row names it, and until its end is recorded.
			return c.Operations.Find(ref.UID, r.GetOperationId()) == nil
		})
		if err != nil && !apierror.IsSessionNotFound(err) {
			c.left.add(ref)
		}
	}
}
