// Package boltstore keeps logs in one file, by bbolt.
//
// One process at a time has the file open. One goroutine writes: it takes all operations that wait into one
// transaction, so many sessions share a sync of the disk and a lone one does not wait. Reads are short transactions of
// their own, a page each, and copy out what they return.
package boltstore

import (
	"context"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage"
)

// Options are how a store is opened. The zero value serves.
type Options struct {
	// ReadOnly opens an existing store for reading. All that would write returns ErrReadOnly.
	ReadOnly bool
	// MaxSize is the size in bytes that the file may grow to, give or take a sixteenth; what would need more gets
	// storage.ErrFull. 0: no limit but the disk.
	MaxSize int64
	// LockTimeout is how long to wait for another process to close the store. 0: a second.
	LockTimeout time.Duration
	// MapSize is how much address space is set aside for the file. While it is larger than the file, the file grows
	// without waiting for reads to end. 0: 1 GiB, on Windows none, since there it is disk space.
	MapSize int64

	// synced is told what a transaction holds, after it is on disk and before those who wait for it are told.
	synced func(committed []change)
	// openFile stands in for os.OpenFile.
	openFile func(string, int, os.FileMode) (*os.File, error)
}

// change is a row as a transaction left it.
type change struct {
	ref      storage.Ref
	revision uint32
}

// Store is a storage.Store in one file. It is also a storage.Checker and a storage.Sizer.
type Store struct {
	db      *bbolt.DB
	path    string
	opening string
	synced  func([]change)

	queue  *queue
	writer chan struct{} // closed when the writer has ended; nil where there is none

	closed atomic.Bool
	close  sync.Once

	// lost is the error of the disk after which it is not known what is on it. Only the writer uses it.
	lost error
}

var (
	_ storage.Store   = (*Store)(nil)
	_ storage.Checker = (*Store)(nil)
	_ storage.Sizer   = (*Store)(nil)
)

// Close waits for the operations that run or wait, and closes the file.
func (s *Store) Close() error {
	var err error
	s.close.Do(func() {
		s.closed.Store(true)
		s.queue.close()
		if s.writer != nil {
			<-s.writer
		}
		err = s.db.Close()
	})
	return err
}

// Size returns the size of the file and how much of it holds what was not deleted.
func (s *Store) Size(ctx context.Context) (bytes, inUse int64, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		info, err := os.Stat(s.path)
		if err != nil {
			return err
		}
		stats := s.db.Stats()
		free := int64(stats.FreePageN+stats.PendingPageN) * int64(s.db.Info().PageSize)
		bytes, inUse = info.Size(), tx.Size()-free
		return nil
	})
	return bytes, inUse, err
}

// view runs a short transaction that reads. What fn keeps it must have copied.
func (s *Store) view(ctx context.Context, fn func(tx *bbolt.Tx) error) (err error) {
	if s.closed.Load() {
		return storage.ErrClosed
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	defer guard(&err)()
	return mapError(s.db.View(fn))
}

// guard turns a panic into an error: bbolt asserts what it reads, and reads a mapped file, where a sector that cannot
// be read, or was cut off, is a fault. It is used as `defer guard(&err)()`.
func guard(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if r := recover(); r != nil {
			*err = recovered(r)
		}
	}
}
