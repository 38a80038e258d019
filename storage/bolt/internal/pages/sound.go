package pages

import (
	"encoding/binary"
	"sync/atomic"
)

// Sound remembers which pages of values were found sound, as long as one process has the file open.
//
// A page in use is not written again. It is freed by a commit first, and the next commit at the earliest takes it for
// something else. So all pages that are free after a commit are forgotten before the next one, and a reader of an older
// snapshot, which may still see such a page, adds nothing.
type Sound struct {
	// newest is the last commit whose free pages were forgotten.
	newest atomic.Uint64
	pages  atomic.Pointer[[]atomic.Uint64]
	// inUse are the pages in use after the newest commit, where it wrote no list of free pages; nil where they are not known.
	inUse atomic.Pointer[inUse]
}

// NewSound returns an empty set for a file that ends with this snapshot.
func NewSound(newest *Snapshot) *Sound {
	s := new(Sound)
	s.newest.Store(newest.meta.Transaction)
	known := make([]atomic.Uint64, newest.meta.End/64+1)
	s.pages.Store(&known)
	if newest.free == nil {
		s.inUse.Store(newest.inUseNow())
	}
	return s
}

// Remember makes the snapshot skip what sound says was checked, and tell it what it checks.
func (s *Snapshot) Remember(sound *Sound) {
	s.sound = sound
	if sound != nil {
		s.inUse = sound.inUse.Load().at(s.meta.Transaction)
	}
}

// Committed forgets the pages that are free after a commit. One goroutine calls it, after each commit and before the
// next one begins.
func (s *Sound) Committed(after *Snapshot) {
	if s == nil {
		return
	}
	used, freed := s.used(after)
	s.inUse.Store(used)
	s.newest.Store(after.meta.Transaction)
	known := *s.pages.Load()
	words := int(after.meta.End/64 + 1)
	if after.free == nil && used == nil {
		// Which pages are free is not known.
		grown := make([]atomic.Uint64, max(len(known), words))
		s.pages.Store(&grown)
		return
	}
	if words > len(known) {
		grown := make([]atomic.Uint64, words+words/4)
		for i := range known {
			grown[i].Store(known[i].Load())
		}
		s.pages.Store(&grown)
	}
	s.forgetAll(after.free)
	for _, id := range freed {
		s.forget(id)
	}
}

// used returns the pages in use after a commit that wrote no list of free pages, and those that it has freed; nil where
// it wrote one, and where they are not known.
func (s *Sound) used(after *Snapshot) (used *inUse, freed []uint64) {
	if after.free != nil {
		return nil, nil
	}
	return s.inUse.Load().inUseAfter(after)
}

// forgetAll forgets the pages of a list of free pages. Many of them are next to each other.
func (s *Sound) forgetAll(free []byte) {
	known := *s.pages.Load()
	for at := 0; at < len(free); {
		word, bits := binary.NativeEndian.Uint64(free[at:])/64, uint64(0)
		for ; at < len(free); at += 8 {
			id := binary.NativeEndian.Uint64(free[at:])
			if id/64 != word {
				break
			}
			bits |= 1 << (id % 64)
		}
		if word < uint64(len(known)) && known[word].Load()&bits != 0 {
			known[word].And(^bits)
		}
	}
}

// Forget forgets all pages, and adds none before the next commit.
func (s *Sound) Forget() {
	if s != nil {
		s.newest.Store(0)
		s.inUse.Store(nil)
		s.pages.Store(new([]atomic.Uint64))
	}
}

func (s *Sound) has(id uint64) bool {
	if s == nil {
		return false
	}
	known := *s.pages.Load()
	return id/64 < uint64(len(known)) && known[id/64].Load()&(1<<(id%64)) != 0
}

// add adds a page that the snapshot of a transaction has, while that snapshot is in use.
func (s *Sound) add(id, transaction uint64) {
	if s == nil {
		return
	}
	if known := *s.pages.Load(); id/64 < uint64(len(known)) {
		known[id/64].Or(1 << (id % 64))
	}
	if s.newest.Load() != transaction {
		// A later commit may have freed it, before or after it was added.
		s.forget(id)
	}
}

func (s *Sound) forget(id uint64) {
	if s.has(id) {
		known := *s.pages.Load()
		known[id/64].And(^uint64(1 << (id % 64)))
	}
}
