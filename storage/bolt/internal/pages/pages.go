// Package pages reads the pages of a bbolt file and trusts nothing in them.
//
// bbolt follows what a page says wherever it leads: out of the page, out of the file, in circles. This package checks a
// page completely before it uses it. Its number is its own, its elements follow each other without gaps and end
// where the page ends, its keys ascend, and they lie between those of the branch above. A page that passes is one that
// bbolt can read.
package pages

import (
	"encoding/binary"
	"errors"
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

// ReadError is a page that the system could not read. What it holds is unknown.
type ReadError struct {
	Page uint64
	Err  error
}

func (e *ReadError) Error() string {
	return fmt.Sprintf("page %d: it cannot be read: %v", e.Page, e.Err)
}

// Unwrap returns the system's error.
func (e *ReadError) Unwrap() error { return e.Err }

// unread returns the error of a page that could not be read: damage where the file ends before it.
func unread(id uint64, err error) error {
	if endsEarly(err) {
		return damaged(id, "it cannot be read: %v", err)
	}
	return &ReadError{Page: id, Err: err}
}

// endsEarly reports whether the file ends before what was to be read.
func endsEarly(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

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
	// LacksFree says that not all free pages are known: a list of them lacks some. It stands in a field that bbolt does not
	// use, and takes over from one commit to the next, so that no list is taken for a whole one.
	LacksFree bool
}

// lacksFreeFlag is the bit of LacksFree.
const lacksFreeFlag = 1

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
		LacksFree:   binary.NativeEndian.Uint32(b[12:])&lacksFreeFlag != 0,
	}
	ok = binary.NativeEndian.Uint64(b[56:]) == metaSum(b) && binary.NativeEndian.Uint32(b) == metaMagic &&
		binary.NativeEndian.Uint32(b[4:]) == metaVersion && m.PageSize >= 512 && m.PageSize&(m.PageSize-1) == 0
	return m, ok
}

// isOfOtherVersion reports whether a page has a whole header of another version of bbolt's format.
func isOfOtherVersion(page []byte) bool {
	b := page[headerSize : headerSize+metaSize]
	return binary.NativeEndian.Uint32(b) == metaMagic && binary.NativeEndian.Uint32(b[4:]) != metaVersion &&
		binary.NativeEndian.Uint64(b[56:]) == metaSum(b)
}

// encode returns the page with the header.
func (m Meta) encode(id uint64) []byte {
	page := make([]byte, m.PageSize)
	binary.NativeEndian.PutUint64(page, id)
	binary.NativeEndian.PutUint16(page[8:], metaFlag)
	b := page[headerSize : headerSize+metaSize]
	binary.NativeEndian.PutUint32(b, metaMagic)
	binary.NativeEndian.PutUint32(b[4:], metaVersion)
	binary.NativeEndian.PutUint32(b[8:], uint32(m.PageSize))
	if m.LacksFree {
		binary.NativeEndian.PutUint32(b[12:], lacksFreeFlag)
	}
	binary.NativeEndian.PutUint64(b[16:], m.Root)
	binary.NativeEndian.PutUint64(b[32:], m.Freelist)
	binary.NativeEndian.PutUint64(b[40:], m.End)
	binary.NativeEndian.PutUint64(b[48:], m.Transaction)
	binary.NativeEndian.PutUint64(b[56:], metaSum(b))
	return page
}

func metaSum(b []byte) uint64 {
	sum := fnv.New64a()
	_, _ = sum.Write(b[:56])
	return sum.Sum64()
}

// Errors of NewestMeta.
var (
	// ErrNoHeader means that no header is whole.
	ErrNoHeader = errors.New("both headers of the file are damaged, or it is no store: restore it from a backup")
	// ErrNewerHeader means that the damaged one of the headers may be the newer: then the last commit is lost.
	ErrNewerHeader = errors.New("a header of the file is damaged, and with it perhaps the last commit")
)

// ErrOtherFormat means that the headers are whole, and of a version of bbolt's format that this package does not know.
var ErrOtherFormat = errors.New("the file has another version of the format")

