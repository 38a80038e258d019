package boltstore

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/internal/forms"
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
	// received are the requests of a session that is taken over.
	received []requestEntry
	size     int
}

// requestEntry is a remembered request.
type requestEntry struct {
	id       string
	revision uint32
	value    []byte
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
	for _, name := range forms.Names(c) {
		if len(name) > maxName {
			return nil, fmt.Errorf("%w: a tenant, an id, a label or a request's id of %d bytes", storage.ErrInvalid, len(name))
		}
	}
	e := &encoded{ref: storage.RefOf(c.Session)}
	var err error
	if e.session, e.row, err = forms.AppendSession(nil, c.Session); err != nil {
		return nil, err
	}
	e.size = 1 + len(e.session)
	for _, m := range c.Messages {
		value, err := forms.AppendMessage(newValue(proto.Size(m)), m)
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
		if e.request, err = forms.AppendRequest(newValue(proto.Size(c.Request.Stored)), c.Request.Stored); err != nil {
			return nil, err
		}
		e.size += len(e.request)
	}
	return e, nil
}

func (e *encoded) addRecord(r *storagev1.StoredRecord) error {
	value, err := forms.AppendRecord(newValue(proto.Size(r)), r)
	if err != nil {
		return err
	}
	added := recordEntry{sequence: r.GetRecord().GetSequence(), value: value}
	if compaction := r.GetRecord().GetCompaction(); compaction != nil {
		added.compaction, added.firstKept = true, compaction.GetFirstKeptIndex()
	}
	e.records = append(e.records, added)
	e.size += len(value)
	for _, edits := range forms.EditsByIndex(r) {
		value, err := encodeEdits(edits.Edits)
		if err != nil {
			return err
		}
		e.edits = append(e.edits, editsEntry{index: edits.Index, sequence: edits.Sequence, value: value})
		e.size += len(value)
	}
	return nil
}

// newValue returns the beginning of a value, with room for an encoding of this size and the few bytes around it.
func newValue(size int) []byte {
	return append(make([]byte, 0, 16+size), inlineTag)
}

func encodeEdits(edits []*compactordv1.Edit) ([]byte, error) {
	return forms.AppendEdits([]byte{inlineTag}, edits)
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
