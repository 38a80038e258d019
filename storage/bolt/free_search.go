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
// free, whatever is written. Then the writer adds them to the list of the last commit, for which it opens the file again.
// After another kill the next opening begins anew.
//
// bbolt alone could find them earlier: where a commit fails after one without a list, it looks for all free pages itself,
// and may take them. What the search finds counts for nothing then.

// freeSearch is the search for free pages.
type freeSearch struct {
	running sync.WaitGroup
	// stop ends it; nil where there was none.
	stop func()
	// found gets the pages, and missing are those that it got. Only the writer uses them.
	found   chan *missingPages
	missing *missingPages
}

// missingPages are free pages that the list of a commit lacks.
type missingPages struct {
	pages  []uint64
	commit uint64
}

// of reports whether they are what the list of this commit lacks.
func (m *missingPages) of(newest *pages.Snapshot) bool {
	return m != nil && m.commit == newest.Commit() && newest.HasIncompleteList()
}

// end ends the search.
func (f *freeSearch) end() {
	if f.stop != nil {
		f.stop()
	}
	f.running.Wait()
}

// giveUp ends the search, and forgets what it has found: the next opening looks again.
func (f *freeSearch) giveUp() {
	f.end()
	f.found, f.missing = nil, nil
}

// searchFree begins to look for free pages where the list lacks some.
func (s *Store) searchFree() error {
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
	if !disk.LacksFree() || !disk.HasList() {
		return mapError(tx.Rollback())
	}
	found := make(chan *missingPages, 1)
	s.search.found = found
	ended := make(chan struct{})
	s.search.stop = sync.OnceFunc(func() { close(ended) })
	s.search.running.Go(func() {
		defer func() { _ = tx.Rollback() }()
		if s.options.searches != nil {
			s.options.searches(ended)
		}
		// Without the pages of damaged trees, free ones cannot be known: the list stays as it is.
		_ = guarded(func() error {
			if missing, ok := disk.Missing(func() bool { return isClosed(ended) }); ok {
				found <- &missingPages{pages: missing}
				s.queue.signal()
			}
			return nil
		})
	})
	return nil
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// completePause is how long the writer waits where it cannot open the file again now.
const completePause = 100 * time.Millisecond

// waitToComplete returns how long to wait until the list is completed; waiting is false where there is nothing to do.
func (s *Store) waitToComplete() (wait time.Duration, waiting bool) {
	return completePause, s.search.missing != nil
}

// completeList adds the pages to the list that were found. Reads wait while the file is opened again, which takes moments;
// it waits itself while one reads the whole store.
func (s *Store) completeList() {
	select {
	case s.search.missing = <-s.search.found:
	default:
	}
	if s.search.missing == nil || !s.canKeepUp() || !s.wholeReads.TryLock() {
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
	if err == nil || errors.Is(err, errNothing) || s.search.found == nil {
		return
	}
	listed := false
	if s.newestCommit(func(newest *pages.Snapshot) error { listed = newest.HasList(); return nil }) != nil || !listed {
		s.search.giveUp()
	}
}
