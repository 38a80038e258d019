package boltstore

import (
	"bytes"
	"sync/atomic"
	"time"

	"github.com/compactord/compactord/storage/bolt/internal/pages"
	"github.com/compactord/compactord/storage/internal/forms"
)

// With Options.OverwriteFreed the writer overwrites free pages after deletions, in passes over all that are free: a text
// that is deleted was copied to other pages by each append before, so that it stands not only in the pages that the
// deletion frees.
//
// A pass takes the list of free pages of one commit. Nothing that is read has one of its pages:
//   - The newest commit has none, nor any commit between: what a commit takes for its own trees and its own list leaves the
//     pass before its next step. One goroutine commits and overwrites, so that none takes a page meanwhile.
//   - A transaction that reads has none, since the pass begins when all those are over that read an earlier commit.
//   - After a kill at any moment the file begins with the newest commit, whose header was synced before the pass began. What
//     the commit before had may be gone, as always: the next commit would have overwritten it too.
//
// So a step is only a write of zeros, which may be done in part or not at all. What is not done before the end of the process
// is done by the first pass after the next opening.

const (
	// overwritePages is the most pages that a step reads, and writes where they are not zero, so that writers do not wait.
	overwritePages = 512
	// overwriteTurn is after how many commits in a row a step comes although operations wait.
	overwriteTurn = 8
	// readerPause is how long a pass waits before it looks again whether older reads have ended, and failurePause how long
	// after an error.
	readerPause, failurePause = 50 * time.Millisecond, 30 * time.Second
	// overwriteLast is the most steps before the store is closed.
	overwriteLast = 64
)

// overwriting is what the writer knows of its passes.
type overwriting struct {
	// wanted is when the first content was freed that no pass has begun to overwrite; zero where there is none.
	wanted time.Time
	// free are the pages of the pass; nil where none runs. began is the time from which on it overwrites what is freed.
	free  *pages.Free
	began time.Time
	// next is before when nothing is tried.
	next time.Time
	// turns are the commits since the last step.
	turns int
	// lag is the earlier one of wanted and began, in nanoseconds since 1970, for who watches; 0 where there is none.
	lag atomic.Int64
}

// freed notes that something was freed which must not be left.
func (s *Store) freed() {
	if s.options.OverwriteFreed && s.overwriting.wanted.IsZero() {
		s.overwriting.wanted = time.Now()
		s.overwriting.note()
	}
}

// again ends a pass that cannot go on, and wants another one.
func (o *overwriting) again() {
	if o.free != nil {
		o.free, o.wanted = nil, o.began
	}
}

// note tells who watches.
func (o *overwriting) note() {
	switch {
	case o.free != nil:
		o.lag.Store(o.began.UnixNano())
	case !o.wanted.IsZero():
		o.lag.Store(o.wanted.UnixNano())
	default:
		o.lag.Store(0)
	}
}

// wait returns how long to wait for the next step; waiting is false where there is none.
func (o *overwriting) wait() (wait time.Duration, waiting bool) {
	if o.free == nil && o.wanted.IsZero() {
		return 0, false
	}
	return time.Until(o.next), true
}

// overwrites does a step where one is due, and reports whether it did.
func (s *Store) overwrites() bool {
	o := &s.overwriting
	if wait, waiting := o.wait(); !waiting || wait > 0 {
		return false
	}
	o.turns = 0
	defer o.note()
	if !s.canKeepUp() || o.free == nil && !s.beginPass() {
		o.next = time.Now().Add(failurePause)
		return false
	}
	if s.reads.before(o.free.Since()) {
		o.next = time.Now().Add(readerPause)
		return false
	}
	more, err := s.overwriteSome()
	switch {
	case err != nil:
		o.again()
		o.next = time.Now().Add(failurePause)
	case !more:
		o.free = nil
		o.note()
		if s.options.overwritten != nil {
			s.options.overwritten()
		}
	}
	return err == nil
}

// inTurn does a step between commits, so that it does not wait for ever while all write.
func (s *Store) inTurn(sweeping bool) (still bool) {
	o := &s.overwriting
	if _, waiting := o.wait(); !waiting && !sweeping || !s.options.OverwriteFreed {
		return sweeping
	}
	if o.turns++; o.turns < overwriteTurn {
		return sweeping
	}
	o.turns = 0
	if sweeping {
		return s.sweep()
	}
	s.overwrites()
	return false
}

// overwriteBeforeClose goes on with a pass for a while.
func (s *Store) overwriteBeforeClose() {
	for range overwriteLast {
		if !s.overwrites() {
			return
		}
	}
}

// beginPass takes the free pages of the newest commit.
func (s *Store) beginPass() bool {
	o := &s.overwriting
	if !s.takeFree() {
		// Their list was too long for each commit, or could not be sealed. An empty commit writes another one.
		s.writeList()
		if !s.takeFree() {
			return false
		}
	}
	// The header that the file was opened with may be in memory only, after a kill.
	if err := s.file.Sync(); err != nil {
		o.free = nil
		return false
	}
	o.began, o.wanted = o.wanted, time.Time{}
	return true
}

// takeFree begins with the free pages of the newest commit, and reports whether they are known.
func (s *Store) takeFree() bool {
	o := &s.overwriting
	o.free = nil
	info, err := s.file.Stat()
	if err != nil {
		return false
	}
	err = s.newestCommit(func(newest *pages.Snapshot) error {
		o.free = newest.Free(uint64(info.Size() / int64(s.db.Info().PageSize)))
		return nil
	})
	return err == nil && o.free != nil
}

// overwriteSome overwrites the next pages of the pass, and reports whether more are left. What it has written is on the disk
// once none is.
func (s *Store) overwriteSome() (more bool, err error) {
	type run struct{ first, count uint64 }
	var runs []run
	err = s.newestCommit(func(newest *pages.Snapshot) error {
		for left := uint64(overwritePages); left > 0; {
			first, count, ok := s.overwriting.free.Take(newest, left)
			if !ok {
				return forms.Damaged("a page that was free is not in the list of free pages")
			}
			if count == 0 {
				return nil
			}
			runs, left = append(runs, run{first, count}), left-count
		}
		more = true
		return nil
	})
	if err != nil {
		return false, err
	}
	size := s.db.Info().PageSize
	for _, r := range runs {
		if err := s.zero(int64(r.first)*int64(size), int(r.count)*size); err != nil {
			return false, err
		}
	}
	if more {
		return true, nil
	}
	return false, s.file.Sync()
}

// zero writes zeros to a part of the file that has something else.
func (s *Store) zero(at int64, length int) error {
	content, zeros := make([]byte, length), make([]byte, length)
	// What cannot be read may still be written.
	if _, err := s.file.ReadAt(content, at); err == nil && bytes.Equal(content, zeros) {
		return nil
	}
	_, err := s.file.WriteAt(zeros, at)
	return err
}
