package boltstore

import (
	"os"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage"
)

// Statistics returns figures for metrics.
func (s *Store) Statistics() storage.Statistics {
	stats := storage.Statistics{Waiting: s.queue.length(), OldestRead: s.reads.oldest(time.Now())}
	stats.FreeUnknown = s.freeUnknown.Load()
	stats.OlderKeys, stats.RotationRead = int(s.olderKeys.Load()), s.rotationRead.Load()
	if since := s.overwriting.lag.Load(); since != 0 {
		stats.OverwriteLag = max(1, time.Since(time.Unix(0, since)))
	}
	if info, err := os.Stat(s.path); err == nil {
		stats.Bytes = info.Size()
	}
	s.readers.RLock()
	defer s.readers.RUnlock()
	if s.db != nil && !s.closed.Load() {
		now := s.db.Stats()
		// bbolt's own answer is read from the mapped file, which is mapped anew whenever it outgrows that.
		page := int64(s.pageSize)
		stats.FreeBytes, stats.PendingBytes = int64(now.FreePageN+now.PendingPageN)*page, int64(now.PendingPageN)*page
	}
	return stats
}

// WatchCommits has fn called after each transaction that writes.
func (s *Store) WatchCommits(fn func(storage.Committed)) { s.committed.CompareAndSwap(nil, &fn) }

// reportCommit reports a transaction that began then.
func (s *Store) reportCommit(tx *bbolt.Tx, began time.Time) {
	if fn := s.committed.Load(); fn != nil {
		stats := tx.Stats()
		(*fn)(storage.Committed{Took: time.Since(began), Disk: stats.GetWriteTime()})
	}
}

// reads are the transactions that read now, the oldest first.
type reads struct {
	mu          sync.Mutex
	first, last *read
}

// read is a transaction that reads.
type read struct {
	began time.Time
	// commit is one that it reads, or an earlier one.
	commit       uint64
	before, next *read
}

// begin notes a transaction that begins, and reads this commit or a later one.
func (r *reads) begin(commit uint64) *read {
	now := &read{began: time.Now(), commit: commit}
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.before = r.last; r.last != nil {
		r.last.next = now
	} else {
		r.first = now
	}
	r.last = now
	return now
}

// end notes that a transaction has ended.
func (r *reads) end(done *read) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if done.before != nil {
		done.before.next = done.next
	} else {
		r.first = done.next
	}
	if done.next != nil {
		done.next.before = done.before
	} else {
		r.last = done.before
	}
}

// before reports whether one may read an earlier commit than this. One that begins later does not.
func (r *reads) before(commit uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for running := r.first; running != nil; running = running.next {
		if running.commit < commit {
			return true
		}
	}
	return false
}

// oldest returns the age of the oldest one.
func (r *reads) oldest(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == nil {
		return 0
	}
	return max(0, now.Sub(r.first.began))
}
