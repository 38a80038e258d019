package forms

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// AppendMessage appends the StoredMessage of a message.
func AppendMessage(b []byte, m *compactordv1.LoggedMessage) ([]byte, error) {
	return appendChecked(b, &storagev1.StoredMessage{Schema: Schema, Logged: m}, readable(Message))
}

// AppendRecord appends a record.
func AppendRecord(b []byte, r *storagev1.StoredRecord) ([]byte, error) {
	return appendChecked(b, r, readable(Record))
}

// AppendEdits appends edits that one record made to one message.
func AppendEdits(b []byte, edits []*compactordv1.Edit) ([]byte, error) {
	return appendChecked(b, &compactordv1.PruneEntry{Edits: edits}, readable(Edits))
}

// AppendRequest appends a request.
func AppendRequest(b []byte, r *storagev1.StoredRequest) ([]byte, error) {
	return appendChecked(b, r, readable(Request))
}

// AppendSession appends a row, and returns a copy of the row that shares nothing with it.
func AppendSession(b []byte, row *storagev1.Session) (_ []byte, copied *storagev1.Session, err error) {
	b, err = appendChecked(b, row, func(b []byte) (err error) {
		copied, err = Session(b)
		return err
	})
	return b, copied, err
}

// Names returns the strings of a commit that a store finds things by: the tenant, the ids of the session and its parent, the
// labels and the id of the request. Stores bound their length, since they become parts of keys.
func Names(c *storage.Commit) []string {
	list := []string{c.Session.GetTenant(), c.Session.GetSessionId(), c.Session.GetUid(), c.Session.GetParent().GetUid()}
	for label, value := range c.Session.GetLabels() {
		list = append(list, label, value)
	}
	if c.Request != nil {
		list = append(list, c.Request.ID)
	}
	return list
}

// appendChecked appends an encoding and checks that it can be read back: a value that cannot be read again must never be
// acknowledged.
func appendChecked(b []byte, m proto.Message, check func([]byte) error) ([]byte, error) {
	start := len(b)
	b, err := Marshal.MarshalAppend(b, m)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", storage.ErrInvalid, err)
	}
	err = check(b[start:])
	var damage *DamageError
	if errors.As(err, &damage) {
		// The caller's data is wrong, not the store.
		return nil, fmt.Errorf("%w: %s", storage.ErrInvalid, damage.What)
	}
	return b, err
}

// readable turns a function that reads into one that only reports whether it can.
func readable[T any](read func([]byte) (T, error)) func([]byte) error {
	return func(b []byte) error {
		_, err := read(b)
		return err
	}
}

// EditsByIndex groups a record's edits by message. The groups are in the order of their first edits.
func EditsByIndex(r *storagev1.StoredRecord) []storage.IndexedEdits {
	var groups []storage.IndexedEdits
	at := map[uint32]int{}
	for _, edit := range r.GetRecord().GetPrune().GetEdits() {
		i, ok := at[edit.GetIndex()]
		if !ok {
			i = len(groups)
			at[edit.GetIndex()] = i
			groups = append(groups, storage.IndexedEdits{Index: edit.GetIndex(), Sequence: r.GetRecord().GetSequence()})
		}
		groups[i].Edits = append(groups[i].Edits, edit)
	}
	return groups
}
