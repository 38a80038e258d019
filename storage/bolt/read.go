package boltstore

import (
	"bytes"
	"context"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/internal/forms"
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
	return forms.Session(encoding)
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
	return forms.Request(encoding)
}
