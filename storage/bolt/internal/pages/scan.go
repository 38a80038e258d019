package pages

import (
	"encoding/binary"
	"io"
)

// Scan calls visit for the keys and values in all pages of a file of size bytes, whatever leads to them: also in pages
// that were freed, until something else is written there. visit reports whether the value is one that was written under
// this key: nothing else says so here. A page that the file ends in is read up to there. Scan returns the error of the
// first page that the system could not read, beside what the others hold, or else that of visit, which ends it.
func Scan(file io.ReaderAt, pageSize int, size int64, visit func(key, value []byte) (sound bool, err error)) error {
	var unreadable error
	for id := uint64(firstPage); int64(id)*int64(pageSize) < size; id++ {
		p, err := scanned(file, id, pageSize, size)
		if err != nil {
			if unreadable == nil {
				unreadable = unread(id, err)
			}
			continue
		}
		if p == nil {
			continue
		}
		sound, err := p.visit(visit)
		if err != nil {
			return err
		}
		if sound {
			// What continues the page is a part of its last value, which may look like anything.
			id += p.overflow
		}
	}
	return unreadable
}

// scanned returns what the file has of a leaf that begins at a page; nil where none does.
func scanned(file io.ReaderAt, id uint64, pageSize int, size int64) (*page, error) {
	at := int64(id) * int64(pageSize)
	b := make([]byte, min(int64(pageSize), size-at))
	if _, err := file.ReadAt(b, at); err != nil {
		return nil, err
	}
	if len(b) < headerSize || binary.NativeEndian.Uint64(b) != id || binary.NativeEndian.Uint16(b[8:]) != leafFlag {
		return nil, nil
	}
	p := &page{
		id: id, leaf: true, count: int(binary.NativeEndian.Uint16(b[10:])),
		overflow: uint64(binary.NativeEndian.Uint32(b[12:])), bytes: b,
	}
	if p.overflow > 0 {
		p.bytes = make([]byte, min((int64(p.overflow)+1)*int64(pageSize), size-at))
		if _, err := file.ReadAt(p.bytes, at); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// visit calls visit for the elements of a leaf that lie within it, and for those of the small buckets in it. It reports
// whether the last one is sound.
func (p *page) visit(visit func(key, value []byte) (sound bool, err error)) (sound bool, err error) {
	for i := range p.count {
		sound = false
		if headerSize+(i+1)*elementSize > len(p.bytes) {
			break
		}
		e := p.element(i)
		from := uint64(headerSize+i*elementSize) + e.offset
		if from+e.keySize+e.valueSize > uint64(len(p.bytes)) {
			continue
		}
		key, value := p.bytes[from:][:e.keySize:e.keySize], p.bytes[from+e.keySize:][:e.valueSize:e.valueSize]
		switch {
		case e.flags == values.flags():
			sound, err = visit(key, value)
		case len(value) > bucketSize+headerSize && binary.NativeEndian.Uint64(value) == 0:
			inner := &page{id: p.id, leaf: true, bytes: value[bucketSize:]}
			inner.count = int(binary.NativeEndian.Uint16(inner.bytes[10:]))
			sound, err = inner.visit(visit)
		}
		if err != nil {
			return false, err
		}
	}
	return sound, nil
}
