// Package boltstore keeps logs in one bbolt file.
//
// One process at a time has the file open. One goroutine writes. It writes all waiting operations in one transaction,
// so that many sessions share a sync of the disk and a single one does not wait. Each read is one or more short
// transactions, one page each, and copies what it returns.
package boltstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/keyring"
)

// Options are the options of Open. The zero value is valid.
type Options struct {
	// ReadOnly opens an existing store for reading. Methods that write return ErrReadOnly.
	ReadOnly bool
	// ReadOnlyFallback opens an existing store for reading while its file system is read-only. Such a store begins with an
	// outage, and takes writes once the file system does.
	ReadOnlyFallback bool
	// Damaged also opens a store whose newer header is damaged, with ReadOnly: the last commit is missing then. And it opens
	// one whose file has been cut short.
	Damaged bool
	// Receiving also opens a copy of another store that lacks a part yet. Else that is storage.ErrUnfinished.
	Receiving bool
	// Keys encrypt a new store, and open one that is encrypted: its first key seals, and all that the store names must be
	// there, else Open returns a *KeyError. A plain store is refused with ErrPlain, except with ReadOnly. nil: a new store
	// is plain.
	Keys *keyring.Ring
	// Migrating is called before a store of an older version is converted to a newer one, step by step; nil where nobody
	// asks.
	Migrating func(from, to uint32)
	// MaxSize is the size in bytes that the file may grow to, within a sixteenth. What would need more gets
	// storage.ErrFull. 0: only the disk limits it.
	MaxSize int64
	// LockTimeout is how long to wait for another process to close the store. 0: one second.
	LockTimeout time.Duration
	// MapSize is the address space reserved for the file, in bytes. While it is larger than the file, the file grows
	// without waiting for reads to end. 0: 1 GiB; on Windows none, since there it would take disk space.
	MapSize int64
	// Reserve is how many bytes the store keeps for deletions, so that they work on a full disk too. A store with a
	// reserve also notices by itself that writes succeed again. 0: none.
	Reserve int

	// OverwriteFreed overwrites with zeros, in the background, what deletions free in the file, and the files of Snapshot. After
	// an opening it does so once for all that is free.
	OverwriteFreed bool
	// ListFreeLater opens a store that was killed without a list of its free pages at once, whatever its size, and looks for
	// these in the background. Until they are found, writes make the file longer. It does nothing with OverwriteFreed, which
	// needs the list, nor on Windows and 32 bits, where a file cannot be mapped with room for what is appended.
	ListFreeLater bool
	// FreeSearched is called when that search has found the free pages that were not listed, of so many bytes, or cannot find
	// them; nil where nobody asks.
	FreeSearched func(bytes int64, err error)
	// Erased is called when a file that a killed Defrag or Snapshot left beside the store has been overwritten and removed, or
	// cannot be; nil where nobody asks.
	Erased func(file string, err error)

	// synced is called with the changes of a transaction, after they are on disk and before the callers get their
	// results.
	synced func(committed []change)
	// following is called before a commit is followed, and what it returns afterwards.
	following func() (followed func())
	// listed replaces listedPages in tests.
	listed int
	// rotated replaces rotateBytes in tests.
	rotated int
	// failed is called after a commit has failed, before the store does anything about it.
	failed func()
	// overwritten is called after each pass of OverwriteFreed.
	overwritten func()
	// listLater is ListFreeLater where that does something. missing are free pages that the list lacks.
	listLater bool
	missing   *missingPages
	// searches is called before free pages are searched for. The channel is closed when the search is to end.
	searches func(ended <-chan struct{})
	// openFile replaces os.OpenFile in tests.
	openFile func(string, int, os.FileMode) (*os.File, error)
	// link replaces os.Link in tests.
	link func(from, to string) error
}

// change is a row that a transaction has written.
type change struct {
	ref      storage.Ref
	revision uint32
}

// Store is a storage.Store in one file. It is also a storage.Checker and a storage.Sizer.
type Store struct {
	db *bbolt.DB
	// file is the file that db has open, and closes.
	file    *os.File
	path    string
	opening string
	// pageSize is that of the file.
	pageSize int
	// damagedHeaders is what was wrong with the headers when the file was opened.
	damagedHeaders []string
	has            contents
	// keys are those of an encrypted store now; nil in a plain one.
	keys   atomic.Pointer[keyring.Ring]
	synced func([]change)

	queue  *queue
	writer chan struct{} // closed when the writer has ended; nil where there is none

	closed atomic.Bool
	close  sync.Once

	// drafts are those that are being written.
	drafts drafts

	// search looks for free pages, until the store is closed. freeUnknown reports that not all are known.
	search      freeSearch
	freeUnknown atomic.Bool

	// erasing overwrites what a killed Defrag left, until the store is closed.
	erasing sync.WaitGroup

	// olderKeys and rotationRead are those of Statistics.
	olderKeys, rotationRead atomic.Int64

	// readers is locked for reading by each read, and for writing while the file is opened again.
	readers sync.RWMutex
	// reads are those that run, and committed is told of each transaction that has written.
	reads reads
	// wholeReads is locked for reading by each read of the whole store.
	wholeReads sync.RWMutex
	committed  atomic.Pointer[func(storage.Committed)]
	options    Options
	// identity is the file that was opened: no other one is written, or opened again.
	identity os.FileInfo
	// stuck reports that bbolt keeps its locks, so that closing it would wait for ever.
	stuck   atomic.Bool
	outages outages

	// acknowledged is the last transaction that is on the disk. Only the writer changes it, before anybody is told of it.
	acknowledged atomic.Int64

	// The rest is the writer's. unsettled is a transaction after the acknowledged one that may be on the disk. unfollowed
	// reports that follow is to be called before the next transaction, reopening that the file is to be opened again,
	// reserveGone that the reserve is given up.
	unsettled              int
	unfollowed             bool
	reopening, reserveGone bool
	// fallen reports that the file is open for reading, since its file system is read-only.
	fallen bool
	probes probes
	upkeep upkeep
	// listAll reports that the list of free pages is written whatever its length.
	listAll     bool
	overwriting overwriting
}

