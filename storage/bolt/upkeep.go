package boltstore

import (
	"time"

	"go.etcd.io/bbolt"

	"github.com/compactord/compactord/storage/bolt/internal/pages"
)

// listedPages is the most free pages whose list is written with each commit. A longer list would make commits slow.
const listedPages = 16384

// The writer does what makes the next opening fast. It seals the list of free pages after each commit, once it has answered
// those who wait for that, and before the next one. While nothing is written, it seals a list that could not be sealed
// then, after sealPause; and after listPause it writes the list where that is too long for each commit. What is not done
// before a crash is done by the next opening, which then takes longer.
const (
	sealPause = 20 * time.Millisecond
	listPause = 30 * time.Second
)

// upkeep is what the writer does while nothing is written.
type upkeep struct {
	// last is when something was written.
	last time.Time
	// seal reports that the list of free pages is not sealed, list that there is none.
	seal, list bool
}

// wait returns how long to wait for the next step; waiting is false where there is none.
func (u *upkeep) wait() (wait time.Duration, waiting bool) {
	switch {
	case u.seal:
		return time.Until(u.last.Add(sealPause)), true
	case u.list:
		return time.Until(u.last.Add(listPause)), true
	default:
		return 0, false
	}
}

// keepUp does the step whose time has come.
func (s *Store) keepUp() {
	if wait, waiting := s.upkeep.wait(); !waiting || wait > 0 {
		return
	}
	if s.upkeep.seal {
		s.sealList()
		return
	}
	s.writeList()
}

// leave does all steps, since the store is being closed.
func (s *Store) leave() {
	s.overwriteBeforeClose()
	if s.upkeep.list {
		s.writeList()
	}
	if s.upkeep.seal {
		s.sealList()
	}
}

// canKeepUp reports whether the file is open and writes succeed. After an outage the next commit begins the upkeep anew.
func (s *Store) canKeepUp() bool {
	return s.db != nil && s.outages.current().Err == nil
}

// follow notes the last commit, and seals its list of free pages, if that is still to be done. It is done before the next
// commit begins, and after the answer to those who wait for this one.
func (s *Store) follow() {
	if !s.unfollowed {
		return
	}
	s.unfollowed = false
	if s.options.following != nil {
		defer s.options.following()()
	}
	sealed := s.followCommit()
	s.upkeep = upkeep{last: time.Now(), seal: !s.db.NoFreelistSync && !sealed, list: s.db.NoFreelistSync}
}

// limitList decides before a commit whether it writes the list of free pages.
func (s *Store) limitList() {
	stats := s.db.Stats()
	s.db.NoFreelistSync = !s.listAll && stats.FreePageN+stats.PendingPageN > s.options.mostListed()
}

// mostListed returns the most free pages whose list is written with each commit.
func (o Options) mostListed() int {
	if o.listed > 0 {
		return o.listed
	}
	return listedPages
}

// freelist returns how bbolt keeps the numbers of the free pages, of which there are so many. A map would be sorted for
// each list that is written; an array is copied by each commit.
func (o Options) freelist(free int) bbolt.FreelistType {
	if free > o.mostListed() {
		return bbolt.FreelistMapType
	}
	return bbolt.FreelistArrayType
}

// writeList writes the list of free pages, whatever its length. An error only makes the next opening slower.
func (s *Store) writeList() {
	s.upkeep.list = false
	if !s.canKeepUp() {
		return
	}
	s.listAll = true
	defer func() { s.listAll = false }()
	_ = s.transact(func(*bbolt.Tx) error { return nil })
}

// sealList seals the list of free pages that the last commit wrote. An error only makes the next opening slower.
func (s *Store) sealList() {
	s.upkeep.seal = false
	if !s.canKeepUp() {
		return
	}
	_ = s.newestCommit(s.writeSeal)
}

// writeSeal seals the list of free pages of a commit, if it wrote one.
func (s *Store) writeSeal(newest *pages.Snapshot) error {
	seal, at := newest.ListSeal()
	if seal == nil {
		return nil
	}
	_, err := s.file.WriteAt(seal, at)
	return err
}

// followCommit forgets that pages which are free since the last commit were sound, and seals their list. It reports
// whether it did that.
func (s *Store) followCommit() (sealed bool) {
	known := false
	err := s.newestCommit(func(newest *pages.Snapshot) error {
		s.has.sound.Committed(newest)
		if o := &s.overwriting; o.free != nil && !o.free.Follow(newest) {
			o.again()
		}
		known = true
		return s.writeSeal(newest)
	})
	if !known {
		s.overwriting.again()
		s.has.sound.Forget()
	}
	return err == nil
}
