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
	if info, err := os.Stat(s.path); err == nil {
		stats.Bytes = info.Size()
	}
	s.readers.RLock()
	defer s.readers.RUnlock()
	if s.db != nil && !s.closed.Load() {
		now := s.db.Stats()
		page := int64(s.db.Info().PageSize)
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
	began        time.Time
	before, next *read
}

// begin notes a transaction that begins.
func (r *reads) begin() *read {
	now := &read{began: time.Now()}
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

// oldest returns the age of the oldest one.
func (r *reads) oldest(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == nil {
		return 0
	}
	return max(0, now.Sub(r.first.began))
}
