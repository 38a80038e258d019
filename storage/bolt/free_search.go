package boltstore

import (
	"errors"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage/bolt/internal/pages"
)

// While more pages are free than listedPages, commits write no list of them, and after a kill all pages in use are to be
// read to find them. A store with ListFreeLater is opened with a list of none in place of that, and its header says that it
// lacks some. The pages are looked for in the commit that the opening found. Nobody knows of them meanwhile, so they stay
// free, whatever is written. Then the writer adds them to the list of the last commit, for which it opens the file again. Where
// there is no room for the longer list, it tries again later. After another kill the next opening begins anew, and so does one
// after an error of the disk.
//
// bbolt alone could find them earlier: where a commit fails after one without a list, it looks for all free pages itself,
// and may take them. What the search finds counts for nothing then.

// freeSearch is the search for free pages.
type freeSearch struct {
	mu      sync.Mutex
	running sync.WaitGroup
	// stop ends it; nil where there was none. closed reports that none begins any more.
	stop   func()
	closed bool
	// found gets the pages, and missing are those that it got. The list is completed at next at the earliest, or pause later
	// where that fails. Only the writer uses these.
	found   chan *missingPages
	missing *missingPages
	next    time.Time
	pause   time.Duration
}

// missingPages are free pages that the list of a commit lacks.
type missingPages struct {
	pages  []uint64
	commit uint64
}

// belongTo reports whether they are what the list of this commit lacks.
func (m *missingPages) belongTo(newest *pages.Snapshot) bool {
	return m != nil && m.commit == newest.Commit() && newest.HasIncompleteList()
}

// begin begins a search, which ends when the channel is closed. Where the search is closed, that is at once.
func (f *freeSearch) begin(search func(ended <-chan struct{})) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ended := make(chan struct{})
	if f.closed {
		close(ended)
		search(ended)
		return
	}
	f.stop = sync.OnceFunc(func() { close(ended) })
	f.running.Go(func() { search(ended) })
}

// end ends the search.
func (f *freeSearch) end() {
	f.mu.Lock()
	stop := f.stop
	f.mu.Unlock()
	if stop != nil {
		stop()
	}
	f.running.Wait()
}

// close ends the search, and those that begin later.
func (f *freeSearch) close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.end()
}

// giveUp ends the search, and forgets what it has found: the next opening looks again.
func (f *freeSearch) giveUp() {
	f.end()
	f.found, f.missing = nil, nil
}

// searchFree begins to look for free pages where the list lacks some. known are some that were found before, and could not be
// added yet.
func (s *Store) searchFree(known *missingPages) error {
	if s.fallen || !s.options.ListFreeLater {
		return nil
	}
	tx, err := s.db.Begin(false)
	if err != nil {
		return mapError(err)
	}
	if err := s.checkNewest(tx.ID(), s.acknowledged.Load()); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	disk := begin(tx, s.has).disk
	switch {
	case !disk.LacksFree() || !disk.HasList():
		return mapError(tx.Rollback())
	case known.belongTo(disk):
		s.search.missing = known
		s.search.pause = min(2*s.search.pause, maxCompletePause)
		s.search.next = time.Now().Add(s.search.pause)
		return mapError(tx.Rollback())
	}
	found := make(chan *missingPages, 1)
	s.search.found, s.search.pause, s.search.next = found, completePause, time.Time{}
	s.search.begin(func(ended <-chan struct{}) {
		defer func() { _ = tx.Rollback() }()
		if s.options.searches != nil {
			s.options.searches(ended)
		}
		var missing []uint64
		err := guarded(func() (err error) {
			missing, err = disk.Missing(func() bool { return isClosed(ended) })
			return err
		})
		if isClosed(ended) {
			return
		}
		if s.options.FreeSearched != nil {
			s.options.FreeSearched(int64(len(missing))*int64(s.pageSize), err)
		}
		if err == nil {
			found <- &missingPages{pages: missing}
			s.queue.signal()
		}
	})
	return nil
}

// searchAgain begins the search anew where it was ended before it had found the pages. An error leaves it to the next opening.
func (s *Store) searchAgain() {
	if s.freeUnknown.Load() && s.search.missing == nil && len(s.search.found) == 0 {
		_ = s.searchFree(nil)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// completePause is how long the writer waits where it cannot open the file again now. Where there is no room for the longer
// list, it waits twice as long each time, up to maxCompletePause.
const (
	completePause    = 100 * time.Millisecond
	maxCompletePause = 30 * time.Second
)

// waitToComplete returns how long to wait until the list is completed; waiting is false where there is nothing to do. What
// follows the end of an outage looks anyway.
func (s *Store) waitToComplete() (wait time.Duration, waiting bool) {
	return time.Until(s.search.next), s.search.missing != nil && s.canKeepUp()
}

// completeList adds the pages to the list that were found. Reads wait while the file is opened again, which takes moments;
// it waits itself while one reads the whole store.
func (s *Store) completeList() {
	select {
	case s.search.missing = <-s.search.found:
	default:
	}
	if wait, waiting := s.waitToComplete(); !waiting || wait > 0 {
		return
	}
	if !s.wholeReads.TryLock() {
		s.search.next = time.Now().Add(completePause)
		return
	}
	defer s.wholeReads.Unlock()
	s.listAll = true
	err := s.transact(func(*bbolt.Tx) error { return nil })
	s.listAll = false
	switch {
	case refuses(err):
		s.outages.begins(err, false)
		return
	case errors.Is(err, errHeaderDamaged):
		// Nothing was tried.
		s.search.next = time.Now().Add(completePause)
		return
	case err != nil:
		s.search.giveUp()
		return
	case s.search.missing == nil:
		return
	}
	s.search.missing.commit = uint64(s.acknowledged.Load())
	s.reopening = true
	if err := s.settle(); err != nil {
		s.outages.begins(err, false)
	}
}

// noteFailure gives up the search where bbolt has looked for the free pages itself, since a transaction failed.
func (s *Store) noteFailure(err error) {
	if err == nil || errors.Is(err, errNothing) || s.search.found == nil && s.search.missing == nil {
		return
	}
	listed := false
	if s.newestCommit(func(newest *pages.Snapshot) error { listed = newest.HasList(); return nil }) != nil || !listed {
		s.search.giveUp()
		s.freeUnknown.Store(false)
	}
}
