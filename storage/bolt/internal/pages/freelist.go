package pages

import "encoding/binary"

// longList is the count in the header of a list whose first element is its true count.
const longList = 0xFFFF

// FreePages returns how many pages are in the list of free pages.
func (s *Snapshot) FreePages() int { return len(s.free) / 8 }

// freelist returns the list of free pages as it stands in the file, and checks it; nil where none was written.
func (s *Snapshot) freelist() ([]byte, error) {
	b, err := s.listPage()
	if err != nil {
		return nil, err
	}
	id, before := s.meta.Freelist, uint64(firstPage-1)
	for at := 0; at < len(b); at += 8 {
		free := binary.NativeEndian.Uint64(b[at:])
		if free <= before || free >= s.meta.End || free == id {
			return nil, damaged(id, "the list of free pages holds page %d in a wrong place", free)
		}
		before = free
	}
	return b, nil
}

// listPage returns the numbers in the list of free pages; nil where none was written.
func (s *Snapshot) listPage() ([]byte, error) {
	if !s.meta.HasFreelist() {
		return nil, nil
	}
	id, size := s.meta.Freelist, int64(s.meta.PageSize)
	if id < firstPage || id >= s.meta.End {
		return nil, damaged(id, "the list of free pages is outside of the file")
	}
	header, err := s.source.bytes(int64(id)*size, size)
	if err != nil {
		return nil, unread(id, err)
	}
	if own := binary.NativeEndian.Uint64(header); own != id {
		return nil, damaged(id, "it says that it is page %d", own)
	}
	if flags := binary.NativeEndian.Uint16(header[8:]); flags != freelistFlag {
		return nil, damaged(id, "it is no list of free pages: kind %#x", flags)
	}
	overflow := uint64(binary.NativeEndian.Uint32(header[12:]))
	if overflow >= s.meta.End-id {
		return nil, damaged(id, "the list of free pages reaches beyond the end of the file")
	}
	start, count := uint64(headerSize), uint64(binary.NativeEndian.Uint16(header[10:]))
	if count == longList {
		count = binary.NativeEndian.Uint64(header[headerSize:])
		start += 8
	}
	length := (overflow + 1) * uint64(size)
	if count > (length-start)/8 {
		return nil, damaged(id, "its %d numbers do not fit into it", count)
	}
	whole, err := s.source.bytes(int64(id)*size, int64(length))
	if err != nil {
		return nil, unread(id, err)
	}
	return whole[start : start+8*count], nil
}

// isFree reports whether a page is in the list of free pages.
func (s *Snapshot) isFree(id uint64) bool {
	low, high := 0, len(s.free)/8
	for low < high {
		middle := int(uint(low+high) >> 1)
		switch free := binary.NativeEndian.Uint64(s.free[middle*8:]); {
		case free == id:
			return true
		case free < id:
			low = middle + 1
		default:
			high = middle
		}
	}
	return false
}
