package pages

import (
	"encoding/binary"
	"errors"
)

// Names returns the names of the buckets.
func (s *Snapshot) Names() ([]string, error) {
	var list []string
	c := s.names().Cursor()
	c.elements = names
	key, _, err := c.Seek(nil)
	for ; err == nil && key != nil; key, _, err = c.Next() {
		list = append(list, string(key))
	}
	return list, err
}

// names returns the tree of the names of the buckets.
func (s *Snapshot) names() *Tree { return &Tree{snapshot: s, root: s.meta.Root} }

// Walk reads all pages that are in use, and calls report for each that is damaged, with the name of its bucket; it
// goes on with the pages beside it, until ended reports true. It returns the pages in use.
func (s *Snapshot) Walk(ended func() bool, report func(bucket string, err error)) *Used {
	s = s.unchecked()
	w := &walk{ended: ended, snapshot: s, report: report}
	w.used = &Used{set: make([]uint64, s.meta.End/64+1), whole: true}
	w.tree("", s.names(), s.meta.Root, bounds{}, names, 0)
	return w.used
}

// unchecked returns the snapshot as if none of its pages had been checked before.
func (s *Snapshot) unchecked() *Snapshot {
	fresh := *s
	fresh.sound, fresh.checked, fresh.buckets = nil, map[uint64]page{}, nil
	return &fresh
}

// Used returns the pages in use, whatever the list of free pages says. Of leaves it reads only the beginning, so it is
// faster than Walk.
func (s *Snapshot) Used() *Used { return s.used(func() bool { return false }) }

func (s *Snapshot) used(ended func() bool) *Used {
	s = s.WithoutList()
	w := &walk{ended: ended, snapshot: s, report: func(string, error) {}, shallow: true}
	w.used = &Used{set: make([]uint64, s.meta.End/64+1), whole: true}
	w.tree("", s.names(), s.meta.Root, bounds{}, names, 0)
	return w.used
}

// Each calls visit for all keys of a bucket that can be read, and report for the pages that cannot.
func (s *Snapshot) Each(bucket string, visit func(key, value []byte), report func(err error)) {
	s = s.unchecked()
	w := &walk{
		ended: func() bool { return false }, snapshot: s, only: bucket, visit: visit,
		report: func(_ string, err error) { report(err) },
	}
	w.used = &Used{set: make([]uint64, s.meta.End/64+1)}
	w.tree("", s.names(), s.meta.Root, bounds{}, names, 0)
}

// Used are the pages in use.
type Used struct {
	set []uint64
	// whole reports that all could be read: no other page is in use.
	whole bool
	// unread is the first page that the system could not read.
	unread error
}

// Unread returns the error of the first page that the system could not read; nil where there is none.
func (u *Used) Unread() error { return u.unread }

// Whole reports whether all pages in use are known.
func (u *Used) Whole() bool { return u.whole }

func (u *Used) has(id uint64) bool { return u.set[id/64]&(1<<(id%64)) != 0 }
func (u *Used) add(id uint64)      { u.set[id/64] |= 1 << (id % 64) }

// walk is the progress of Walk.
type walk struct {
	ended    func() bool
	snapshot *Snapshot
	report   func(bucket string, err error)
	used     *Used
	// only is the bucket that is walked over, empty for all; visit is called for its keys, unless it is nil.
	only  string
	visit func(key, value []byte)
	// shallow: leaves with values are not read completely.
	shallow bool
}

func (w *walk) damaged(bucket string, err error) {
	w.used.whole = false
	var unread *ReadError
	if w.used.unread == nil && errors.As(err, &unread) {
		w.used.unread = err
	}
	w.report(bucket, err)
}

func (w *walk) tree(bucket string, t *Tree, id uint64, within bounds, elements kind, depth int) {
	if w.ended() {
		w.used.whole = false
		return
	}
	if depth == maxDepth {
		w.damaged(bucket, damaged(id, "it is a part of itself"))
		return
	}
	if w.shallow && elements == values && t.inline == nil {
		if leaf, ok := w.snapshot.leafHeader(id); ok {
			if err := w.take(t, leaf, depth); err != nil {
				w.damaged(bucket, err)
			}
			return
		}
	}
	p, err := t.load(id, within, elements)
	if err == nil && t.inline == nil {
		err = w.take(t, p, depth)
	}
	if err != nil {
		w.damaged(bucket, err)
		return
	}
	for i := range p.count {
		if !p.leaf {
			w.tree(bucket, t, p.child(i), within.child(&p, i), elements, depth+1)
			continue
		}
		key, value := p.keyAndValue(i)
		switch {
		case elements == values:
			if w.visit != nil {
				w.visit(key, value)
			}
		case w.only == "" || w.only == string(key):
			inner, err := w.snapshot.tree(p.id, value)
			if err != nil {
				w.damaged(string(key), err)
				continue
			}
			w.tree(string(key), inner, inner.root, bounds{}, values, 0)
		}
	}
}

// take counts a page of a tree, with those that belong to it, as used.
func (w *walk) take(t *Tree, p page, depth int) error {
	if p.leaf {
		if t.leaves == 0 {
			t.leaves = depth
		}
		if depth != t.leaves {
			return damaged(p.id, "it is not as deep in its tree as other leaves")
		}
	}
	for id := p.id; id <= p.id+p.overflow; id++ {
		if w.used.has(id) {
			return damaged(id, "it is in use twice")
		}
		if w.snapshot.isFree(id) {
			return damaged(id, "it is in use and in the list of free pages")
		}
		w.used.add(id)
	}
	return nil
}

// CheckFreelist compares the list of free pages with the pages in use. Where none was written there is nothing to
// compare.
func (s *Snapshot) CheckFreelist(used *Used) error {
	if !s.meta.HasFreelist() {
		return nil
	}
	list, err := s.freelist()
	if err != nil {
		return err
	}
	own := uint64(s.listPages())
	free := 0
	for at := 0; at < len(list); at += 8 {
		id := binary.NativeEndian.Uint64(list[at:])
		if used.has(id) || (id >= s.meta.Freelist && id < s.meta.Freelist+own) {
			return damaged(id, "it is in use and in the list of free pages")
		}
		free++
	}
	if !used.whole {
		return nil
	}
	inUse := firstPage + int(own)
	for id := uint64(firstPage); id < s.meta.End; id++ {
		if used.has(id) {
			inUse++
		}
	}
	if lost := int(s.meta.End) - inUse - free; lost != 0 && !s.LacksFree() {
		return damaged(s.meta.Freelist, "%d pages are neither in use nor in the list of free pages", lost)
	}
	return nil
}

// listPages returns the number of pages of the list of free pages.
func (s *Snapshot) listPages() int {
	header, err := s.source.bytes(int64(s.meta.Freelist)*int64(s.meta.PageSize), headerSize)
	if err != nil {
		return 0
	}
	return 1 + int(binary.NativeEndian.Uint32(header[12:]))
}