var (
	_ storage.Store   = (*Store)(nil)
	_ storage.Checker = (*Store)(nil)
	_ storage.Sizer   = (*Store)(nil)
	_ storage.Spacer  = (*Store)(nil)

	_ storage.Snapshotter = (*Store)(nil)

	_ storage.Fallible = (*Store)(nil)
	_ storage.Measured = (*Store)(nil)
	_ storage.Receiver = (*Store)(nil)
)

// DamagedHeaders returns what was wrong with the headers of the file when it was opened, although the store can be used.
func (s *Store) DamagedHeaders() []string { return s.damagedHeaders }

// Version is the version of the store's format.
func (s *Store) Version() uint32 { return s.has.version }

// Encrypted reports whether the values of the store are encrypted.
func (s *Store) Encrypted() bool { return s.keys.Load() != nil }

// form is how values are stored now.
func (s *Store) form() form { return form{keys: s.keys.Load()} }

// Close waits for running and waiting operations, and closes the file.
func (s *Store) Close() error {
	var err error
	s.close.Do(func() {
		s.closed.Store(true)
		s.queue.close()
		s.erasing.Wait()
		if s.stuck.Load() {
			err = s.lost()
			return
		}
		s.search.close()
		if s.writer != nil {
			<-s.writer
		}
		if s.db != nil {
			err = s.db.Close()
		}
	})
	return err
}

// Size returns the size of the file, and how much of it holds data that is not deleted.
func (s *Store) Size(ctx context.Context) (bytes, inUse int64, err error) {
	err = s.view(ctx, func(tx *transaction) error {
		info, err := os.Stat(s.path)
		if err != nil {
			return err
		}
		stats := s.db.Stats()
		free := int64(stats.FreePageN+stats.PendingPageN) * int64(s.db.Info().PageSize)
		bytes, inUse = info.Size(), tx.bolt.Size()-free
		return nil
	})
	return bytes, inUse, err
}

// FreeSpace returns how many bytes the file system of the store has left for this process.
func (s *Store) FreeSpace() (int64, error) { return storage.Folder(filepath.Dir(s.path)).FreeSpace() }

// view runs a short transaction that reads. fn must copy what it keeps.
func (s *Store) view(ctx context.Context, fn func(tx *transaction) error) (err error) {
	if s.closed.Load() {
		return storage.ErrClosed
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	s.readers.RLock()
	defer s.readers.RUnlock()
	if s.db == nil {
		return s.unreadable()
	}
	committed := s.acknowledged.Load()
	running := s.reads.begin(uint64(committed))
	defer s.reads.end(running)
	return s.guarded(func(begun func(*bbolt.Tx)) error {
		return s.db.View(func(tx *bbolt.Tx) error {
			begun(tx)
			if err := s.checkNewest(tx.ID(), committed); err != nil {
				return err
			}
			return fn(s.begin(tx))
		})
	})
}

// checkNewest returns an error where a transaction lacks a commit before it. bbolt reads the older header where the newer
// one has been damaged. No write would do now, until it is whole again.
func (s *Store) checkNewest(found int, committed int64) error {
	if int64(found) >= committed {
		return nil
	}
	if s.writer != nil {
		s.outages.begins(errHeaderDamaged, false)
	}
	return errHeaderDamaged
}

// nameDamaged adds the session to an error that is damage of its data. Use it as `defer nameDamaged(&err, ...)`.
func nameDamaged(err *error, tenant, sessionID string) {
	if errors.Is(*err, storage.ErrCorrupt) {
		*err = &storage.DamagedError{Tenant: tenant, SessionID: sessionID, Cause: *err}
	}
}

// guarded runs fn under guard.
func guarded(fn func() error) (err error) {
	defer guard(&err)()
	return fn()
}

// guard turns a panic into an error. bbolt asserts what it reads, and it reads a mapped file, where a sector that is
// damaged or missing is a fault. Use it as `defer guard(&err)()`.
func guard(err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if r := recover(); r != nil {
			*err = recovered(r)
		}
	}
}
