package postgres

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/compactord/compactord/storage/internal/forms"
)

// bodyKind is what a body holds. The numbers are in the database.
type bodyKind int16

// The kinds, and the numbers that name a body of each in its log.
const (
	messageBody bodyKind = iota + 1 // number: the index
	recordBody                      // number: the sequence
	editsBody                       // number: the index; sequence: that of the record
	requestBody                     // number: the revision
	rowBody                         // number: the revision
)

// place is where a body belongs.
type place struct {
	kind             bodyKind
	uid              string
	number, sequence int64
}

// The first byte of a sealed body: the form of its content.
const (
	// plainForm: the encoding follows.
	plainForm byte = 1
	// deflatedForm: the length of the encoding follows, and the encoding by DEFLATE. It is only read.
	deflatedForm byte = 2
	// zstdForm: the encoding follows by Zstandard, which takes a quarter of the time of DEFLATE to write and half of it to read.
	zstdForm byte = 3
)

const (
	// sealSize is the size of what comes before the content: the form, and the CRC-32C of the place, the form and the
	// content. The sum shows a body that was changed, and one in another place.
	sealSize = 1 + 4
	// compressFrom is the size of the smallest body that is compressed.
	compressFrom = 1 << 10
	// inlineLimit is the size of the largest sealed body in its own row, and chunkSize that of a chunk.
	inlineLimit = 256 << 10
	chunkSize   = 256 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum returns the sum of a sealed body.
func (p place) sum(sealed []byte) []byte {
	b := make([]byte, 0, 64)
	b = binary.BigEndian.AppendUint16(b, uint16(p.kind))
	b = binary.BigEndian.AppendUint64(b, uint64(p.number))
	b = binary.BigEndian.AppendUint64(b, uint64(p.sequence))
	b = append(b, p.uid...)
	sum := crc32.Update(crc32.Checksum(b, castagnoli), castagnoli, sealed[:1])
	return binary.BigEndian.AppendUint32(nil, crc32.Update(sum, castagnoli, sealed[sealSize:]))
}

// seal returns an encoding as it is stored at a place.
func (p place) seal(encoding []byte) []byte {
	sealed := compressed(encoding)
	if sealed == nil {
		sealed = make([]byte, sealSize, sealSize+len(encoding))
		sealed[0] = plainForm
		sealed = append(sealed, encoding...)
	}
	copy(sealed[1:], p.sum(sealed))
	return sealed
}

// unseal returns the encoding that is stored at a place.
func (p place) unseal(sealed []byte) ([]byte, error) {
	if len(sealed) < sealSize || !bytes.Equal(sealed[1:sealSize], p.sum(sealed)) {
		return nil, forms.Damaged("a value has a wrong checksum, or belongs elsewhere")
	}
	content := sealed[sealSize:]
	switch sealed[0] {
	case plainForm:
		return content, nil
	case zstdForm:
		return decompressed(content)
	case deflatedForm:
		return inflated(content)
	default:
		return nil, forms.Damaged("a value of form %d", sealed[0])
	}
}

// coders compress and decompress. Both may be used at the same time by many, and have no goroutines of their own.
var coders = sync.OnceValues(func() (*zstd.Encoder, *zstd.Decoder) {
	// The options are constant and valid. A window that is larger than most bodies would only take memory.
	encoder, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(256<<10), zstd.WithEncoderCRC(false))
	decoder, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0))
	return encoder, decoder
})

// compressed returns a sealed body without its sum; nil where compressing does not help.
func compressed(encoding []byte) []byte {
	if len(encoding) < compressFrom {
		return nil
	}
	encoder, _ := coders()
	sealed := make([]byte, sealSize, sealSize+len(encoding))
	sealed[0] = zstdForm
	if sealed = encoder.EncodeAll(encoding, sealed); len(sealed) > len(encoding)-len(encoding)/8 {
		return nil
	}
	return sealed
}

func decompressed(content []byte) ([]byte, error) {
	_, decoder := coders()
	encoding, err := decoder.DecodeAll(content, nil)
	if err != nil {
		return nil, forms.Damaged("a compressed value cannot be read")
	}
	return encoding, nil
}

// readers are used again.
var readers = sync.Pool{New: func() any { return flate.NewReader(bytes.NewReader(nil)) }}

func inflated(content []byte) ([]byte, error) {
	length, n := binary.Uvarint(content)
	if n <= 0 {
		return nil, forms.Damaged("a compressed value without length")
	}
	r, ok := readers.Get().(io.ReadCloser)
	if !ok {
		return nil, forms.Damaged("a compressed value cannot be read")
	}
	defer readers.Put(r)
	resetter, ok := r.(flate.Resetter)
	if !ok || resetter.Reset(bytes.NewReader(content[n:]), nil) != nil {
		return nil, forms.Damaged("a compressed value cannot be read")
	}
	encoding := make([]byte, length)
	if _, err := io.ReadFull(r, encoding); err != nil {
		return nil, forms.Damaged("a compressed value is cut short")
	}
	return encoding, nil
}
