package pages

import (
	"encoding/binary"
	"slices"
)

// HasCheckedList reports whether there is a list of free pages that got no seal, as before a crash, and holds no page in
// use. It reads the branches only, and the headers of the leaves before free pages: of a large file a hundredth. So it
// does not see all pages that are in neither. Where a page is damaged, it reports false.
func (s *Snapshot) HasCheckedList() bool {
	list, err := s.freelist()
	if err != nil || !s.HasList() || !s.neverSealed(list) || s.LacksFree() {
		return false
	}
	c := &listCheck{snapshot: s.unchecked(), free: newSet(s.meta.End), starts: newSet(s.meta.End)}
	for at := 0; at < len(list); at += 8 {
		c.free.add(binary.NativeEndian.Uint64(list[at:]))
	}
	// The list's own pages are no more in use by a tree than free ones.
	for n := range uint64(s.listPages()) {
		if id := s.meta.Freelist + n; id >= s.meta.End || c.free.has(id) {
			return false
		}
		c.free.add(s.meta.Freelist + n)
	}
	return c.names() && c.ends()
}

// neverSealed reports whether the pages of the list hold nothing behind it. A seal that is wrong would be there.
func (s *Snapshot) neverSealed(list []byte) bool {
	whole, err := s.source.bytes(int64(s.meta.Freelist)*int64(s.meta.PageSize), int64(s.listPages())*int64(s.meta.PageSize))
	if err != nil {
		return false
	}
	for _, b := range whole[s.listStart(whole)+int64(len(list)):] {
		if b != 0 {
			return false
		}
	}
	return true
}

// set is a set of pages.
type set []uint64

func newSet(end uint64) set { return make(set, end/64+1) }

func (s set) has(id uint64) bool { return s[id/64]&(1<<(id%64)) != 0 }
func (s set) add(id uint64)      { s[id/64] |= 1 << (id % 64) }
func (s set) remove(id uint64)   { s[id/64] &^= 1 << (id % 64) }
func (s set) empty() bool {
	return !slices.ContainsFunc(s, func(word uint64) bool { return word != 0 })
}

// listCheck is the progress of HasCheckedList.
type listCheck struct {
	snapshot *Snapshot
	// free are the pages that no tree may use, starts those where a page of a tree begins.
	free, starts set
}

// names goes over the trees of all buckets. The names fit a few pages.
func (c *listCheck) names() bool {
	tree := c.snapshot.names()
	cursor := tree.Cursor()
	cursor.elements = names
	key, value, err := cursor.Seek(nil)
	for ; err == nil && key != nil; key, value, err = cursor.Next() {
		top := cursor.stack[len(cursor.stack)-1].page
		for _, l := range cursor.stack {
			c.starts.add(l.page.id)
		}
		inner, err := c.snapshot.tree(top.id, value)
		if err != nil {
			return false
		}
		if inner.inline != nil {
			continue
		}
		depth, ok := c.snapshot.depthBelow(inner.root)
		if !ok || !c.tree(inner, inner.root, bounds{}, depth) {
			return false
		}
	}
	return err == nil
}

// tree goes over the pages of a tree down to its leaves, which are not read. depth is how far these are, 1 for a leaf.
func (c *listCheck) tree(t *Tree, id uint64, within bounds, depth int) bool {
	if id < firstPage || id >= c.snapshot.meta.End || c.free.has(id) || c.starts.has(id) {
		return false
	}
	c.starts.add(id)
	if depth == 1 {
		return true
	}
	p, err := t.load(id, within, values)
	if err != nil || p.leaf {
		return false
	}
	// It is not needed again, and a large file has many.
	delete(c.snapshot.checked, id)
	for i := range p.count {
		if !c.tree(t, p.child(i), within.child(&p, i), depth-1) {
			return false
		}
	}
	return true
}

// ends reports whether the pages before free ones end where these begin.
func (c *listCheck) ends() bool {
	last := uint64(0)
	for id := uint64(firstPage); id < c.snapshot.meta.End; id++ {
		switch {
		case c.starts.has(id):
			last = id
		case c.free.has(id):
			if last != 0 && !c.endsBefore(last, id) {
				return false
			}
			last = 0
		case last == 0:
			// It is in neither.
			return false
		}
	}
	return true
}

// endsBefore reports whether a page of a tree, with those that belong to it, ends where another begins.
func (c *listCheck) endsBefore(id, next uint64) bool {
	p, ok := c.snapshot.leafHeader(id)
	if ok {
		return p.id+p.overflow+1 == next
	}
	p, err := c.snapshot.readPage(id)
	return err == nil && id+p.overflow+1 == next && !p.leaf
}
