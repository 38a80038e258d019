package boltstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
)

// A transaction that reads copies a page of at most this many values and bytes, but at least one value. A long one
// would keep the writer from reusing pages and from growing the map.
const (
	pageValues = 512
	pageBytes  = 1 << 20
)

// page holds the values that one transaction copied.
type page struct {
	keys   [][]byte
	bodies [][]byte
	bytes  int
}

// full reports whether a body of this size belongs on the next page.
func (p *page) full(size int) bool {
	return len(p.bodies) > 0 && (len(p.bodies) == pageValues || p.bytes+size > pageBytes)
}

func (p *page) add(key, body []byte) {
	p.keys = append(p.keys, bytes.Clone(key))
	p.bodies = append(p.bodies, body)
	p.bytes += len(body)
}

// Session returns the row.
func (s *Store) Session(ctx context.Context, tenant, sessionID string) (_ *storagev1.Session, err error) {
	defer nameDamaged(&err, tenant, sessionID)
	var encoding []byte
	err = s.view(ctx, func(tx *transaction) error {
		value := tx.Bucket(sessionsBucket).Get(sessionKey(tenant, sessionID))
		if value == nil {
			return storage.ErrNotFound
		}
		_, row, err := splitRow(value)
		encoding = bytes.Clone(row)
		return err
	})
	if err != nil {
		return nil, err
	}
	return decodeSession(encoding)
}

// Messages returns a range of messages.
func (s *Store) Messages(
	ctx context.Context, ref storage.Ref, start, end uint32, maxBytes int,
) (_ []*compactordv1.LoggedMessage, err error) {
	defer nameDamaged(&err, ref.Tenant, ref.SessionID)
	p := messagePages{ref: ref, next: start, end: end, maxBytes: maxBytes}
	for p.more = true; p.more; {
		if err := s.view(ctx, p.read); err != nil {
			return nil, err
		}
	}
	return p.messages, nil
}

// messagePages is a range of messages while it is read, one page in each transaction.
type messagePages struct {
	ref       storage.Ref
	next, end uint32
	maxBytes  int

	messages []*compactordv1.LoggedMessage
	// total is the size of the messages read so far. more reports that there may be another page.
	total int
	more  bool
}

// read reads a page. Messages are decoded from the mapped file, since decoding copies what it keeps.
func (p *messagePages) read(tx *transaction) error {
	header, _, err := incarnation(tx, p.ref)
	if err != nil {
		return err
	}
	p.more = false
	end := min(p.end, header.nextIndex)
	if p.next >= end {
		return nil
	}
	cursor := tx.Bucket(messagesBucket).Cursor(ordinalKey(header.ordinal))
	key, value := cursor.Seek(numberKey(header.ordinal, p.next))
	p.messages = slices.Grow(p.messages, int(min(pageValues, end-p.next)))
	first, bytesBefore := len(p.messages), p.total
	for ; p.next < end; p.next++ {
		if !bytes.Equal(key, numberKey(header.ordinal, p.next)) {
			return corrupt("message %d is missing", p.next)
		}
		size, err := bodySize(value)
		if err != nil {
			return err
		}
		if n := len(p.messages) - first; n > 0 && (n == pageValues || p.total-bytesBefore+size > pageBytes) {
			p.more = true
			return nil
		}
		logged := loggedSize(size)
		if p.maxBytes > 0 && p.total > 0 && p.total+logged > p.maxBytes {
			return nil
		}
		p.total += logged
		m, err := messageAt(tx, header.ordinal, value)
		if err != nil {
			return err
		}
		if m.GetIndex() != p.next {
			return corrupt("message %d in the place of message %d", m.GetIndex(), p.next)
		}
		p.messages = append(p.messages, m)
		// What is behind the range may be damaged.
		if p.next+1 < end {
			key, value = cursor.Next()
		}
	}
	return nil
}

func messageAt(tx *transaction, ordinal uint64, value []byte) (*compactordv1.LoggedMessage, error) {
	if value[0] == inlineTag {
		return decodeMessage(value[1:])
	}
	encoding, err := body(tx, ordinal, messageBlob, value)
	if err != nil {
		return nil, err
	}
	return decodeMessage(encoding)
}

