// Package forms holds the forms in which stores keep what belongs to a log. What is written in one can be read back: a
// value that this version could not read again is refused before it is acknowledged, and one that it cannot read is damage.
package forms

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// Schema is the version of StoredMessage, StoredRecord and StoredRequest that this version of the program writes and
// reads.
const Schema = 1

// Marshal writes the encodings.
var Marshal = proto.MarshalOptions{Deterministic: true}

// DamageError is something in a store that no version of this program wrote, or that a newer one wrote. It is
// storage.ErrCorrupt.
type DamageError struct {
	// What describes it, without content of the conversation.
	What string
}

func (d *DamageError) Error() string { return storage.ErrCorrupt.Error() + ": " + d.What }

// Unwrap returns storage.ErrCorrupt.
func (*DamageError) Unwrap() error { return storage.ErrCorrupt }

// Damaged returns a DamageError with a formatted description.
func Damaged(format string, args ...any) error {
	return &DamageError{What: fmt.Sprintf(format, args...)}
}

// unmarshal reads an encoding of this program. It returns an error for unknown fields at any depth: reading drops them,
// so that the result is smaller than the encoding.
func unmarshal(b []byte, m proto.Message) error {
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(b, m); err != nil {
		return Damaged("a %s does not parse", m.ProtoReflect().Descriptor().Name())
	}
	if proto.Size(m) != len(b) {
		return Damaged("a %s with fields that this version does not know", m.ProtoReflect().Descriptor().Name())
	}
	return nil
}

// envelope is what a StoredMessage of this version begins with: its schema, and the tag of the message.
var envelope = protowire.AppendTag(
	protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), Schema), 2, protowire.BytesType)

// Message reads a StoredMessage.
func Message(b []byte) (*compactordv1.LoggedMessage, error) {
	logged, _, err := readStored(b, false)
	return logged, err
}

// EncodedMessage reads a StoredMessage, and returns the encoding of the message within, too, of which its texts are parts;
// none where it is stored in another form than this program's.
func EncodedMessage(b []byte) (_ *compactordv1.LoggedMessage, encoding string, _ error) {
	return readStored(b, true)
}

func readStored(b []byte, share bool) (_ *compactordv1.LoggedMessage, encoding string, _ error) {
	if rest, ok := bytes.CutPrefix(b, envelope); ok {
		if inner, n := protowire.ConsumeBytes(rest); n == len(rest) && n == protowire.SizeBytes(len(inner)) {
			if logged, encoding := readSharing(inner, share); logged != nil {
				return logged, encoding, checkMessage(logged)
			}
			logged := new(compactordv1.LoggedMessage)
			if err := unmarshal(inner, logged); err != nil {
				return nil, "", err
			}
			return logged, "", checkMessage(logged)
		}
	}
	stored := new(storagev1.StoredMessage)
	if err := unmarshal(b, stored); err != nil {
		return nil, "", err
	}
	if stored.GetSchema() != Schema {
		return nil, "", Damaged("a message of schema version %d", stored.GetSchema())
	}
	return stored.GetLogged(), "", checkMessage(stored.GetLogged())
}

// checkMessage finds what unmarshal cannot see: missing kinds, and enum values that this version does not know.
func checkMessage(logged *compactordv1.LoggedMessage) error {
	m := logged.GetMessage()
	if m == nil {
		return Damaged("a message without content")
	}
	if !known(compactordv1.Role_name, m.GetRole()) || !known(compactordv1.Origin_name, m.GetOrigin()) ||
		!known(compactordv1.StopReason_name, m.GetStopReason()) ||
		!known(compactordv1.ResultPlace_name, logged.GetResultPlace()) {
		return Damaged("a message of a role, origin, stop reason or place that this version does not know")
	}
	for _, part := range m.GetParts() {
		if part.GetKind() == nil {
			return Damaged("a part of a kind that this version does not know")
		}
		for _, piece := range part.GetToolResult().GetParts() {
			if piece.GetKind() == nil {
				return Damaged("a piece of a result of a kind that this version does not know")
			}
		}
	}
	return nil
}

func known[E ~int32](names map[int32]string, value E) bool {
	_, ok := names[int32(value)]
	return ok
}

// LoggedSize returns the encoded size of the LoggedMessage in a StoredMessage of this many bytes. The schema (two
// bytes), a tag and the length come before it.
func LoggedSize(stored int) int {
	for prefix := 1; prefix <= 5; prefix++ {
		if n := stored - 3 - prefix; n >= 0 && protowire.SizeVarint(uint64(n)) == prefix {
			return n
		}
	}
	return stored
}

// Record reads a StoredRecord.
func Record(b []byte) (*storagev1.StoredRecord, error) {
	stored := new(storagev1.StoredRecord)
	if err := unmarshal(b, stored); err != nil {
		return nil, err
	}
	if stored.GetSchema() != Schema {
		return nil, Damaged("a record of schema version %d", stored.GetSchema())
	}
	if stored.GetRecord().GetKind() == nil {
		return nil, Damaged("a record of a kind that this version does not know")
	}
	return stored, checkEdits(stored.GetRecord().GetPrune().GetEdits())
}

func checkEdits(edits []*compactordv1.Edit) error {
	for _, edit := range edits {
		if edit.GetKind() == compactordv1.EditKind_EDIT_KIND_UNSPECIFIED || !known(compactordv1.EditKind_name, edit.GetKind()) {
			return Damaged("an edit of a kind that this version does not know")
		}
	}
	return nil
}

// Edits reads the edits that one record made to one message: a PruneEntry with nothing but edits, since a list needs a
// message around it.
func Edits(b []byte) ([]*compactordv1.Edit, error) {
	list := new(compactordv1.PruneEntry)
	if err := unmarshal(b, list); err != nil {
		return nil, err
	}
	return list.GetEdits(), checkEdits(list.GetEdits())
}

// Request reads a StoredRequest.
func Request(b []byte) (*storagev1.StoredRequest, error) {
	stored := new(storagev1.StoredRequest)
	if err := unmarshal(b, stored); err != nil {
		return nil, err
	}
	if stored.GetSchema() != Schema {
		return nil, Damaged("a request of schema version %d", stored.GetSchema())
	}
	return stored, nil
}

// Session reads the row of a session.
func Session(b []byte) (*storagev1.Session, error) {
	row := new(storagev1.Session)
	return row, unmarshal(b, row)
}
