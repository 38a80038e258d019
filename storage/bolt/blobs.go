package boltstore

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/compactord/compactord/storage/internal/forms"
)

const (
	// inlineLimit is the size of the largest value in its own bucket. For each new key, bbolt writes the leaf around it
	// again, so the next appends would each write a larger value again.
	inlineLimit = 64 << 10
	// chunkSize is the most bytes of a blob under one key.
	chunkSize = 64 << 10
)

// blobPointer is stored in place of a large value. Its id is that of the blob; the kind follows from the bucket.
type blobPointer struct {
	id     uint64
	length uint64
	// sum is the CRC-32C of the value. It shows that a chunk was exchanged or cut.
	sum uint32
}

const blobPointerSize = 1 + 8 + 8 + 4

func (p blobPointer) encode() []byte {
	value := append(make([]byte, 0, blobPointerSize), blobTag)
	value = binary.BigEndian.AppendUint64(value, p.id)
	value = binary.BigEndian.AppendUint64(value, p.length)
	return binary.BigEndian.AppendUint32(value, p.sum)
}

func decodeBlobPointer(value []byte) (blobPointer, error) {
	if len(value) != blobPointerSize {
		return blobPointer{}, forms.Damaged("a pointer to a blob is cut short")
	}
	return blobPointer{
		id:     binary.BigEndian.Uint64(value[1:]),
		length: binary.BigEndian.Uint64(value[9:]),
		sum:    binary.BigEndian.Uint32(value[17:]),
	}, nil
}

// chunks returns the number of keys of the blob.
func (p blobPointer) chunks() uint32 {
	return uint32((p.length + chunkSize - 1) / chunkSize)
}

// put writes a value, into blobsBucket where it is large. bbolt uses the value's memory until the transaction ends.
func put(tx *transaction, bucket, key []byte, ordinal uint64, b blobID, value []byte) error {
	value, err := putLarge(tx, ordinal, b, value)
	if err != nil {
		return err
	}
	return bucketForAppend(tx, bucket).Put(key, value)
}

// putLarge writes a large value into blobsBucket and returns the pointer to it; a small value is returned as it is.
func putLarge(tx *transaction, ordinal uint64, b blobID, value []byte) ([]byte, error) {
	if len(value) <= inlineLimit {
		return value, nil
	}
	body := value[1:]
	p := blobPointer{id: b.id, length: uint64(len(body)), sum: crc32.Checksum(body, castagnoli)}
	blobs := bucketForAppend(tx, blobsBucket)
	for chunk := range p.chunks() {
		n := min(chunkSize, len(body))
		if err := blobs.Put(blobKey(ordinal, b, chunk), body[:n]); err != nil {
			return nil, err
		}
		body = body[n:]
	}
	return p.encode(), nil
}

// bucketForAppend returns a bucket whose keys mostly come in order within a session. Fuller pages then halve their
// number.
func bucketForAppend(tx *transaction, name []byte) *bucket {
	bucket := tx.Bucket(name)
	bucket.bolt.FillPercent = 0.9
	return bucket
}

// bodySize returns the length of the body that a value holds or points to.
func bodySize(value []byte) (int, error) {
	switch {
	case len(value) > 0 && value[0] == inlineTag:
		return len(value) - 1, nil
	case len(value) > 0 && value[0] == blobTag:
		p, err := decodeBlobPointer(value)
		return int(p.length), err
	default:
		return 0, errTag(value)
	}
}

// body returns a copy of what a value holds or points to.
func body(tx *transaction, ordinal uint64, kind blobKind, value []byte) ([]byte, error) {
	switch {
	case len(value) > 0 && value[0] == inlineTag:
		return append([]byte(nil), value[1:]...), nil
	case len(value) > 0 && value[0] == blobTag:
		p, err := decodeBlobPointer(value)
		if err != nil {
			return nil, err
		}
		return blob(tx, ordinal, kind, p)
	default:
		return nil, errTag(value)
	}
}

// blob returns the whole of a blob.
func blob(tx *transaction, ordinal uint64, kind blobKind, p blobPointer) ([]byte, error) {
	b := blobID{kind: kind, id: p.id}
	cursor := tx.Bucket(blobsBucket).Cursor(ordinalKey(ordinal))
	key, piece := cursor.Seek(blobKey(ordinal, b, 0))
	var body []byte
	for chunk := range p.chunks() {
		o, other, n, err := splitBlobKey(key)
		if err != nil || o != ordinal || other != b || n != chunk || len(piece) > chunkSize {
			return nil, forms.Damaged("a blob lacks a chunk")
		}
		if body == nil {
			// Allocated only once the first chunk is there: the length in a damaged pointer must not decide how much is
			// allocated.
			body = make([]byte, 0, min(p.length, 1<<26))
		}
		body = append(body, piece...)
		// The blob behind it may be damaged.
		if chunk+1 < p.chunks() {
			key, piece = cursor.Next()
		}
	}
	if uint64(len(body)) != p.length || crc32.Checksum(body, castagnoli) != p.sum {
		return nil, forms.Damaged("a blob has a wrong length or checksum")
	}
	return body, nil
}

func errTag(value []byte) error {
	if len(value) == 0 {
		return forms.Damaged("an empty value")
	}
	return forms.Damaged("a value of version %d", value[0])
}