// Records returns a range of records.
func (s *Store) Records(
	ctx context.Context, ref storage.Ref, start, end uint32, limit int,
) (_ []*storagev1.StoredRecord, err error) {
	defer nameDamaged(&err, ref.Tenant, ref.SessionID)
	var records []*storagev1.StoredRecord
	for more := true; more; {
		var p page
		err := s.view(ctx, func(tx *transaction) (err error) {
			more, err = recordPage(tx, &p, ref, start, end, limit-len(records))
			return err
		})
		if err != nil {
			return nil, err
		}
		for i, encoding := range p.bodies {
			r, err := decodeRecordAt(p.keys[i], encoding)
			if err != nil {
				return nil, err
			}
			records = append(records, r)
			start = r.GetRecord().GetSequence() + 1
		}
		more = more && (limit == 0 || len(records) < limit)
	}
	return records, nil
}

// recordPage copies records from start on, and reports whether there may be more. A limit of 0 or less means no limit.
func recordPage(tx *transaction, p *page, ref storage.Ref, start, end uint32, limit int) (bool, error) {
	header, _, err := incarnation(tx, ref)
	if err != nil || start >= end {
		return false, err
	}
	cursor := tx.Bucket(recordsBucket).Cursor(ordinalKey(header.ordinal))
	last := numberKey(header.ordinal, end)
	for key, value := cursor.Seek(numberKey(header.ordinal, start)); key != nil; key, value = cursor.Next() {
		if bytes.Compare(key, last) >= 0 {
			return false, nil
		}
		encoding, err := recordBody(tx, key, value)
		if err != nil {
			return false, err
		}
		if p.full(len(encoding)) {
			return true, nil
		}
		p.add(key, encoding)
		// What is behind it may be damaged.
		if limit > 0 && len(p.bodies) == limit {
			return false, nil
		}
	}
	return false, nil
}

// recordBody returns a copy of a record's encoding, from either bucket.
func recordBody(tx *transaction, key, value []byte) ([]byte, error) {
	ordinal, sequence, err := splitNumberKey(key)
	if err != nil {
		return nil, corrupt("bucket records: %v", err)
	}
	if len(value) > 0 && value[0] == compactionTag {
		if len(value) != 5 {
			return nil, corrupt("a pointer to a compaction is cut short")
		}
		firstKept := binary.BigEndian.Uint32(value[1:])
		value = tx.Bucket(compactionsBucket).Get(pairKey(ordinal, firstKept, sequence))
		if value == nil {
			return nil, corrupt("record %d points to no compaction", sequence)
		}
	}
	return body(tx, ordinal, recordBlob, value)
}

// decodeRecordAt decodes a record and checks that it belongs to a key of recordsBucket.
func decodeRecordAt(key, encoding []byte) (*storagev1.StoredRecord, error) {
	r, err := decodeRecord(encoding)
	if err != nil {
		return nil, err
	}
	if _, sequence, err := splitNumberKey(key); err != nil || r.GetRecord().GetSequence() != sequence {
		return nil, corrupt("record %d in the place of record %d", r.GetRecord().GetSequence(), sequence)
	}
	return r, nil
}

// RecordAtOrBefore returns the newest record with this sequence or a lower one.
func (s *Store) RecordAtOrBefore(
	ctx context.Context, ref storage.Ref, sequence uint32,
) (_ *storagev1.StoredRecord, err error) {
	defer nameDamaged(&err, ref.Tenant, ref.SessionID)
	var at, encoding []byte
	err = s.view(ctx, func(tx *transaction) error {
		header, _, err := incarnation(tx, ref)
		if err != nil {
			return err
		}
		cursor := tx.Bucket(recordsBucket).Cursor(ordinalKey(header.ordinal))
		wanted := numberKey(header.ordinal, sequence)
		key, value := cursor.Seek(wanted)
		if !bytes.Equal(key, wanted) {
			key, value = cursor.Before(wanted)
		}
		if key == nil {
			return corrupt("a log without a record at its beginning")
		}
		at = bytes.Clone(key)
		encoding, err = recordBody(tx, key, value)
		return err
	})
	if err != nil {
		return nil, err
	}
	return decodeRecordAt(at, encoding)
}

