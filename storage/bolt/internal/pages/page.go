package pages

import (
	"bytes"
	"encoding/binary"
)

// page is a checked page of a tree.
type page struct {
	id    uint64
	leaf  bool
	count int
	// overflow is the number of pages behind it that belong to it.
	overflow uint64
	bytes    []byte
}

// kind is what the elements of a page hold.
type kind int

const (
	// names: the elements of a leaf are buckets.
	names kind = iota
	// values: they are values.
	values
)

// page reads and checks a page of a tree, to which the branch from leads.
func (s *Snapshot) page(id, from uint64, elements kind) (page, error) {
	if elements == names || s.sound == nil {
		if p, ok := s.checked[id]; ok {
			return p, nil
		}
	}
	p, err := s.readPage(id)
	if err != nil {
		return page{}, err
	}
	if elements == values && s.sound.has(id) {
		return p, p.checkAgain(s.meta.PageSize)
	}
	if s.isFree(id) {
		return page{}, damaged(id, "it is in use and in the list of free pages")
	}
	if s.leadsAstray(from, id) {
		return page{}, damaged(id, "it is not in use any more")
	}
	end, err := p.check(elements)
	if err != nil {
		return page{}, err
	}
	if needed := (end - 1) / uint64(s.meta.PageSize); p.overflow != needed {
		return page{}, damaged(id, "it takes %d pages more, and needs %d", p.overflow, needed)
	}
	switch {
	case elements == values && s.sound != nil:
		s.sound.add(id, s.meta.Transaction)
	case elements == names || !p.leaf:
		s.checked[id] = p
	}
	return p, nil
}

// checkAgain checks of a page that was sound what says how many elements it has and how long it is. The keys and values
// that are found in it have sums.
func (p *page) checkAgain(pageSize int) error {
	last := p.count - 1
	if last < 0 || headerSize+p.count*elementSize > len(p.bytes) || p.element(0).offset != uint64(p.count*elementSize) {
		return damaged(p.id, "its %d elements are not where they were", p.count)
	}
	e := p.element(last)
	if end := uint64(headerSize+last*elementSize) + e.offset + e.keySize + e.valueSize; p.overflow != (end-1)/uint64(pageSize) {
		return damaged(p.id, "it takes %d pages more, and ends at byte %d", p.overflow, end)
	}
	return nil
}

// readPage reads a page with those that belong to it, and checks its header.
func (s *Snapshot) readPage(id uint64) (page, error) {
	if id < firstPage || id >= s.meta.End {
		return page{}, damaged(id, "it is outside of the file")
	}
	size := int64(s.meta.PageSize)
	b, err := s.source.bytes(int64(id)*size, size)
	if err != nil {
		return page{}, unread(id, err)
	}
	if own := binary.NativeEndian.Uint64(b); own != id {
		return page{}, damaged(id, "it says that it is page %d", own)
	}
	flags := binary.NativeEndian.Uint16(b[8:])
	if flags != branchFlag && flags != leafFlag {
		return page{}, damaged(id, "it is no page of a tree: kind %#x", flags)
	}
	p := page{
		id:       id,
		leaf:     flags == leafFlag,
		count:    int(binary.NativeEndian.Uint16(b[10:])),
		overflow: uint64(binary.NativeEndian.Uint32(b[12:])),
	}
	if p.overflow >= s.meta.End-id {
		return page{}, damaged(id, "it reaches beyond the end of the file")
	}
	if p.overflow > 0 {
		if b, err = s.source.bytes(int64(id)*size, int64(p.overflow+1)*size); err != nil {
			return page{}, unread(id, err)
		}
	}
	p.bytes = b
	return p, nil
}

// leafHeader returns a leaf of which only the header and the end of its last element were checked; false where that
// cannot be done.
func (s *Snapshot) leafHeader(id uint64) (page, bool) {
	size := int64(s.meta.PageSize)
	if id < firstPage || id >= s.meta.End {
		return page{}, false
	}
	b, err := s.source.bytes(int64(id)*size, size)
	if err != nil || binary.NativeEndian.Uint64(b) != id || binary.NativeEndian.Uint16(b[8:]) != leafFlag {
		return page{}, false
	}
	p := page{
		id: id, leaf: true, count: int(binary.NativeEndian.Uint16(b[10:])),
		overflow: uint64(binary.NativeEndian.Uint32(b[12:])), bytes: b,
	}
	last := p.count - 1
	if last < 0 || headerSize+p.count*elementSize > len(b) || p.overflow >= s.meta.End-id {
		return page{}, false
	}
	e := p.element(last)
	end := uint64(headerSize+last*elementSize) + e.offset + e.keySize + e.valueSize
	return p, p.overflow == (end-1)/uint64(size)
}

