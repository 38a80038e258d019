package boltstore

import (
	"context"
	"encoding/binary"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/internal/forms"
)

// CreateSession writes a new row and the beginning of its log.
func (s *Store) CreateSession(ctx context.Context, c *storage.Commit) (err error) {
	defer nameDamaged(&err, c.Session.GetTenant(), c.Session.GetSessionId())
	e, err := encodeCommit(c)
	if err != nil {
		return s.refusal(ctx, err)
	}
	if err := c.Follows(nil); err != nil {
		return s.refusal(ctx, err)
	}
	return s.do(ctx, e.creation())
}

// creation is the operation that writes a new row.
func (e *encoded) creation() *operation {
	return &operation{
		size:   e.size,
		change: &change{ref: e.ref, revision: e.row.GetRevision()},
		prepare: func(tx *transaction) (func() error, error) {
			if tx.Bucket(sessionsBucket).Get(sessionKey(e.ref.Tenant, e.ref.SessionID)) != nil {
				return nil, storage.ErrExists
			}
			return func() error {
				ordinal, err := nextOrdinal(tx)
				if err != nil {
					return err
				}
				return e.write(tx, nil, rowHeader{ordinal: ordinal, uid: e.ref.UID})
			}, nil
		},
	}
}

// Commit appends to a session's log and replaces its row.
func (s *Store) Commit(ctx context.Context, c *storage.Commit) (err error) {
	defer nameDamaged(&err, c.Session.GetTenant(), c.Session.GetSessionId())
	e, err := encodeCommit(c)
	if err != nil {
		return s.refusal(ctx, err)
	}
	return s.do(ctx, e.replacement(e.row.GetRevision()-1, c.Follows))
}

// replacement is the operation that replaces the row with a revision.
func (e *encoded) replacement(previous uint32, follows func(row *storagev1.Session) error) *operation {
	return &operation{
		size:   e.size,
		change: &change{ref: e.ref, revision: e.row.GetRevision()},
		prepare: func(tx *transaction) (func() error, error) {
			header, row, err := incarnation(tx, e.ref)
			if err != nil {
				return nil, err
			}
			if e.requestID != "" && tx.Bucket(requestsBucket).Get(requestKey(header.ordinal, e.requestID)) != nil {
				return nil, storage.ErrRequestKnown
			}
			old, err := forms.Session(row)
			if err != nil {
				return nil, err
			}
			if old.GetRevision() != previous {
				return nil, storage.ErrConflict
			}
			if err := follows(old); err != nil {
				return nil, err
			}
			return func() error { return e.write(tx, old, header) }, nil
		},
	}
}

// DeleteSession removes the row, and as much of its log as one transaction may; the writer removes the rest later.
func (s *Store) DeleteSession(ctx context.Context, tenant, sessionID string) (err error) {
	defer nameDamaged(&err, tenant, sessionID)
	key := sessionKey(tenant, sessionID)
	return s.do(ctx, &operation{
		frees: true, obsoletes: true,
		prepare: func(tx *transaction) (func() error, error) {
			value := tx.Bucket(sessionsBucket).Get(key)
			if value == nil {
				return nil, storage.ErrNotFound
			}
			header, row, err := splitRow(value)
			if err != nil {
				return nil, err
			}
			old, err := forms.Session(row)
			if err != nil {
				return nil, err
			}
			return func() error {
				if err := tx.Bucket(sessionsBucket).Delete(key); err != nil {
					return err
				}
				if err := updateListings(tx, old, nil, header.ordinal); err != nil {
					return err
				}
				return sweepLog(tx, header.ordinal)
			}, nil
		},
	})
}

// refusal returns the error of a call with invalid arguments. A closed store or an ended context comes first.
func (s *Store) refusal(ctx context.Context, err error) error {
	if s.closed.Load() {
		return storage.ErrClosed
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// incarnation returns the header of a session's row and the row's encoding. Both are valid in the transaction only.
func incarnation(tx *transaction, ref storage.Ref) (rowHeader, []byte, error) {
	value := tx.Bucket(sessionsBucket).Get(sessionKey(ref.Tenant, ref.SessionID))
	if value == nil {
		return rowHeader{}, nil, storage.ErrNotFound
	}
	header, row, err := splitRow(value)
	if err == nil && header.uid != ref.UID {
		err = storage.ErrNotFound
	}
	return header, row, err
}

// write writes a commit in a transaction. old is the row that it replaces; nil for a new session.
func (e *encoded) write(tx *transaction, old *storagev1.Session, header rowHeader) error {
	ordinal := header.ordinal
	if err := e.writeLog(tx, ordinal); err != nil {
		return err
	}
	if e.requestID != "" {
		if err := e.remember(tx, &header); err != nil {
			return err
		}
	}
	for _, r := range e.received {
		if err := r.write(tx, &header); err != nil {
			return err
		}
	}
	if err := updateListings(tx, old, e.row, ordinal); err != nil {
		return err
	}
	header.nextIndex = e.row.GetHead().GetNextIndex()
	return tx.Bucket(sessionsBucket).Put(sessionKey(e.ref.Tenant, e.ref.SessionID), encodeRow(header, e.session))
}

// writeLog writes the messages and records, with the edits.
func (e *encoded) writeLog(tx *transaction, ordinal uint64) error {
	for _, m := range e.messages {
		b := blobID{kind: messageBlob, id: uint64(m.index)}
		if err := put(tx, messagesBucket, numberKey(ordinal, m.index), ordinal, b, m.value); err != nil {
			return err
		}
	}
	for _, r := range e.records {
		if err := e.writeRecord(tx, ordinal, r); err != nil {
			return err
		}
	}
	for _, edits := range e.edits {
		b := blobID{kind: editsBlob, id: uint64(edits.index)<<32 | uint64(edits.sequence)}
		key := pairKey(ordinal, edits.index, edits.sequence)
		if err := put(tx, editsBucket, key, ordinal, b, edits.value); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoded) writeRecord(tx *transaction, ordinal uint64, r recordEntry) error {
	b := blobID{kind: recordBlob, id: uint64(r.sequence)}
	key := numberKey(ordinal, r.sequence)
	if !r.compaction {
		return put(tx, recordsBucket, key, ordinal, b, r.value)
	}
	pointer := binary.BigEndian.AppendUint32([]byte{compactionTag}, r.firstKept)
	if err := bucketForAppend(tx, recordsBucket).Put(key, pointer); err != nil {
		return err
	}
	return put(tx, compactionsBucket, pairKey(ordinal, r.firstKept, r.sequence), ordinal, b, r.value)
}

// updateListings removes a row's outdated entries from the listings and adds the new ones. old or row may be nil.
func updateListings(tx *transaction, old, row *storagev1.Session, ordinal uint64) error {
	var before, after [][2][]byte
	if old != nil {
		before = listings(old, ordinal)
	}
	if row != nil {
		after = listings(row, ordinal)
	}
	for _, key := range before {
		if !containsKey(after, key) {
			if err := tx.Bucket(key[0]).Delete(key[1]); err != nil {
				return err
			}
		}
	}
	for _, key := range after {
		if !containsKey(before, key) {
			if err := tx.Bucket(key[0]).Put(key[1], []byte(row.GetSessionId())); err != nil {
				return err
			}
		}
	}
	return nil
}
