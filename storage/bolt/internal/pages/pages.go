// Package pages reads the pages of a bbolt file and trusts nothing in them.
//
// bbolt follows what a page says wherever it leads: out of the page, out of the file, in circles. This package checks a
// page completely before it uses it. Its number is its own, its elements follow each other without gaps and end
// where the page ends, its keys ascend, and they lie between those of the branch above. A page that passes is one that
// bbolt can read.
package pages

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
)

// The layout of a file: bbolt writes it in the byte order of the machine.
const (
	headerSize  = 16
	elementSize = 16
	metaSize    = 64
	bucketSize  = 16

	branchFlag   = 0x01
	leafFlag     = 0x02
	metaFlag     = 0x04
	freelistFlag = 0x10

	metaMagic   = 0xED0CDAED
	metaVersion = 2

	// firstPage is the first page behind the two headers of the file.
	firstPage = 2
	// noFreelist is the place of the list of free pages where none was written.
	noFreelist = ^uint64(0)
	// maxDepth is more than the depth of any tree that fits a file.
	maxDepth = 64
)

// DamageError is a page that bbolt did not write like this.
type DamageError struct {
	Page uint64
	What string
}

func (d *DamageError) Error() string { return fmt.Sprintf("page %d: %s", d.Page, d.What) }

func damaged(id uint64, format string, args ...any) error {
	return &DamageError{Page: id, What: fmt.Sprintf(format, args...)}
}

// Meta is one of the two headers of a file, which commits write in turn.
type Meta struct {
	PageSize int
	// Root is the page of the names of the buckets.
	Root uint64
	// Freelist is the page of the list of free pages.
	Freelist uint64
	// End is the number of pages.
	End uint64
	// Transaction is the number of the commit.
	Transaction uint64
}

// HasFreelist reports whether the list of free pages was written.
func (m Meta) HasFreelist() bool { return m.Freelist != noFreelist }

// ParseMeta reads a header from the page that contains it. ok reports whether it is whole; otherwise the fields are
// what is left of it.
func ParseMeta(page []byte) (m Meta, ok bool) {
	if len(page) < headerSize+metaSize {
		return Meta{}, false
	}
	b := page[headerSize : headerSize+metaSize]
	m = Meta{
		PageSize:    int(binary.NativeEndian.Uint32(b[8:])),
		Root:        binary.NativeEndian.Uint64(b[16:]),
		Freelist:    binary.NativeEndian.Uint64(b[32:]),
		End:         binary.NativeEndian.Uint64(b[40:]),
		Transaction: binary.NativeEndian.Uint64(b[48:]),
	}
	sum := fnv.New64a()
	_, _ = sum.Write(b[:56])
	ok = binary.NativeEndian.Uint64(b[56:]) == sum.Sum64() && binary.NativeEndian.Uint32(b) == metaMagic &&
		binary.NativeEndian.Uint32(b[4:]) == metaVersion && m.PageSize >= 512 && m.PageSize&(m.PageSize-1) == 0
	return m, ok
}

// source is where the bytes of a file come from.
type source interface {
	// bytes returns a part of the file. It must not be changed.
	bytes(offset, length int64) ([]byte, error)
}

// mapped is a file in memory.
type mapped []byte

func (m mapped) bytes(offset, length int64) ([]byte, error) {
	if offset < 0 || length < 0 || offset+length > int64(len(m)) {
		return nil, io.ErrUnexpectedEOF
	}
	return m[offset : offset+length : offset+length], nil
}

// stored is a file that is read piece by piece.
type stored struct{ io.ReaderAt }

func (s stored) bytes(offset, length int64) ([]byte, error) {
	b := make([]byte, length)
	_, err := s.ReadAt(b, offset)
	return b, err
}

// Snapshot is the state of a file after one commit.
type Snapshot struct {
	source source
	meta   Meta
	// free are the numbers of the free pages, as they stand in the file; nil where they are not known.
	free []byte
	// branches are the branches that were checked, and the page of the names of the buckets.
	branches map[uint64]page
}

// Mapped returns the snapshot of a transaction: data is the file in memory, root the page of its buckets' names.
func Mapped(data []byte, pageSize int, root, transaction uint64) *Snapshot {
	s := &Snapshot{source: mapped(data), branches: map[uint64]page{}}
	s.meta = Meta{
		PageSize: pageSize, Root: root, End: uint64(len(data) / pageSize), Transaction: transaction, Freelist: noFreelist,
	}
	at := int(transaction%2) * pageSize
	if len(data) < at+pageSize {
		return s
	}
	// A later commit may be writing this header now. Then it is not that of the transaction, and free pages are not
	// known.
	if meta, ok := ParseMeta(data[at : at+pageSize]); ok && meta.Transaction == transaction && meta.Root == root {
		s.meta.Freelist = meta.Freelist
		s.free, _ = s.listPage()
	}
	return s
}

// Stored returns the snapshot of a file that no process writes.
func Stored(file io.ReaderAt, meta Meta) *Snapshot {
	s := &Snapshot{source: stored{file}, meta: meta, branches: map[uint64]page{}}
	s.free, _ = s.freelist()
	return s
}
