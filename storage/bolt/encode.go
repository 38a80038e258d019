package boltstore

import (
	"bytes"
	"fmt"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// encoded is a commit in the form that is written, except for the ordinal. The caller's goroutine makes it, so that the
// writer only writes. It shares no memory with the caller's data.
type encoded struct {
	ref storage.Ref
	// row is the row, for its times, its labels and the ends of the log. session is its encoding.
	row      *storagev1.Session
	session  []byte
	messages []entry
	records  []recordEntry
	edits    []editsEntry
	// requestID is empty where there is no request.
	requestID string
	request   []byte
	size      int
}

// entry is a message's index, sequence and value.
type entry struct {
	index, sequence uint32
	value           []byte
}

// recordEntry is a record and its value.
type recordEntry struct {
	sequence uint32
	// compaction reports whether it holds a compaction entry, indexed by firstKept.
	compaction bool
	firstKept  uint32
	value      []byte
}

// editsEntry holds the edits of one record to one message.
type editsEntry struct {
	index, sequence uint32
	value           []byte
}

// encodeCommit encodes a commit. It returns storage.ErrInvalid where the commit is wrong by itself.
func encodeCommit(c *storage.Commit) (*encoded, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	for _, name := range keyStrings(c) {
		if len(name) > maxName {
			return nil, fmt.Errorf("%w: a tenant, an id, a label or a request's id of %d bytes", storage.ErrInvalid, len(name))
		}
	}
	e := &encoded{ref: storage.RefOf(c.Session)}
	session, err := encode(c.Session, func(b []byte) error {
		var err error
		e.row, err = decodeSession(b)
		return err
	})
	if err != nil {
		return nil, err
	}
	e.session = session[1:]
	e.size = len(session)
	for _, m := range c.Messages {
		value, err := encode(&storagev1.StoredMessage{Schema: schema, Logged: m}, decodable(decodeMessage))
		if err != nil {
			return nil, err
		}
		e.messages = append(e.messages, entry{index: m.GetIndex(), sequence: m.GetSequence(), value: value})
		e.size += len(value)
	}
	for _, r := range c.Records {
		if err := e.addRecord(r); err != nil {
			return nil, err
		}
	}
	if c.Request != nil {
		e.requestID = c.Request.ID
		if e.request, err = encode(c.Request.Stored, decodable(decodeRequest)); err != nil {
			return nil, err
		}
		e.size += len(e.request)
	}
	return e, nil
}

// keyStrings returns the strings of a commit that become parts of keys.
func keyStrings(c *storage.Commit) []string {
	list := []string{c.Session.GetTenant(), c.Session.GetSessionId(), c.Session.GetUid(), c.Session.GetParent().GetUid()}
	for label, value := range c.Session.GetLabels() {
		list = append(list, label, value)
	}
	if c.Request != nil {
		list = append(list, c.Request.ID)
	}
	return list
}

func (e *encoded) addRecord(r *storagev1.StoredRecord) error {
	value, err := encode(r, decodable(decodeRecord))
	if err != nil {
		return err
	}
	added := recordEntry{sequence: r.GetRecord().GetSequence(), value: value}
	if compaction := r.GetRecord().GetCompaction(); compaction != nil {
		added.compaction, added.firstKept = true, compaction.GetFirstKeptIndex()
	}
	e.records = append(e.records, added)
	e.size += len(value)
	for _, edits := range editsByIndex(r) {
		value, err := encodeEdits(edits.Edits)
		if err != nil {
			return err
		}
		e.edits = append(e.edits, editsEntry{index: edits.Index, sequence: edits.Sequence, value: value})
		e.size += len(value)
	}
	return nil
}

func encodeEdits(edits []*compactordv1.Edit) ([]byte, error) {
	return encode(&compactordv1.PruneEntry{Edits: edits}, decodable(decodeEdits))
}

// editsByIndex groups a record's edits by message. The groups are in the order of their first edits.
func editsByIndex(r *storagev1.StoredRecord) []storage.IndexedEdits {
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

// decodable turns a decoder into a function that only reports whether it succeeds.
func decodable[T any](decode func([]byte) (T, error)) func([]byte) error {
	return func(b []byte) error {
		_, err := decode(b)
		return err
	}
}

// listings returns the buckets and keys of a row's entries in listings.
func listings(row *storagev1.Session, ordinal uint64) [][2][]byte {
	keys := make([][2][]byte, 0, 3+2*len(row.GetLabels()))
	for _, order := range []storage.SessionOrder{storage.ByCreation, storage.ByChange} {
		at := newPlace(row.GetCreatedAt(), ordinal)
		if order == storage.ByChange {
			at = newPlace(row.GetChangedAt(), ordinal)
		}
		all := listing{order: order, tenant: row.GetTenant()}
		keys = append(keys, [2][]byte{all.bucket(), all.key(at)})
		for label, value := range row.GetLabels() {
			l := listing{order: order, tenant: row.GetTenant(), labelled: true, label: label, value: value}
			keys = append(keys, [2][]byte{l.bucket(), l.key(at)})
		}
		if row.GetParent() != nil {
			l := childrenOf(order, row.GetTenant(), row.GetParent().GetUid())
			keys = append(keys, [2][]byte{l.bucket(), l.key(at)})
		}
	}
	if len(row.GetRunning()) > 0 {
		l := listing{order: byRunning, tenant: row.GetTenant()}
		keys = append(keys, [2][]byte{l.bucket(), l.key(newPlace(row.GetCreatedAt(), ordinal))})
	}
	return keys
}

// containsKey reports whether a listing key is among those of a row.
func containsKey(keys [][2][]byte, key [2][]byte) bool {
	for _, k := range keys {
		if bytes.Equal(k[0], key[0]) && bytes.Equal(k[1], key[1]) {
			return true
		}
	}
	return false
}
