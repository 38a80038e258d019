package pages

import "slices"

// change is what one commit has changed: the pages that its trees have no more, with those that continue them, and those
// at which the new ones begin.
type change struct{ removed, added []uint64 }

// changedBy compares the trees of two snapshots. A page in use is not written again, so what is below a page that both
// have is the same in both: only branches that one of them has alone are read. The first may be one without trees.
func changedBy(before, after *Snapshot) (*change, error) {
	c := new(change)
	if before.meta.Root == after.meta.Root {
		return c, nil
	}
	old, err := before.rootsOf(&c.removed)
	if err != nil {
		return nil, err
	}
	roots, err := after.rootsOf(&c.added)
	if err != nil {
		return nil, err
	}
	for name, root := range roots {
		if err := c.tree(before, after, old[name], root); err != nil {
			return nil, err
		}
		delete(old, name)
	}
	for _, root := range old {
		if err := c.tree(before, after, 0, root); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// rootsOf returns the page at the top of each bucket's tree, 0 where it has none, and adds the pages of their names to
// pages.
func (s *Snapshot) rootsOf(pages *[]uint64) (map[string]uint64, error) {
	roots := map[string]uint64{}
	if s.meta.Root == 0 {
		return roots, nil
	}
	cursor := s.names().Cursor()
	cursor.elements = names
	key, value, err := cursor.Seek(nil)
	for ; err == nil && key != nil; key, value, err = cursor.Next() {
		for _, l := range cursor.stack {
			for n := range l.page.overflow + 1 {
				*pages = append(*pages, l.page.id+n)
			}
		}
		tree, err := s.tree(cursor.stack[len(cursor.stack)-1].page.id, value)
		if err != nil {
			return nil, err
		}
		roots[string(key)] = tree.root
	}
	return roots, err
}

// tree compares the trees below two pages, 0 where there is none.
func (c *change) tree(before, after *Snapshot, old, root uint64) error {
	if old == root {
		return nil
	}
	o, n := layer{snapshot: before}, layer{snapshot: after}
	if err := o.begin(old); err != nil {
		return err
	}
	if err := n.begin(root); err != nil {
		return err
	}
	for o.height > 0 || n.height > 0 {
		height := max(o.height, n.height)
		if o.height == n.height {
			o.pages, n.pages = differing(o.pages, n.pages)
		}
		if o.height == height {
			if err := c.remove(before, o.pages); err != nil {
				return err
			}
			if err := o.descend(); err != nil {
				return err
			}
		}
		if n.height == height {
			c.added = append(c.added, n.pages...)
			if err := n.descend(); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove adds pages with those that continue them. Of a leaf only the header is read.
func (c *change) remove(before *Snapshot, removed []uint64) error {
	for _, id := range removed {
		p, err := before.readPage(id)
		if err != nil {
			return err
		}
		for n := range p.overflow + 1 {
			c.removed = append(c.removed, id+n)
		}
	}
	return nil
}

// differing returns the pages that only one of two layers has. Most of both are the same, in the same order.
func differing(a, b []uint64) (onlyA, onlyB []uint64) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return without(a, b), without(b, a)
}

// without returns the pages that are not among others.
func without(pages, others []uint64) []uint64 {
	sorted := slices.Sorted(slices.Values(others))
	var left []uint64
	for _, id := range pages {
		if _, found := slices.BinarySearch(sorted, id); !found {
			left = append(left, id)
		}
	}
	return left
}

// layer is some pages of a tree that are equally far from its leaves.
type layer struct {
	snapshot *Snapshot
	pages    []uint64
	// height is 1 for leaves, and 0 below them.
	height int
}

// begin makes a layer of the page at the top of a tree.
func (l *layer) begin(root uint64) error {
	if root == 0 {
		return nil
	}
	height, ok := l.snapshot.depthBelow(root)
	if !ok {
		return damaged(root, "it leads to no leaf")
	}
	l.pages, l.height = []uint64{root}, height
	return nil
}

// descend goes to the pages below those of the layer.
func (l *layer) descend() error {
	l.height--
	above := l.pages
	l.pages = nil
	if l.height == 0 {
		return nil
	}
	// Its children are only compared: whoever follows one checks the branch completely.
	for _, id := range above {
		p, err := l.snapshot.readPage(id)
		if err != nil {
			return err
		}
		if p.leaf || headerSize+p.count*elementSize > len(p.bytes) {
			return damaged(id, "it is no branch")
		}
		for i := range p.count {
			l.pages = append(l.pages, p.child(i))
		}
	}
	return nil
}
