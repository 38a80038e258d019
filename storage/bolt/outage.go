package boltstore

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/bolt/internal/pages"
)

// While writes fail, the writer tries one by itself after probePause, and then after ever longer pauses up to
// maxProbePause.
const (
	probePause    = time.Second
	maxProbePause = 30 * time.Second
)

// outages tells watchers whether writes fail.
type outages struct {
	// lost is read by every call.
	lost     atomic.Bool
	mu       sync.Mutex
	now      storage.Outage
	watchers []func(storage.Outage)
}

// WatchOutages calls fn when writes begin to fail and when they succeed again.
func (s *Store) WatchOutages(fn func(storage.Outage)) {
	s.outages.mu.Lock()
	defer s.outages.mu.Unlock()
	s.outages.watchers = append(s.outages.watchers, fn)
	if s.outages.now.Err != nil {
		fn(s.outages.now)
	}
}

// current returns the outage; without error where there is none.
func (o *outages) current() storage.Outage {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.now
}

// begins says that a write has failed. An outage keeps its first error, except when the store is lost.
func (o *outages) begins(err error, lost bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.now.Lost || o.now.Err != nil && !lost {
		return
	}
	if o.now.Err == nil {
		o.now.Since = time.Now()
	}
	o.now.Err, o.now.Lost = err, lost
	o.lost.Store(lost)
	o.tell(o.now)
}

// ends says that writes succeed again.
func (o *outages) ends() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.now.Err == nil || o.now.Lost {
		return
	}
	over := storage.Outage{Since: o.now.Since}
	o.now = storage.Outage{}
	o.tell(over)
}

func (o *outages) tell(now storage.Outage) {
	for _, fn := range o.watchers {
		fn(now)
	}
}

// lose gives the store up: from now on every call gets the error.
func (s *Store) lose(format string, args ...any) error {
	s.outages.begins(fmt.Errorf("%w: %w", storage.ErrLost, fmt.Errorf(format, args...)), true)
	return s.outages.current().Err
}

// lost returns the error of a store that is lost.
func (s *Store) lost() error {
	if !s.outages.lost.Load() {
		return nil
	}
	return s.outages.current().Err
}

// probes says when the writer tries a write by itself.
type probes struct {
	pause time.Duration
	next  time.Time
}

// due returns how long to wait for the next probe, at most 0 where it is time; waiting is false without an outage.
func (s *Store) due() (wait time.Duration, waiting bool) {
	now := s.outages.current()
	if now.Err == nil || now.Lost || s.options.Reserve == 0 {
		s.probes = probes{}
		return 0, false
	}
	if s.probes.pause == 0 {
		s.probes = probes{pause: probePause, next: time.Now().Add(probePause)}
	}
	return time.Until(s.probes.next), true
}

// probe tries a write of the size of the reserve if it is time for that, and reports whether the outage has ended.
func (s *Store) probe() (ended bool) {
	if wait, waiting := s.due(); !waiting || wait > 0 {
		return false
	}
	if s.keepReserve() == nil {
		s.outages.ends()
		return true
	}
	s.probes.pause = min(2*s.probes.pause, maxProbePause)
	s.probes.next = time.Now().Add(s.probes.pause)
	return false
}

// idle waits until an operation comes, or a probe or a step of the upkeep is due, which it does.
func (s *Store) idle() {
	wait, waiting := s.due()
	for _, step := range []func() (time.Duration, bool){s.upkeep.wait, s.overwriting.wait, s.waitToComplete} {
		if pause, due := step(); due && (!waiting || pause < wait) {
			wait, waiting = pause, true
		}
	}
	if !waiting {
		<-s.queue.wake
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-s.queue.wake:
	case <-timer.C:
		s.keepUp()
	}
}

// attempt runs a transaction that writes, and once more where a first error of the disk left nothing of it. One that
// readers see is not run again, since it would find what it wrote itself: it has succeeded once it is settled. Its errors
// of the disk begin an outage, its success ends one. The caller follows its commit.
func (s *Store) attempt(fn func(tx *bbolt.Tx) error) error {
	before := s.unsettled
	err := s.carryOut(fn)
	if refuses(err) {
		s.outages.begins(err, false)
		// One error can pass, such as that of a single sync.
		if s.unsettled > before {
			if settled := s.settle(); settled == nil || errors.Is(settled, storage.ErrLost) {
				err = settled
			}
		} else if !errors.Is(err, storage.ErrFull) {
			err = s.carryOut(fn)
		}
	}
	// After an error for lack of room, only a probe shows that there is room again.
	if now := s.outages.current().Err; err == nil && (!errors.Is(now, storage.ErrFull) || s.options.Reserve == 0) {
		s.outages.ends()
	}
	return err
}

