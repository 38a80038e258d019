package boltstore

import (
	"encoding/binary"
	"errors"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/bolt/internal/pages"
	"github.com/compactord/compactord/storage/internal/forms"
)

// The first byte of a value in a log's bucket.
const (
	// inlineTag: the encoding follows.
	inlineTag byte = 1
	// blobTag: a blobPointer follows.
	blobTag byte = 2
	// compactionTag: the record is in compactionsBucket; its first_kept_index follows, four bytes big endian.
	compactionTag byte = 3
)

// rowTag is the first byte of a row: the version of its layout.
const rowTag byte = 1

// unusable returns what is wrong with a page or a value: a corruption, or an error of the disk where the system could not
// read it.
func unusable(err error) error {
	var c *forms.DamageError
	if errors.As(err, &c) {
		return c
	}
	var unread *pages.ReadError
	if errors.As(err, &unread) {
		return storage.NewDiskError(err)
	}
	return &forms.DamageError{What: err.Error()}
}

// cause returns the text of an error; for a corruption without the words of storage.ErrCorrupt.
func cause(err error) string {
	var c *forms.DamageError
	if errors.As(err, &c) {
		return c.What
	}
	return err.Error()
}

// rowHeader comes before a row's message, so that a read need not decode the row.
type rowHeader struct {
	ordinal uint64
	// requests is the number of requests that the session remembers.
	requests uint32
	// nextIndex is the log's next index: a read that finds fewer messages has lost some.
	nextIndex uint32
	uid       string
}

// rowStart is where the uid of a row begins: after the tag, the ordinal and two numbers.
const rowStart = 1 + 8 + 4 + 4

// encodeRow returns a row; session is the encoding of its message.
func encodeRow(h rowHeader, session []byte) []byte {
	value := make([]byte, 0, rowStart+2+len(h.uid)+len(session))
	value = append(value, rowTag)
	value = binary.BigEndian.AppendUint64(value, h.ordinal)
	value = binary.BigEndian.AppendUint32(value, h.requests)
	value = binary.BigEndian.AppendUint32(value, h.nextIndex)
	value = appendName(value, h.uid)
	return append(value, session...)
}

// splitRow returns a row's header and the encoding of its message.
func splitRow(value []byte) (h rowHeader, session []byte, err error) {
	if len(value) < rowStart {
		return rowHeader{}, nil, forms.Damaged("a row is cut short")
	}
	if value[0] != rowTag {
		return rowHeader{}, nil, forms.Damaged("a row of version %d", value[0])
	}
	h.ordinal = binary.BigEndian.Uint64(value[1:])
	h.requests = binary.BigEndian.Uint32(value[9:])
	h.nextIndex = binary.BigEndian.Uint32(value[13:])
	if h.uid, session, err = cutName(value[rowStart:]); err != nil {
		return rowHeader{}, nil, forms.Damaged("a row is cut short")
	}
	return h, session, nil
}
