package boltstore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/internal/forms"
)

// forgetBatch is how many requests beyond storage.RememberedRequests a session may remember before they are forgotten
// together.
const forgetBatch = 128

// splitRequest returns the revision that a request was committed with, and its value.
func splitRequest(value []byte) (revision uint32, rest []byte, err error) {
	if len(value) < 4 {
		return 0, nil, forms.Damaged("a request is cut short")
	}
	return binary.BigEndian.Uint32(value), value[4:], nil
}

// remember writes the request, and forgets the oldest ones once there are forgetBatch too many.
func (e *encoded) remember(tx *transaction, header *rowHeader) error {
	r := requestEntry{id: e.requestID, revision: e.row.GetRevision(), value: e.request}
	if err := r.write(tx, header); err != nil {
		return err
	}
	if header.requests < storage.RememberedRequests+forgetBatch {
		return nil
	}
	return forget(tx, header)
}

func (r requestEntry) write(tx *transaction, header *rowHeader) error {
	value, err := putLarge(tx, header.ordinal, blobID{kind: requestBlob, id: uint64(r.revision)}, r.value)
	if err != nil {
		return err
	}
	value = append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(value)), r.revision), value...)
	if err := tx.Bucket(requestsBucket).Put(requestKey(header.ordinal, r.id), value); err != nil {
		return err
	}
	header.requests++
	return nil
}

// remembered is a request that may be forgotten.
type remembered struct {
	revision uint32
	key      []byte
	value    []byte
}

// forget removes all but the newest requests.
func forget(tx *transaction, header *rowHeader) error {
	var all []remembered
	prefix := ordinalKey(header.ordinal)
	cursor := tx.Bucket(requestsBucket).Cursor(prefix)
	for key, value := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, value = cursor.Next() {
		revision, rest, err := splitRequest(value)
		if err != nil {
			return err
		}
		// The start of the value shows whether there is a blob, and which one.
		rest = bytes.Clone(rest[:min(len(rest), blobPointerSize)])
		all = append(all, remembered{revision: revision, key: bytes.Clone(key), value: rest})
	}
	slices.SortFunc(all, func(a, b remembered) int { return cmp.Compare(b.revision, a.revision) })
	for _, old := range all[min(len(all), storage.RememberedRequests):] {
		if err := old.remove(tx, header.ordinal); err != nil {
			return err
		}
		header.requests--
	}
	return nil
}

func (r remembered) remove(tx *transaction, ordinal uint64) error {
	if len(r.value) > 0 && r.value[0] == blobTag {
		p, err := decodeBlobPointer(r.value)
		if err != nil {
			return err
		}
		for chunk := range p.chunks() {
			if err := tx.Bucket(blobsBucket).Delete(blobKey(ordinal, blobID{kind: requestBlob, id: p.id}, chunk)); err != nil {
				return err
			}
		}
	}
	return tx.Bucket(requestsBucket).Delete(r.key)
}

// Requests returns remembered requests in the order of their ids.
func (s *Store) Requests(
	ctx context.Context, ref storage.Ref, after string, limit int,
) (list []storage.Request, err error) {
	defer nameDamaged(&err, ref.Tenant, ref.SessionID)
	if limit < 1 {
		return nil, s.refusal(ctx, fmt.Errorf("%w: a limit of %d", storage.ErrInvalid, limit))
	}
	err = s.view(ctx, func(tx *transaction) error {
		header, _, err := incarnation(tx, ref)
		if err != nil {
			return err
		}
		cursor := tx.Bucket(requestsBucket).Cursor(ordinalKey(header.ordinal))
		// No id lies between one and the same one with a zero byte.
		for key, value := cursor.Seek(append(requestKey(header.ordinal, after), 0)); key != nil && len(list) < limit; key, value = cursor.Next() {
			r, err := readRequest(tx, key, value)
			if err != nil {
				return err
			}
			list = append(list, r)
		}
		return nil
	})
	return list, err
}

func readRequest(tx *transaction, key, value []byte) (r storage.Request, err error) {
	ordinal, id, err := splitRequestKey(key)
	if err != nil {
		return r, err
	}
	if _, value, err = splitRequest(value); err != nil {
		return r, err
	}
	encoding, err := body(tx, ordinal, requestBlob, value)
	if err != nil {
		return r, err
	}
	r.ID = id
	r.Stored, err = forms.Request(encoding)
	return r, err
}
