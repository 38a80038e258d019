package pages

import "encoding/binary"

// Free are pages in which nothing is needed any more: free after one commit, and not taken by any since. No snapshot from
// that commit on has one of them, so that they can be overwritten once the snapshots before it are not read any more.
type Free struct {
	// since and until are the first and the last of these commits.
	since, until uint64
	end          uint64
	pages        set
	// next is the page from which on Take looks.
	next uint64
}

// Free returns the free pages after a commit, and what the file has behind its last page, up to page end. It is nil unless
// the commit wrote a list of them that is as it was written.
func (s *Snapshot) Free(end uint64) *Free {
	if !s.HasSealedList() {
		return nil
	}
	list, err := s.freelist()
	if err != nil {
		return nil
	}
	f := &Free{
		since: s.meta.Transaction, until: s.meta.Transaction, end: max(end, s.meta.End), next: firstPage,
		pages: newSet(max(end, s.meta.End)),
	}
	for at := 0; at < len(list); at += 8 {
		f.pages.add(binary.NativeEndian.Uint64(list[at:]))
	}
	for id := s.meta.End; id < f.end; id++ {
		f.pages.add(id)
	}
	return f
}

// Since returns the commit after which all of them were free.
func (f *Free) Since() uint64 { return f.since }

// Follow takes out what the next commit has taken. It reports false where that cannot be known: then none may be
// overwritten.
func (f *Free) Follow(after *Snapshot) bool {
	before := after.previous()
	if before == nil || before.meta.Transaction != f.until {
		return false
	}
	change, err := changedBy(before, after)
	if err != nil {
		return false
	}
	for _, id := range change.added {
		count, ok := after.extent(id)
		if !ok {
			return false
		}
		f.remove(id, count)
	}
	if after.HasList() {
		f.remove(after.meta.Freelist, uint64(after.listPages()))
	}
	f.until = after.meta.Transaction
	return true
}

func (f *Free) remove(id, count uint64) {
	for ; count > 0 && id < f.end; id, count = id+1, count-1 {
		f.pages.remove(id)
	}
}

// Take takes out the next pages that follow each other, at most so many; count is 0 where none is left. The snapshot is
// that of the last commit: ok is false where its list of free pages lacks one of them.
func (f *Free) Take(newest *Snapshot, most uint64) (first, count uint64, ok bool) {
	for f.next < f.end && !f.pages.has(f.next) {
		f.next++
	}
	first = f.next
	for ; f.next < f.end && count < most && f.pages.has(f.next); f.next++ {
		if newest.free != nil && f.next < newest.meta.End && !newest.isFree(f.next) {
			return 0, 0, false
		}
		f.pages.remove(f.next)
		count++
	}
	return first, count, newest.meta.Transaction == f.until
}
