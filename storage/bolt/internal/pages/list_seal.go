package pages

import (
	"encoding/binary"
	"hash/crc32"
	"io"
)

// A list of free pages has no checksum, and bbolt trusts it: a page that is in use and in the list gets overwritten. So
// a seal is written behind the list after each commit. When the file is opened, a list without a seal is compared with
// what follows from the sealed list before it, or else with the pages in use.

// A seal begins with one of these, and the CRC-32C of the list follows. An incomplete list lacks pages that are free, as its
// header says, which earlier versions of the program do not look at: to them its seal is wrong.
const (
	sealMagic       = 0x6c616573
	incompleteMagic = 0x74726170
	sealSize        = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ListSeal returns the seal of the list of free pages and its place in the file; nil where there is no list.
func (s *Snapshot) ListSeal() (seal []byte, offset int64) {
	list, err := s.listPage()
	if err != nil || !s.meta.HasFreelist() {
		return nil, 0
	}
	header, err := s.source.bytes(int64(s.meta.Freelist)*int64(s.meta.PageSize), headerSize)
	if err != nil {
		return nil, 0
	}
	sum := crc32.Update(crc32.Checksum(header, castagnoli), castagnoli, list)
	sum = crc32.Update(sum, castagnoli, binary.NativeEndian.AppendUint64(nil, s.meta.Transaction))
	magic := uint32(sealMagic)
	if s.meta.LacksFree {
		magic = incompleteMagic
	}
	seal = binary.NativeEndian.AppendUint32(nil, magic)
	seal = binary.NativeEndian.AppendUint32(seal, sum)
	at := s.listStart(header) + int64(len(list))
	if at+sealSize > int64(s.listPages())*int64(s.meta.PageSize) {
		return nil, 0
	}
	return seal, int64(s.meta.Freelist)*int64(s.meta.PageSize) + at
}

// listStart returns where the numbers of the list begin in its page.
func (s *Snapshot) listStart(header []byte) int64 {
	if binary.NativeEndian.Uint16(header[10:]) == longList {
		return headerSize + 8
	}
	return headerSize
}

// HasSealedList reports whether there is a list of all free pages that is as it was written.
func (s *Snapshot) HasSealedList() bool { return !s.meta.LacksFree && s.hasSeal() }

// HasIncompleteList reports whether there is a list of free pages that is as it was written, and lacks some.
func (s *Snapshot) HasIncompleteList() bool { return s.meta.LacksFree && s.hasSeal() }

func (s *Snapshot) hasSeal() bool {
	seal, offset := s.ListSeal()
	if seal == nil {
		return false
	}
	stored, err := s.source.bytes(offset, sealSize)
	if err != nil || string(stored) != string(seal) {
		return false
	}
	_, err = s.freelist()
	return err == nil
}

// file is what WriteList needs of a file.
type file interface {
	io.WriterAt
	Sync() error
}

// WriteList writes a commit that changes only the list of free pages: to all that are not in use, or to none where not
// all pages in use are known. The list is written behind the end of the file, and the header that is not the newest.
func (s *Snapshot) WriteList(f file, used *Used) error {
	var free []uint64
	for id := uint64(firstPage); used.Whole() && id < s.meta.End; id++ {
		if !used.has(id) {
			free = append(free, id)
		}
	}
	return s.writeList(f, free, false)
}

// writeList writes a commit that changes only the list of free pages, and whether that lacks some.
func (s *Snapshot) writeList(f file, free []uint64, lacksFree bool) error {
	next := s.meta
	next.Transaction++
	next.LacksFree = lacksFree
	next.Freelist = s.meta.End
	list := encodeList(next, free)
	next.End += uint64(len(list) / next.PageSize)
	if _, err := f.WriteAt(list, int64(next.Freelist)*int64(next.PageSize)); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	written := &Snapshot{source: listed{list, int64(next.Freelist) * int64(next.PageSize)}, meta: next}
	if seal, at := written.ListSeal(); seal != nil {
		if _, err := f.WriteAt(seal, at); err != nil {
			return err
		}
	}
	id := next.Transaction % 2
	if _, err := f.WriteAt(next.encode(id), int64(id)*int64(next.PageSize)); err != nil {
		return err
	}
	return f.Sync()
}

// listed is the part of a file that holds the list of free pages.
type listed struct {
	page   []byte
	offset int64
}

func (l listed) bytes(offset, length int64) ([]byte, error) {
	return mapped(l.page).bytes(offset-l.offset, length)
}

// encodeList returns the pages of a list of free pages. Room for the seal is left.
func encodeList(m Meta, free []uint64) []byte {
	count, start := len(free), headerSize
	if count >= longList {
		start += 8
	}
	pages := (start+8*count+sealSize-1)/m.PageSize + 1
	b := make([]byte, pages*m.PageSize)
	binary.NativeEndian.PutUint64(b, m.Freelist)
	binary.NativeEndian.PutUint16(b[8:], freelistFlag)
	binary.NativeEndian.PutUint16(b[10:], uint16(min(count, longList)))
	binary.NativeEndian.PutUint32(b[12:], uint32(pages-1))
	if count >= longList {
		binary.NativeEndian.PutUint64(b[headerSize:], uint64(count))
	}
	for i, id := range free {
		binary.NativeEndian.PutUint64(b[start+8*i:], id)
	}
	return b
}
