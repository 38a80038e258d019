package pages

import "encoding/binary"

// HasFollowingList reports whether the list of free pages is the one that follows from the sealed list of the commit
// before, by what the last commit has changed. A commit is sealed before the next one begins, so that after a kill this
// is so unless the newest list is sealed itself. It reads only the pages that the commit has changed, whatever the size
// of the file.
func (s *Snapshot) HasFollowingList() bool {
	list, err := s.freelist()
	if err != nil || !s.HasList() || !s.neverSealed(list) {
		return false
	}
	before := s.previous()
	if before == nil || !before.HasSealedList() {
		return false
	}
	free, ok := s.freeAfter(before)
	if !ok {
		return false
	}
	for at := 0; at < len(list); at += 8 {
		id := binary.NativeEndian.Uint64(list[at:])
		if !free.has(id) {
			return false
		}
		free.remove(id)
	}
	return free.empty()
}

// freeAfter returns the pages that neither a tree nor the list of free pages uses, from those that were free after the
// commit before.
func (s *Snapshot) freeAfter(before *Snapshot) (free set, ok bool) {
	change, err := changedBy(before, s)
	if err != nil {
		return nil, false
	}
	free = newSet(s.meta.End)
	for at := 0; at < len(before.free); at += 8 {
		free.add(binary.NativeEndian.Uint64(before.free[at:]))
	}
	for n := range uint64(before.listPages()) {
		free.add(before.meta.Freelist + n)
	}
	for id := before.meta.End; id < s.meta.End; id++ {
		free.add(id)
	}
	for _, id := range change.removed {
		free.add(id)
	}
	for n := range uint64(s.listPages()) {
		free.remove(s.meta.Freelist + n)
	}
	for _, id := range change.added {
		count, ok := s.extent(id)
		if !ok {
			return nil, false
		}
		for n := range count {
			free.remove(id + n)
		}
	}
	return free, true
}

// extent returns how many pages a page of a tree takes, with those that belong to it.
func (s *Snapshot) extent(id uint64) (count uint64, ok bool) {
	if leaf, ok := s.leafHeader(id); ok {
		return leaf.overflow + 1, true
	}
	p, err := s.readPage(id)
	if err != nil || p.leaf {
		return 0, false
	}
	end, err := p.check(values)
	return p.overflow + 1, err == nil && p.overflow == (end-1)/uint64(s.meta.PageSize)
}
