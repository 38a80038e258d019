package boltstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/internal/forms"
)

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
		return nil, forms.Damaged("bucket records: %v", err)
	}
	if len(value) > 0 && value[0] == compactionTag {
		if len(value) != 5 {
			return nil, forms.Damaged("a pointer to a compaction is cut short")
		}
		firstKept := binary.BigEndian.Uint32(value[1:])
		value = tx.Bucket(compactionsBucket).Get(pairKey(ordinal, firstKept, sequence))
		if value == nil {
			return nil, forms.Damaged("record %d points to no compaction", sequence)
		}
	}
	return body(tx, ordinal, recordBlob, value)
}

// decodeRecordAt decodes a record and checks that it belongs to a key of recordsBucket.
func decodeRecordAt(key, encoding []byte) (*storagev1.StoredRecord, error) {
	r, err := forms.Record(encoding)
	if err != nil {
		return nil, err
	}
	if _, sequence, err := splitNumberKey(key); err != nil || r.GetRecord().GetSequence() != sequence {
		return nil, forms.Damaged("record %d in the place of record %d", r.GetRecord().GetSequence(), sequence)
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
			return forms.Damaged("a log without a record at its beginning")
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
				return forms.Damaged("bucket compactions: %v", err)
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