// refuses reports whether the disk refused a write, or the file has its largest size.
func refuses(err error) bool {
	return errors.Is(err, storage.ErrDisk) || errors.Is(err, storage.ErrFull)
}

// transact runs a transaction that writes, and follows its commit.
func (s *Store) transact(fn func(tx *bbolt.Tx) error) error {
	defer s.follow()
	return s.carryOut(fn)
}

// carryOut runs a transaction that writes. An error of the disk leaves either nothing of it, or a transaction that is
// settled before the next one begins. The caller follows its commit.
func (s *Store) carryOut(fn func(tx *bbolt.Tx) error) error {
	s.follow()
	if err := s.checkHeader(); err != nil {
		return err
	}
	if err := s.settle(); err != nil {
		return err
	}
	if err := s.checkPlace(); err != nil {
		return err
	}
	var open *bbolt.Tx
	id, committing, began := 0, false, time.Now()
	err := s.guarded(func(begun func(*bbolt.Tx)) error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			begun(tx)
			s.limitList()
			open, id = tx, tx.ID()
			if err := s.checkWhole(tx); err != nil {
				return err
			}
			if err := s.checkNewest(id-1, s.acknowledged.Load()); err != nil {
				// What bbolt knows of free pages is that of another commit now.
				s.reopening = true
				return err
			}
			if err := fn(tx); err != nil {
				return err
			}
			committing = true
			return nil
		})
	})
	switch {
	case err == nil:
		s.acknowledged.Store(int64(id))
		s.reportCommit(open, began)
		s.unfollowed = true
		return nil
	case open != nil && open.DB() != nil:
		// It could not be rolled back, and keeps the lock of all that write.
		s.stuck.Store(true)
		return s.lose("a transaction cannot be ended: %w", err)
	case !committing:
		s.noteFailure(err)
		return err
	}
	s.noteFailure(err)
	// Some of its pages can have been written to free ones.
	s.overwriting.again()
	s.freed()
	if s.options.failed != nil {
		s.options.failed()
	}
	if s.visible(id) {
		s.unsettled = id
		if s.settle() == nil {
			return nil
		}
		err = unknown(err)
	}
	if errors.Is(err, storage.ErrCorrupt) {
		// bbolt has panicked somewhere in a commit.
		s.reopening = true
		return err
	}
	if !refuses(err) {
		err = storage.NewDiskError(err)
	}
	return err
}

// visible reports whether readers see a transaction whose commit failed: where only the sync of its header did, they do,
// and what is on the disk is unknown.
func (s *Store) visible(id int) bool {
	last, err := s.lastTransaction()
	if err == nil && int64(last) < s.acknowledged.Load() {
		// bbolt took the list of free pages of the commit before.
		s.reopening = true
	}
	return err != nil || last >= id
}

// checkHeader returns an error where the header of the last commit is damaged. bbolt is not asked to write then: it would begin
// from the commit before, and mistake the pages that the last one has freed for some of its own.
func (s *Store) checkHeader() error {
	if s.db == nil {
		return nil
	}
	last, err := s.lastTransaction()
	if err != nil {
		return err
	}
	return s.checkNewest(last, s.acknowledged.Load())
}

// lastTransaction returns the number of the transaction that readers see.
func (s *Store) lastTransaction() (id int, err error) {
	err = s.guarded(func(begun func(*bbolt.Tx)) error {
		return s.db.View(func(tx *bbolt.Tx) error {
			begun(tx)
			id = tx.ID()
			return nil
		})
	})
	return id, err
}

// newestCommit calls fn with what the last commit has left. Where its header has been damaged since, fn is not called: by
// the header before it, pages would seem free that are in use.
func (s *Store) newestCommit(fn func(newest *pages.Snapshot) error) error {
	return s.guarded(func(begun func(*bbolt.Tx)) error {
		return s.db.View(func(tx *bbolt.Tx) error {
			begun(tx)
			if err := s.checkNewest(tx.ID(), s.acknowledged.Load()); err != nil {
				return err
			}
			return fn(s.begin(tx).disk)
		})
	})
}

// guarded runs a transaction of bbolt, and returns its error as one of package storage. Where bbolt panics before the
// transaction has begun, as it does where both headers cannot be read, it keeps its locks: every later transaction would
// wait for ever, so the store is lost.
func (s *Store) guarded(run func(begun func(*bbolt.Tx)) error) (err error) {
	if err := s.lost(); err != nil {
		return err
	}
	var mapped uintptr
	began, returned := false, false
	defer func() {
		err = s.explained(mapError(err), mapped)
		if !began && !returned {
			s.stuck.Store(true)
			err = s.lose("its headers cannot be read: %w", err)
		}
	}()
	defer guard(&err)()
	err = run(func(tx *bbolt.Tx) {
		began = true
		mapped = tx.DB().Info().Data
	})
	returned = true
	return err
}