// Compactions returns records with compaction entries, newest first.
func (s *Store) Compactions(
	ctx context.Context, ref storage.Ref, before uint32, limit int,
) (_ []*storagev1.StoredRecord, err error) {
	defer nameDamaged(&err, ref.Tenant, ref.SessionID)
	sequences, err := s.compactionSequences(ctx, ref, before, limit)
	if err != nil {
		return nil, err
	}
	var records []*storagev1.StoredRecord
	for len(sequences) > 0 {
		var p page
		err := s.view(ctx, func(tx *transaction) error {
			header, _, err := incarnation(tx, ref)
			if err != nil {
				return err
			}
			for _, sequence := range sequences {
				key := numberKey(header.ordinal, sequence)
				encoding, err := recordBody(tx, key, tx.Bucket(recordsBucket).Get(key))
				if err != nil {
					return err
				}
				if p.full(len(encoding)) {
					return nil
				}
				p.add(key, encoding)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for i, encoding := range p.bodies {
			r, err := decodeRecordAt(p.keys[i], encoding)
			if err != nil {
				return nil, err
			}
			records = append(records, r)
		}
		sequences = sequences[len(p.bodies):]
	}
	return records, nil
}

// compactionSequences returns the sequences of compaction entries, newest first. Their keys are sorted by
// first_kept_index, which can go back with a Revert, so all keys are read; a session has few.
func (s *Store) compactionSequences(ctx context.Context, ref storage.Ref, before uint32, limit int) ([]uint32, error) {
	var sequences []uint32
	err := s.view(ctx, func(tx *transaction) error {
		header, _, err := incarnation(tx, ref)
		if err != nil {
			return err
		}
		prefix := ordinalKey(header.ordinal)
		cursor := tx.Bucket(compactionsBucket).Cursor(prefix)
		for key, _ := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = cursor.Next() {
			_, _, sequence, err := splitPairKey(key)
			if err != nil {
				return corrupt("bucket compactions: %v", err)
			}
			if before == 0 || sequence < before {
				sequences = append(sequences, sequence)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(sequences)
	slices.Reverse(sequences)
	if limit > 0 && len(sequences) > limit {
		sequences = sequences[:limit]
	}
	return sequences, nil
}

// Edits returns the edits of a range of messages.
func (s *Store) Edits(
	ctx context.Context, ref storage.Ref, start, end uint32,
) (_ []storage.IndexedEdits, err error) {
	defer nameDamaged(&err, ref.Tenant, ref.SessionID)
	var list []storage.IndexedEdits
	from := storage.IndexedEdits{Index: start}
	for more := true; more; {
		var p page
		err := s.view(ctx, func(tx *transaction) (err error) {
			more, err = editsPage(tx, &p, ref, from, end)
			return err
		})
		if err != nil {
			return nil, err
		}
		for i, encoding := range p.bodies {
			edits, err := decodeEdits(encoding)
			if err != nil {
				return nil, err
			}
			_, index, sequence, err := splitPairKey(p.keys[i])
			if err != nil {
				return nil, corrupt("bucket edits: %v", err)
			}
			list = append(list, storage.IndexedEdits{Index: index, Sequence: sequence, Edits: edits})
			// No record has the largest sequence, since the head's next_sequence is greater.
			from = storage.IndexedEdits{Index: index, Sequence: sequence + 1}
		}
	}
	return list, nil
}

// editsPage copies edits from a place on, and reports whether there may be more.
func editsPage(tx *transaction, p *page, ref storage.Ref, from storage.IndexedEdits, end uint32) (bool, error) {
	header, _, err := incarnation(tx, ref)
	if err != nil || from.Index >= end {
		return false, err
	}
	cursor := tx.Bucket(editsBucket).Cursor(ordinalKey(header.ordinal))
	last := pairKey(header.ordinal, end, 0)
	for key, value := cursor.Seek(pairKey(header.ordinal, from.Index, from.Sequence)); key != nil; key, value = cursor.Next() {
		if bytes.Compare(key, last) >= 0 {
			return false, nil
		}
		encoding, err := body(tx, header.ordinal, editsBlob, value)
		if err != nil {
			return false, err
		}
		if p.full(len(encoding)) {
			return true, nil
		}
		p.add(key, encoding)
	}
	return false, nil
}

// Request returns a remembered request.
func (s *Store) Request(
	ctx context.Context, ref storage.Ref, id string,
) (_ *storagev1.StoredRequest, err error) {
	defer nameDamaged(&err, ref.Tenant, ref.SessionID)
	var encoding []byte
	err = s.view(ctx, func(tx *transaction) error {
		header, _, err := incarnation(tx, ref)
		if err != nil {
			return err
		}
		value := tx.Bucket(requestsBucket).Get(requestKey(header.ordinal, id))
		if value == nil {
			return storage.ErrNotFound
		}
		if _, value, err = splitRequest(value); err != nil {
			return err
		}
		encoding, err = body(tx, header.ordinal, requestBlob, value)
		return err
	})
	if err != nil {
		return nil, err
	}
	return decodeRequest(encoding)
}
