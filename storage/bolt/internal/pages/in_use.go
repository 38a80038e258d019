package pages

import "encoding/binary"

// inUse are the pages at which those of trees begin, after a commit that wrote no list of free pages. Without them a
// pointer that leads to an older copy of its page could not be seen: the copy is whole, begins with the same key, and only
// lacks what was written since.
//
// The writer keeps them from the last list on, by what each commit has changed. They stand in memory alone: a pointer that
// was damaged before a file without a list was opened counts as right. Readers see a commit while its header is still
// being synced, before its pages are known: then the pointers of pages that it has written itself count as right, too, and
// all pointers if the commit before had a list.
type inUse struct {
	// commit is the number of the commit.
	commit uint64
	chunks []*chunk
	// before are those of the commit before, for readers that began just before this one; nil where they are not known.
	before *inUse
}

// chunk is the part of inUse for chunkPages pages. It is not changed once readers can see it.
type chunk [chunkPages / 64]uint64

const chunkPages = 1 << 15

func (u *inUse) has(id uint64) bool {
	at := id / chunkPages
	return at < uint64(len(u.chunks)) && u.chunks[at][id%chunkPages/64]&(1<<(id%64)) != 0
}

// at returns the pages of a commit, or else those of the commit before it; nil where neither are known.
func (u *inUse) at(commit uint64) *inUse {
	if u != nil && u.commit > commit {
		u = u.before
	}
	if u == nil || u.commit != commit && u.commit+1 != commit {
		return nil
	}
	return u
}

// leadsAstray reports whether a pointer of page from, 0 for the top of a tree, leads to a page that is not in use, as far
// as these are known. Where there is a list of free pages, that says so.
func (s *Snapshot) leadsAstray(from, id uint64) bool {
	switch {
	case s.inUse == nil || s.free != nil:
		return false
	case s.inUse.commit == s.meta.Transaction:
		return !s.inUse.has(id)
	default:
		// A page of the commit before still has the pointers that it had then.
		return s.inUse.has(from) && !s.inUse.has(id)
	}
}

// inUseNow returns the pages in use, from the branches alone: of a large file a hundredth. It is nil where a branch is
// damaged.
func (s *Snapshot) inUseNow() *inUse {
	change, err := changedBy(&Snapshot{source: s.source}, s)
	if err != nil {
		return nil
	}
	return new(inUse).after(s, change)
}

// inUseAfter returns the pages in use after a commit, from those before it, and the pages that it has freed; nil where
// they cannot be known.
func (u *inUse) inUseAfter(s *Snapshot) (used *inUse, freed []uint64) {
	before := s.previous()
	if before == nil {
		return nil, nil
	}
	if u == nil || u.commit != before.meta.Transaction {
		if before.free == nil {
			return nil, nil
		}
		u = before.allButFree()
	}
	change, err := changedBy(before, s)
	if err != nil {
		return nil, nil
	}
	return u.after(s, change), without(change.removed, change.added)
}

// after returns the pages after a commit that has changed these.
func (u *inUse) after(s *Snapshot, c *change) *inUse {
	before := &inUse{commit: u.commit, chunks: u.chunks}
	next := &inUse{commit: s.meta.Transaction, chunks: make([]*chunk, s.meta.End/chunkPages+1), before: before}
	copy(next.chunks, u.chunks)
	own := make([]bool, len(next.chunks))
	word := func(id uint64) *uint64 {
		at := id / chunkPages
		if !own[at] {
			copied := new(chunk)
			if next.chunks[at] != nil {
				*copied = *next.chunks[at]
			}
			next.chunks[at], own[at] = copied, true
		}
		return &next.chunks[at][id%chunkPages/64]
	}
	for _, id := range c.removed {
		*word(id) &^= 1 << (id % 64)
	}
	for _, id := range c.added {
		*word(id) |= 1 << (id % 64)
	}
	for at, c := range next.chunks {
		if c == nil {
			next.chunks[at] = new(chunk)
		}
	}
	return next
}

// allButFree returns all pages that are not in the list of free pages, nor a part of it. Some of them only continue a page
// of a tree: no other one is there before that is removed.
func (s *Snapshot) allButFree() *inUse {
	u := &inUse{commit: s.meta.Transaction, chunks: make([]*chunk, s.meta.End/chunkPages+1)}
	for at := range u.chunks {
		u.chunks[at] = new(chunk)
		for i := range u.chunks[at] {
			u.chunks[at][i] = ^uint64(0)
		}
	}
	remove := func(id uint64) { u.chunks[id/chunkPages][id%chunkPages/64] &^= 1 << (id % 64) }
	for at := 0; at < len(s.free); at += 8 {
		if id := binary.NativeEndian.Uint64(s.free[at:]); id < s.meta.End {
			remove(id)
		}
	}
	for n := range uint64(s.listPages()) {
		remove(min(s.meta.Freelist+n, s.meta.End))
	}
	// No pointer leads to the headers, and what is behind the end is not in use yet.
	for id := range uint64(firstPage) {
		remove(id)
	}
	for id := s.meta.End; id < uint64(len(u.chunks))*chunkPages; id++ {
		remove(id)
	}
	return u
}

// previous returns the snapshot of the commit before, whose pages no commit has written again yet; nil where its header
// is damaged.
func (s *Snapshot) previous() *Snapshot {
	at := int64((s.meta.Transaction+1)%2) * int64(s.meta.PageSize)
	header, err := s.source.bytes(at, headerSize+metaSize)
	if err != nil {
		return nil
	}
	meta, ok := ParseMeta(header)
	if !ok || meta.Transaction+1 != s.meta.Transaction || meta.End > s.meta.End || meta.PageSize != s.meta.PageSize {
		return nil
	}
	before := &Snapshot{source: s.source, meta: meta, checked: map[uint64]page{}}
	before.free, _ = before.listPage()
	return before
}
