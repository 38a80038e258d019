package pages

import (
	"bytes"
	"encoding/binary"
)

// Tree is the tree of a bucket.
type Tree struct {
	snapshot *Snapshot
	// root is the page at its top. A small bucket has none: its only leaf, inline, is a part of the page of names.
	root   uint64
	inline *page
	// leaves is the depth of the leaves that were walked over; 0 where that is the root or not known yet.
	leaves int
	// reached is the depth of a leaf that was reached and of another one; 0 where none was compared yet.
	reached int
	// own is the cursor of Find, Verify and VerifyAround; verified is the last leaf that they checked completely.
	own      *Cursor
	verified uint64
}

// Bucket returns the tree of a bucket; nil where there is no such bucket.
func (s *Snapshot) Bucket(name []byte) (*Tree, error) {
	if s.buckets == nil {
		s.buckets = s.names().Cursor()
		s.buckets.elements = names
	}
	key, value, err := s.buckets.Seek(name)
	if err != nil || !bytes.Equal(key, name) {
		return nil, err
	}
	return s.tree(s.buckets.stack[len(s.buckets.stack)-1].page.id, value)
}

// tree returns the tree that a value in the page of names describes.
func (s *Snapshot) tree(id uint64, value []byte) (*Tree, error) {
	if len(value) < bucketSize {
		return nil, damaged(id, "the entry of a bucket is cut short")
	}
	t := &Tree{snapshot: s, root: binary.NativeEndian.Uint64(value)}
	if t.root != 0 {
		if len(value) != bucketSize {
			return nil, damaged(id, "the entry of a bucket is too long")
		}
		return t, nil
	}
	b := value[bucketSize:]
	if len(b) < headerSize {
		return nil, damaged(id, "a bucket within it is cut short")
	}
	p := page{id: id, leaf: true, count: int(binary.NativeEndian.Uint16(b[10:])), bytes: b}
	if binary.NativeEndian.Uint64(b) != 0 || binary.NativeEndian.Uint16(b[8:]) != leafFlag ||
		binary.NativeEndian.Uint32(b[12:]) != 0 {
		return nil, damaged(id, "a bucket within it is no leaf")
	}
	end, err := p.check(values)
	if err != nil {
		return nil, err
	}
	if end != uint64(len(b)) {
		return nil, damaged(id, "a bucket within it does not end where its last element ends")
	}
	t.inline = &p
	return t, nil
}

// Root returns the page at the top of a tree; 0 where it has none.
func (t *Tree) Root() uint64 { return t.root }

// bounds are the keys between which those of a page lie. first is its first key, end is above its last; nil where
// there is no bound. from is the branch that leads to the page; 0 for the one at the top.
type bounds struct {
	first, end []byte
	from       uint64
}

// child returns the bounds of a branch's element.
func (b bounds) child(p *page, i int) bounds {
	inner := bounds{first: p.key(i), end: b.end, from: p.id}
	if i+1 < p.count {
		inner.end = p.key(i + 1)
	}
	return inner
}

// hasDepth reports whether a leaf below an element of the page at the top of the tree is at the same depth as others: it
// may be reached by a pointer that leads past a branch, to the first leaf below it. One other leaf that is as deep will do.
func (t *Tree) hasDepth(top *level, depth int) bool {
	if depth == t.reached {
		return true
	}
	others := 0
	for _, i := range []int{top.index - 1, top.index + 1, 0, top.page.count - 1} {
		if i < 0 || i >= top.page.count || i == top.index {
			continue
		}
		switch found, ok := t.snapshot.depthBelow(top.page.child(i)); {
		case ok && found == depth:
			t.reached = depth
			return true
		case ok:
			others++
		}
	}
	return others == 0
}

// depthBelow returns the depth of the first leaf below a page that the page at the top of a tree leads to.
func (s *Snapshot) depthBelow(id uint64) (depth int, ok bool) {
	for depth = 1; depth < maxDepth && id >= firstPage && id < s.meta.End; depth++ {
		b, err := s.source.bytes(int64(id)*int64(s.meta.PageSize), headerSize+elementSize)
		if err != nil || binary.NativeEndian.Uint64(b) != id {
			return 0, false
		}
		if binary.NativeEndian.Uint16(b[8:]) != branchFlag {
			return depth, true
		}
		id = (&page{bytes: b}).child(0)
	}
	return 0, false
}

// has reports whether a search for a key leads to the page with these bounds.
func (b bounds) has(key []byte) bool {
	return (b.first == nil || bytes.Compare(key, b.first) >= 0) && (b.end == nil || bytes.Compare(key, b.end) < 0)
}

// load reads the page at the top of a tree, or one below a branch, and checks its keys against the bounds.
func (t *Tree) load(id uint64, within bounds, elements kind) (page, error) {
	if t.inline != nil {
		return *t.inline, nil
	}
	p, err := t.snapshot.page(id, within.from, elements)
	if err != nil {
		return page{}, err
	}
	if p.count == 0 {
		if within.first != nil {
			return page{}, damaged(id, "it has no elements")
		}
		return p, nil
	}
	if within.first != nil && !bytes.Equal(p.key(0), within.first) {
		return page{}, damaged(id, "its first key is not that of the branch above it")
	}
	if within.end != nil && bytes.Compare(p.key(p.count-1), within.end) >= 0 {
		return page{}, damaged(id, "its keys reach into the next page")
	}
	return p, nil
}
