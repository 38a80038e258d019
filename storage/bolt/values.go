package boltstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/bolt/internal/pages"
)

// schema is the version of StoredMessage, StoredRecord and StoredRequest that this version of the program writes and
// reads.
const schema = 1

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

var marshal = proto.MarshalOptions{Deterministic: true}

// encode returns a value and checks that it can be read back: a value that cannot be read again must never be
// acknowledged.
func encode(m proto.Message, check func([]byte) error) ([]byte, error) {
	value := make([]byte, 1, 1+proto.Size(m))
	value[0] = inlineTag
	value, err := marshal.MarshalAppend(value, m)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", storage.ErrInvalid, err)
	}
	if err := check(value[1:]); err != nil {
		// The caller's data is wrong, not the store.
		return nil, fmt.Errorf("%w: %s", storage.ErrInvalid, cause(err))
	}
	return value, nil
}

// corruption is an error in the content of the disk.
type corruption struct{ what string }

func (c *corruption) Error() string { return storage.ErrCorrupt.Error() + ": " + c.what }
func (*corruption) Unwrap() error   { return storage.ErrCorrupt }

func corrupt(format string, args ...any) error {
	return &corruption{what: fmt.Sprintf(format, args...)}
}

// unusable returns what is wrong with a page or a value: a corruption, or an error of the disk where the system could not
// read it.
func unusable(err error) error {
	var c *corruption
	if errors.As(err, &c) {
		return c
	}
	var unread *pages.ReadError
	if errors.As(err, &unread) {
		return storage.NewDiskError(err)
	}
	return &corruption{what: err.Error()}
}

// cause returns the text of an error; for a corruption without the words of storage.ErrCorrupt.
func cause(err error) string {
	var c *corruption
	if errors.As(err, &c) {
		return c.what
	}
	return err.Error()
}

// decode reads an encoding of this program. It returns an error for unknown fields at any depth: reading drops them, so
// that the result is smaller than the encoding.
func decode(b []byte, m proto.Message) error {
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b, m); err != nil {
		return corrupt("a %s does not parse", m.ProtoReflect().Descriptor().Name())
	}
	if proto.Size(m) != len(b) {
		return corrupt("a %s with fields that this version does not know", m.ProtoReflect().Descriptor().Name())
	}
	return nil
}

// envelope is what a StoredMessage of this version begins with: its schema, and the tag of the message.
var envelope = protowire.AppendTag(
	protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), schema), 2, protowire.BytesType)

func decodeMessage(b []byte) (*compactordv1.LoggedMessage, error) {
	if rest, ok := bytes.CutPrefix(b, envelope); ok {
		if inner, n := protowire.ConsumeBytes(rest); n == len(rest) && n == protowire.SizeBytes(len(inner)) {
			logged := new(compactordv1.LoggedMessage)
			if err := decode(inner, logged); err != nil {
				return nil, err
			}
			return logged, checkMessage(logged)
		}
	}
	stored := new(storagev1.StoredMessage)
	if err := decode(b, stored); err != nil {
		return nil, err
	}
	if stored.GetSchema() != schema {
		return nil, corrupt("a message of schema version %d", stored.GetSchema())
	}
	return stored.GetLogged(), checkMessage(stored.GetLogged())
}

// checkMessage finds what decode cannot see: missing kinds, and enum values that this version does not know.
func checkMessage(logged *compactordv1.LoggedMessage) error {
	m := logged.GetMessage()
	if m == nil {
		return corrupt("a message without content")
	}
	if !known(compactordv1.Role_name, m.GetRole()) || !known(compactordv1.Origin_name, m.GetOrigin()) ||
		!known(compactordv1.StopReason_name, m.GetStopReason()) ||
		!known(compactordv1.ResultPlace_name, logged.GetResultPlace()) {
		return corrupt("a message of a role, origin, stop reason or place that this version does not know")
	}
	for _, part := range m.GetParts() {
		if part.GetKind() == nil {
			return corrupt("a part of a kind that this version does not know")
		}
		for _, piece := range part.GetToolResult().GetParts() {
			if piece.GetKind() == nil {
				return corrupt("a piece of a result of a kind that this version does not know")
			}
		}
	}
	return nil
}

func known[E ~int32](names map[int32]string, value E) bool {
	_, ok := names[int32(value)]
	return ok
}

// loggedSize returns the encoded size of the LoggedMessage in a StoredMessage of this many bytes. The schema (two
// bytes), a tag and the length come before it.
func loggedSize(envelope int) int {
	for prefix := 1; prefix <= 5; prefix++ {
		if n := envelope - 3 - prefix; n >= 0 && protowire.SizeVarint(uint64(n)) == prefix {
			return n
		}
	}
	return envelope
}

func decodeRecord(b []byte) (*storagev1.StoredRecord, error) {
	stored := new(storagev1.StoredRecord)
	if err := decode(b, stored); err != nil {
		return nil, err
	}
	if stored.GetSchema() != schema {
		return nil, corrupt("a record of schema version %d", stored.GetSchema())
	}
	if stored.GetRecord().GetKind() == nil {
		return nil, corrupt("a record of a kind that this version does not know")
	}
	return stored, checkEdits(stored.GetRecord().GetPrune().GetEdits())
}

func checkEdits(edits []*compactordv1.Edit) error {
	for _, edit := range edits {
		if edit.GetKind() == compactordv1.EditKind_EDIT_KIND_UNSPECIFIED || !known(compactordv1.EditKind_name, edit.GetKind()) {
			return corrupt("an edit of a kind that this version does not know")
		}
	}
	return nil
}

// decodeEdits reads a value of editsBucket: a PruneEntry with nothing but edits, since a list needs a message around
// it.
func decodeEdits(b []byte) ([]*compactordv1.Edit, error) {
	list := new(compactordv1.PruneEntry)
	if err := decode(b, list); err != nil {
		return nil, err
	}
	return list.GetEdits(), checkEdits(list.GetEdits())
}

func decodeRequest(b []byte) (*storagev1.StoredRequest, error) {
	stored := new(storagev1.StoredRequest)
	if err := decode(b, stored); err != nil {
		return nil, err
	}
	if stored.GetSchema() != schema {
		return nil, corrupt("a request of schema version %d", stored.GetSchema())
	}
	return stored, nil
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
		return rowHeader{}, nil, corrupt("a row is cut short")
	}
	if value[0] != rowTag {
		return rowHeader{}, nil, corrupt("a row of version %d", value[0])
	}
	h.ordinal = binary.BigEndian.Uint64(value[1:])
	h.requests = binary.BigEndian.Uint32(value[9:])
	h.nextIndex = binary.BigEndian.Uint32(value[13:])
	if h.uid, session, err = cutName(value[rowStart:]); err != nil {
		return rowHeader{}, nil, corrupt("a row is cut short")
	}
	return h, session, nil
}

func decodeSession(b []byte) (*storagev1.Session, error) {
	row := new(storagev1.Session)
	return row, decode(b, row)
}
