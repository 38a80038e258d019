package boltstore

import (
	"encoding/binary"
	"hash/crc32"

	"go.etcd.io/bbolt"
)

const (
	// inlineLimit is the largest value that lies in its own bucket. bbolt writes a leaf anew for each key that is put
	// beside it, so what is larger would be written again by each of the next appends.
	inlineLimit = 64 << 10
	// chunkSize is how much of a blob one key holds.
	chunkSize = 64 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// blobPointer stands where the value would. Its id is the blob's, the kind that of its bucket.
type blobPointer struct {
	id     uint64
	length uint64
	// sum is the CRC-32C of the value: a chunk that was exchanged or cut is found out.
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
		return blobPointer{}, corrupt("a pointer to a blob is cut short")
	}
	return blobPointer{
		id:     binary.BigEndian.Uint64(value[1:]),
		length: binary.BigEndian.Uint64(value[9:]),
		sum:    binary.BigEndian.Uint32(value[17:]),
	}, nil
}

// chunks is how many keys the blob has.
func (p blobPointer) chunks() uint32 {
	return uint32((p.length + chunkSize - 1) / chunkSize)
}

// put writes a value, into blobsBucket where it is large. bbolt keeps the value until the transaction ends.
func put(tx *bbolt.Tx, bucket, key []byte, ordinal uint64, b blobID, value []byte) error {
	value, err := outline(tx, ordinal, b, value)
	if err != nil {
		return err
	}
	return appending(tx, bucket).Put(key, value)
}

// outline writes a large value into blobsBucket, and returns what is to stand in its place.
func outline(tx *bbolt.Tx, ordinal uint64, b blobID, value []byte) ([]byte, error) {
	if len(value) <= inlineLimit {
		return value, nil
	}
	body := value[1:]
	p := blobPointer{id: b.id, length: uint64(len(body)), sum: crc32.Checksum(body, castagnoli)}
	blobs := appending(tx, blobsBucket)
	for chunk := range p.chunks() {
		n := min(chunkSize, len(body))
		if err := blobs.Put(blobKey(ordinal, b, chunk), body[:n]); err != nil {
			return nil, err
		}
		body = body[n:]
	}
	return p.encode(), nil
}

// appending is a bucket whose keys mostly come in order within a session: fuller pages then halve their number.
func appending(tx *bbolt.Tx, name []byte) *bbolt.Bucket {
	bucket := tx.Bucket(name)
	bucket.FillPercent = 0.9
	return bucket
}

// bodySize is the length of the body that a value holds or points to.
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

// body copies out what a value holds or points to.
func body(tx *bbolt.Tx, ordinal uint64, kind blobKind, value []byte) ([]byte, error) {
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

// blob puts a blob together.
func blob(tx *bbolt.Tx, ordinal uint64, kind blobKind, p blobPointer) ([]byte, error) {
	b := blobID{kind: kind, id: p.id}
	cursor := tx.Bucket(blobsBucket).Cursor()
	key, piece := cursor.Seek(blobKey(ordinal, b, 0))
	var body []byte
	for chunk := range p.chunks() {
		o, other, n, err := splitBlobKey(key)
		if err != nil || o != ordinal || other != b || n != chunk || len(piece) > chunkSize {
			return nil, corrupt("a blob lacks a chunk")
		}
		if body == nil {
			// Not before the first chunk is there: the length of a damaged pointer must not decide what is allocated.
			body = make([]byte, 0, min(p.length, 1<<26))
		}
		body = append(body, piece...)
		key, piece = cursor.Next()
	}
	if uint64(len(body)) != p.length || crc32.Checksum(body, castagnoli) != p.sum {
		return nil, corrupt("a blob is not what was written")
	}
	return body, nil
}

func errTag(value []byte) error {
	if len(value) == 0 {
		return corrupt("an empty value")
	}
	return corrupt("a value of version %d", value[0])
}
