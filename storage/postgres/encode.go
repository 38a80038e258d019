package postgres

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/timestamppb"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/internal/forms"
)

// maxName is the greatest length of a tenant, an id, or a label's name or value, in bytes. Three of them fit into an entry
// of an index.
const maxName = 800

// column is a column of values, one for each row that a statement inserts.
type column = []int64

// encoded is a commit in the form that is written. It shares no memory with the caller's data.
type encoded struct {
	ref  storage.Ref
	row  *storagev1.Session
	body []byte
	// previous is the revision of the row that the commit follows; 0 for none.
	previous int64
	// changed is when that row was changed; nil where it is not compared.
	changed *timestamppb.Timestamp
	// traits is a hash of what hardly any commit changes.
	traits []byte
	// startIndex and startSequence are where the log ends that the commit follows.
	startIndex, startSequence int64

	messages struct {
		numbers, sizes column
		bodies         [][]byte
	}
	records struct {
		sequences column
		firstKept []*int64
		bodies    [][]byte
	}
	edits struct {
		numbers, sequences column
		bodies             [][]byte
	}
	chunks struct {
		kinds                      []int16
		numbers, sequences, chunks column
		bodies                     [][]byte
	}
	// requestID is nil where there is no request. requestBody is nil where the body is in chunks.
	requestID, requestBody []byte
	// received are the requests of a session that is taken over.
	received struct {
		ids, bodies [][]byte
		revisions   column
	}
	// draft is the name of the draft that becomes the session; empty for none.
	draft string
	// receives says that the session is taken over, so that nothing of it is forgotten.
	receives bool
}

// encode encodes a commit. It returns storage.ErrInvalid where the commit is wrong by itself.
func encode(c *storage.Commit) (*encoded, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	for _, name := range forms.Names(c) {
		if len(name) > maxName {
			return nil, fmt.Errorf("%w: a tenant, an id, a label or a request's id of %d bytes", storage.ErrInvalid, len(name))
		}
	}
	e := &encoded{ref: storage.RefOf(c.Session)}
	body, row, err := forms.AppendSession(nil, c.Session)
	if err != nil {
		return nil, err
	}
	e.row, e.body = row, e.at(rowBody, int64(row.GetRevision()), 0).seal(body)
	e.previous, e.changed = int64(row.GetRevision())-1, c.Changed
	e.traits = traitsOf(row)
	e.startIndex = int64(row.GetHead().GetNextIndex()) - int64(len(c.Messages))
	e.startSequence = int64(row.GetHead().GetNextSequence()) - int64(len(c.Messages)) - int64(len(c.Records))
	if err := e.addMessages(c); err != nil {
		return nil, err
	}
	for _, r := range c.Records {
		if err := e.addRecord(r); err != nil {
			return nil, err
		}
	}
	if c.Request == nil {
		return e, nil
	}
	encoding, err := forms.AppendRequest(nil, c.Request.Stored)
	if err != nil {
		return nil, err
	}
	e.requestID = []byte(c.Request.ID)
	e.requestBody = e.put(requestBody, int64(row.GetRevision()), 0, encoding)
	return e, nil
}

// traitsOf returns a hash of the labels, the parent and the time of creation. Another version of the program may get
// another one; then the commit compares the row itself.
func traitsOf(row *storagev1.Session) []byte {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(row.GetLabels())) {
		_, _ = fmt.Fprintf(sum, "%q=%q,", name, row.GetLabels()[name])
	}
	fixed := &storagev1.Session{CreatedAt: row.GetCreatedAt(), Parent: row.GetParent()}
	// The row was encoded before, so that a part of it can be.
	encoding, _ := forms.Marshal.Marshal(fixed)
	_, _ = sum.Write(encoding)
	return sum.Sum(nil)
}

// at returns a place in the session's log.
func (e *encoded) at(kind bodyKind, number, sequence int64) place {
	return place{kind: kind, uid: e.ref.UID, number: number, sequence: sequence}
}

func (e *encoded) addMessages(c *storage.Commit) error {
	for _, m := range c.Messages {
		encoding, err := forms.AppendMessage(nil, m)
		if err != nil {
			return err
		}
		index := int64(m.GetIndex())
		e.messages.numbers = append(e.messages.numbers, index)
		e.messages.sizes = append(e.messages.sizes, int64(forms.LoggedSize(len(encoding))))
		e.messages.bodies = append(e.messages.bodies, e.put(messageBody, index, 0, encoding))
	}
	return nil
}

func (e *encoded) addRecord(r *storagev1.StoredRecord) error {
	encoding, err := forms.AppendRecord(nil, r)
	if err != nil {
		return err
	}
	sequence := int64(r.GetRecord().GetSequence())
	var firstKept *int64
	if compaction := r.GetRecord().GetCompaction(); compaction != nil {
		first := int64(compaction.GetFirstKeptIndex())
		firstKept = &first
	}
	e.records.sequences = append(e.records.sequences, sequence)
	e.records.firstKept = append(e.records.firstKept, firstKept)
	e.records.bodies = append(e.records.bodies, e.put(recordBody, sequence, 0, encoding))
	for _, edits := range forms.EditsByIndex(r) {
		encoding, err := forms.AppendEdits(nil, edits.Edits)
		if err != nil {
			return err
		}
		number := int64(edits.Index)
		e.edits.numbers = append(e.edits.numbers, number)
		e.edits.sequences = append(e.edits.sequences, sequence)
		e.edits.bodies = append(e.edits.bodies, e.put(editsBody, number, sequence, encoding))
	}
	return nil
}

// put seals an encoding, and returns the body for its row: nil where it is too large, and in chunks.
func (e *encoded) put(kind bodyKind, number, sequence int64, encoding []byte) []byte {
	sealed := e.at(kind, number, sequence).seal(encoding)
	if len(sealed) <= inlineLimit {
		return sealed
	}
	n := int64(0)
	for piece := range slices.Chunk(sealed, chunkSize) {
		c := &e.chunks
		c.kinds = append(c.kinds, int16(kind))
		c.numbers, c.sequences, c.chunks = append(c.numbers, number), append(c.sequences, sequence), append(c.chunks, n)
		c.bodies = append(c.bodies, piece)
		n++
	}
	return nil
}