// NewestMeta returns the newest whole header of a file, together with ErrNewerHeader where the damaged one may be newer.
// Where the system cannot read one, that is the error: it may be the newer one.
func NewestMeta(file io.ReaderAt) (Meta, error) {
	var found []Meta
	var broken Meta
	others := false
	for _, at := range metaPlaces(file) {
		page := make([]byte, headerSize+metaSize)
		_, err := file.ReadAt(page, at)
		if err != nil && !endsEarly(err) {
			return Meta{}, &ReadError{Page: uint64(len(found)), Err: err}
		}
		if m, ok := ParseMeta(page); err == nil && ok {
			found = append(found, m)
		} else {
			broken = m
			others = others || err == nil && isOfOtherVersion(page)
		}
	}
	switch {
	case len(found) == 0 && others:
		return Meta{}, ErrOtherFormat
	case len(found) == 0:
		return Meta{}, ErrNoHeader
	case len(found) == 1 && broken.Transaction+1 != found[0].Transaction:
		return found[0], ErrNewerHeader
	case len(found) == 2 && found[1].Transaction > found[0].Transaction:
		return found[1], nil
	default:
		return found[0], nil
	}
}

// metaPlaces returns where the two headers are. If the first is damaged, the place of the second is where one is that
// names this size of pages.
func metaPlaces(file io.ReaderAt) []int64 {
	page := make([]byte, headerSize+metaSize)
	if _, err := file.ReadAt(page, 0); err == nil {
		if m, ok := ParseMeta(page); ok {
			return []int64{0, int64(m.PageSize)}
		}
	}
	for size := int64(512); size <= 1<<24; size *= 2 {
		if _, err := file.ReadAt(page, size); err != nil {
			break
		}
		if m, ok := ParseMeta(page); ok && int64(m.PageSize) == size {
			return []int64{0, size}
		}
	}
	return []int64{0}
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
	// inUse are the pages in use, or those of the commit before, where there is no list; nil where they are not known.
	inUse *inUse
	// checked are the branches that were checked, and the pages of the names of the buckets; with sound, which remembers
	// the others, only the latter.
	checked map[uint64]page
	// sound is nil where nothing is remembered.
	sound *Sound
	// buckets is the cursor of Bucket.
	buckets *Cursor
}

// Commit returns the number of the commit.
func (s *Snapshot) Commit() uint64 { return s.meta.Transaction }

// HasList reports whether the list of free pages was written.
func (s *Snapshot) HasList() bool { return s.meta.HasFreelist() }

// CheckNewest returns ErrNewerHeader where the snapshot may lack the last commit.
func (s *Snapshot) CheckNewest() error {
	_, err := NewestMeta(readerOf{s.source})
	return err
}

// readerOf reads from a source.
type readerOf struct{ source source }

func (r readerOf) ReadAt(b []byte, offset int64) (int, error) {
	found, err := r.source.bytes(offset, int64(len(b)))
	return copy(b, found), err
}

// CheckHeaders returns what is wrong with the headers of the file.
func (s *Snapshot) CheckHeaders() []error {
	var found []error
	what := "the header is damaged"
	if s.CheckNewest() != nil {
		what += ": the last commit may be missing"
	}
	for id := range uint64(firstPage) {
		b, err := s.source.bytes(int64(id)*int64(s.meta.PageSize), headerSize+metaSize)
		if _, ok := ParseMeta(b); err != nil || !ok || binary.NativeEndian.Uint64(b) != id {
			found = append(found, damaged(id, "%s", what))
		}
	}
	return found
}

// DamagedHeaders returns what is wrong with the headers of a file. The error is that of NewestMeta.
func DamagedHeaders(file io.ReaderAt) ([]error, error) {
	meta, err := NewestMeta(file)
	if err != nil {
		return nil, err
	}
	return (&Snapshot{source: stored{file}, meta: meta}).CheckHeaders(), nil
}

// WithoutList returns the snapshot as if no list of free pages had been written: a damaged one says that pages are free
// which are in use.
func (s *Snapshot) WithoutList() *Snapshot {
	return &Snapshot{source: s.source, meta: s.meta, checked: map[uint64]page{}}
}

// Mapped returns the snapshot of a transaction: data is the file in memory, root the page of its buckets' names.
func Mapped(data []byte, pageSize int, root, transaction uint64) *Snapshot {
	s := &Snapshot{source: mapped(data), checked: map[uint64]page{}}
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
		s.meta.Freelist, s.meta.LacksFree = meta.Freelist, meta.LacksFree
		s.free, _ = s.listPage()
	}
	return s
}

// Stored returns the snapshot of a file that no process writes.
func Stored(file io.ReaderAt, meta Meta) *Snapshot {
	s := &Snapshot{source: stored{file}, meta: meta, checked: map[uint64]page{}}
	s.free, _ = s.freelist()
	return s
}
