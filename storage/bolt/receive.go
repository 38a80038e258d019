package boltstore

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/internal/forms"
)

// Receiving reports whether the store lacks a part of what it takes over.
func (s *Store) Receiving(ctx context.Context) (receiving bool, err error) {
	err = s.view(ctx, func(tx *transaction) error {
		receiving = tx.Bucket(metaBucket).Get(unfinishedKey) != nil
		return nil
	})
	return receiving, err
}

// SetReceiving says that the taking over begins or has ended.
func (s *Store) SetReceiving(ctx context.Context, receiving bool) error {
	return s.do(ctx, &operation{prepare: func(tx *transaction) (func() error, error) {
		meta := tx.Bucket(metaBucket)
		if receiving {
			return func() error { return meta.Put(unfinishedKey, []byte{1}) }, nil
		}
		return func() error { return meta.Delete(unfinishedKey) }, nil
	}})
}

// Receive writes a piece of a session.
func (s *Store) Receive(ctx context.Context, p *storage.Piece) (err error) {
	defer nameDamaged(&err, p.Session.GetTenant(), p.Session.GetSessionId())
	e, err := encodePiece(p)
	if err != nil {
		return s.refusal(ctx, err)
	}
	if p.Previous > 0 {
		return s.do(ctx, e.replacement(p.Previous, p.Follows))
	}
	if err := p.Follows(nil); err != nil {
		return s.refusal(ctx, err)
	}
	return s.do(ctx, e.creation())
}

// encodePiece encodes a piece. It returns storage.ErrInvalid where it is wrong by itself.
func encodePiece(p *storage.Piece) (*encoded, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	e, err := encodeCommit(&p.Commit)
	if err != nil {
		return nil, err
	}
	for _, r := range p.Requests {
		if len(r.ID) > maxName {
			return nil, fmt.Errorf("%w: a request's id of %d bytes", storage.ErrInvalid, len(r.ID))
		}
		value, err := forms.AppendRequest(newValue(proto.Size(r.Stored)), r.Stored)
		if err != nil {
			return nil, err
		}
		e.received = append(e.received, requestEntry{id: r.ID, revision: r.Revision, value: value})
		e.size += len(value)
	}
	return e, nil
}
