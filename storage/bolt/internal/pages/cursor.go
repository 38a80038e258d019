package pages

import "bytes"

// Cursor walks over the keys of a tree in order, and checks each page that it comes to.
type Cursor struct {
	tree     *Tree
	elements kind
	stack    []level
	// room is the memory of a stack of usual depth.
	room [5]level
	// gap is the leaf where Seek has not found its key, and the place in it where the key would be.
	gap struct {
		leaf page
		at   int
	}
}

// level is a page on the way to the current key.
type level struct {
	page   page
	index  int
	within bounds
}

// Cursor returns a cursor that stands nowhere.
func (t *Tree) Cursor() *Cursor {
	c := &Cursor{tree: t, elements: values}
	c.stack = c.room[:0]
	return c
}

// Seek moves to the first key that is not below key. The key is nil where there is none. It stays on the leaf where the
// cursor stands if the key belongs there.
func (c *Cursor) Seek(key []byte) (found, value []byte, err error) {
	if top := len(c.stack) - 1; top < 0 || !c.stack[top].page.leaf || !c.stack[top].within.has(key) {
		c.stack = c.stack[:0]
		if err := c.push(c.tree.root, bounds{}); err != nil {
			return nil, nil, err
		}
	}
	for {
		top := &c.stack[len(c.stack)-1]
		i, exact := top.page.search(key)
		if top.page.leaf {
			top.index = i
			c.gap.leaf, c.gap.at = top.page, i
			break
		}
		if !exact && i > 0 {
			i--
		}
		top.index = i
		if err := c.descend(); err != nil {
			return nil, nil, err
		}
	}
	if top := c.stack[len(c.stack)-1]; top.index == top.page.count {
		return c.Next()
	}
	return c.current()
}

// BeforeGap returns the key before the place where Seek has not found its key, on the way on which it was sought: a leaf
// whose damage has led the search astray shows it there. The key is nil where there is none.
func (c *Cursor) BeforeGap() (key, value []byte) {
	if c.gap.at == 0 {
		// The branches lead to leaves that begin with a key that is not above the sought one, except at the beginning of the
		// tree.
		return nil, nil
	}
	return c.gap.leaf.keyAndValue(c.gap.at - 1)
}

// Next moves to the next key.
func (c *Cursor) Next() (key, value []byte, err error) {
	top := len(c.stack) - 1
	for top >= 0 && c.stack[top].index+1 >= c.stack[top].page.count {
		top--
	}
	c.stack = c.stack[:top+1]
	if top < 0 {
		return nil, nil, nil
	}
	c.stack[top].index++
	for !c.stack[len(c.stack)-1].page.leaf {
		if err := c.descend(); err != nil {
			return nil, nil, err
		}
	}
	return c.current()
}

// Before returns the last key below key. The cursor then stands there.
func (c *Cursor) Before(key []byte) (found, value []byte, err error) {
	c.stack = c.stack[:0]
	if err := c.push(c.tree.root, bounds{}); err != nil {
		return nil, nil, err
	}
	for {
		top := &c.stack[len(c.stack)-1]
		i, _ := top.page.search(key)
		top.index = i - 1
		if top.page.leaf {
			break
		}
		// A branch's key is the first one below it, so all keys of this child's left siblings and some of its own are
		// below the wanted one, or none is.
		top.index = max(top.index, 0)
		if err := c.descend(); err != nil {
			return nil, nil, err
		}
	}
	if c.stack[len(c.stack)-1].index < 0 {
		c.stack = c.stack[:0]
		return nil, nil, nil
	}
	return c.current()
}

// current returns the key at which the cursor stands.
func (c *Cursor) current() (key, value []byte, err error) {
	top := &c.stack[len(c.stack)-1]
	key, value = top.page.keyAndValue(top.index)
	return key, value, nil
}

// descend goes to the page below the current element of a branch.
func (c *Cursor) descend() error {
	top := &c.stack[len(c.stack)-1]
	if err := c.push(top.page.child(top.index), top.within.child(&top.page, top.index)); err != nil {
		return err
	}
	depth := len(c.stack) - 1
	if reached := c.stack[depth].page; reached.leaf && !c.tree.hasDepth(&c.stack[0], depth) {
		// The next search must not begin there.
		c.stack = c.stack[:depth]
		return damaged(reached.id, "it is not as deep in its tree as other leaves")
	}
	return nil
}

func (c *Cursor) push(id uint64, within bounds) error {
	if len(c.stack) == maxDepth {
		return damaged(id, "it is a part of itself")
	}
	p, err := c.tree.load(id, within, c.elements)
	if err != nil {
		return err
	}
	c.stack = append(c.stack, level{page: p, within: within})
	return nil
}

// Find moves the tree's own cursor to the first key that is not below key, and returns it. The next call of a method of
// the tree moves it.
func (t *Tree) Find(key []byte) (c *Cursor, found, value []byte, err error) {
	if t.own == nil {
		t.own = t.Cursor()
	}
	found, value, err = t.own.Seek(key)
	return t.own, found, value, err
}

// Verify checks the pages that bbolt reads to write a key. It writes the leaf again, with all that is wrong in it, so that
// one is checked completely, once for all keys that follow each other in it.
func (t *Tree) Verify(key []byte) error {
	_, _, err := t.verify(key)
	return err
}

func (t *Tree) verify(key []byte) (c *Cursor, found []byte, err error) {
	c, found, _, err = t.Find(key)
	if err != nil || c.gap.leaf.id == t.verified {
		return c, found, err
	}
	if _, err := c.gap.leaf.check(values); err != nil {
		return nil, nil, err
	}
	t.verified = c.gap.leaf.id
	return c, found, nil
}

// VerifyAround checks the pages that bbolt reads to remove a key: those on the way, and their neighbours, with which it
// may join them.
func (t *Tree) VerifyAround(key []byte) error {
	c, found, err := t.verify(key)
	if err != nil || !bytes.Equal(found, key) {
		return err
	}
	for _, l := range c.stack {
		if l.page.leaf {
			break
		}
		for _, i := range []int{l.index - 1, l.index + 1} {
			if i < 0 || i >= l.page.count {
				continue
			}
			beside, err := t.load(l.page.child(i), l.within.child(&l.page, i), values)
			if err != nil {
				return err
			}
			if _, err := beside.check(values); err != nil {
				return err
			}
		}
	}
	return nil
}