// check checks all elements of a page, and returns where the last one ends.
func (p *page) check(elements kind) (end uint64, err error) {
	end = headerSize + uint64(p.count)*elementSize
	if end > uint64(len(p.bytes)) {
		return 0, damaged(p.id, "its %d elements do not fit into it", p.count)
	}
	if p.count == 0 && !p.leaf {
		return 0, damaged(p.id, "it is a branch to no page")
	}
	var before []byte
	for i := range p.count {
		e := p.element(i)
		if uint64(headerSize+i*elementSize)+e.offset != end {
			return 0, damaged(p.id, "element %d does not follow the one before it", i)
		}
		if p.leaf && e.flags != elements.flags() {
			return 0, damaged(p.id, "element %d has kind %#x", i, e.flags)
		}
		keyEnd := end + e.keySize
		if e.keySize == 0 || keyEnd+e.valueSize > uint64(len(p.bytes)) {
			return 0, damaged(p.id, "element %d is not within it", i)
		}
		key := p.bytes[end:keyEnd]
		if i > 0 && bytes.Compare(before, key) >= 0 {
			return 0, damaged(p.id, "key %d does not follow the one before it", i)
		}
		before, end = key, keyEnd+e.valueSize
	}
	return end, nil
}

// flags returns the flags of the elements of leaves of this kind.
func (k kind) flags() uint32 {
	if k == names {
		return 1
	}
	return 0
}

// element says where an element's key and value are, counted from the element itself.
type element struct {
	flags                      uint32
	offset, keySize, valueSize uint64
}

func (p *page) element(i int) element {
	b := p.bytes[headerSize+i*elementSize:]
	if p.leaf {
		return element{
			flags:     binary.NativeEndian.Uint32(b),
			offset:    uint64(binary.NativeEndian.Uint32(b[4:])),
			keySize:   uint64(binary.NativeEndian.Uint32(b[8:])),
			valueSize: uint64(binary.NativeEndian.Uint32(b[12:])),
		}
	}
	return element{
		offset:  uint64(binary.NativeEndian.Uint32(b)),
		keySize: uint64(binary.NativeEndian.Uint32(b[4:])),
	}
}

// child returns the page that an element of a branch points to.
func (p *page) child(i int) uint64 {
	return binary.NativeEndian.Uint64(p.bytes[headerSize+i*elementSize+8:])
}

func (p *page) key(i int) []byte {
	e := p.element(i)
	return p.slice(i, e.offset, e.keySize)
}

// keyAndValue returns an element of a leaf. One that does not follow the element before it is a panic with a
// *DamageError: another one would stand in its place, or one would be left out.
func (p *page) keyAndValue(i int) (key, value []byte) {
	e := p.element(i)
	end := uint64(headerSize + p.count*elementSize)
	if i > 0 {
		before := p.element(i - 1)
		end = uint64(headerSize+(i-1)*elementSize) + before.offset + before.keySize + before.valueSize
	}
	if uint64(headerSize+i*elementSize)+e.offset != end {
		panic(damaged(p.id, "element %d does not follow the one before it any more", i))
	}
	b := p.slice(i, e.offset, e.keySize+e.valueSize)
	return b[:e.keySize:e.keySize], b[e.keySize:]
}

// slice returns bytes of an element. What is outside of the page is a panic with a *DamageError: the page was checked,
// and has been damaged since.
func (p *page) slice(i int, offset, size uint64) []byte {
	from := uint64(headerSize+i*elementSize) + offset
	if from+size > uint64(len(p.bytes)) {
		panic(damaged(p.id, "element %d is not within it any more", i))
	}
	return p.bytes[from : from+size : from+size]
}

// search returns the first element whose key is not below key, and whether it has this key.
func (p *page) search(key []byte) (i int, exact bool) {
	low, high := 0, p.count
	for low < high {
		middle := int(uint(low+high) >> 1)
		switch bytes.Compare(p.key(middle), key) {
		case -1:
			low = middle + 1
		case 0:
			return middle, true
		default:
			high = middle
		}
	}
	return low, false
}
