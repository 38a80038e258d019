package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/internal/forms"
)

// ErrInUse means that other processes have the database open, of which one wants it alone.
var ErrInUse = errors.New("the database is in use by another process")

// copying begins the name of an opening that is alone, and unfinished is the mark of a copy that lacks a part. Both stand
// among the openings, which behind a pool of connections hold where a lock of the server would not.
const copying = "copying "

// alone returns an error where another opening and this one exclude each other, or where a copy has not ended and this
// opening is not for that. Each notes itself before it looks: so of two that begin at once, at least one sees the other.
func (s *Store) alone(ctx context.Context, conn *pgx.Conn, exclusive bool) error {
	var copies, others, unfinished int
	if err := conn.QueryRow(ctx, aloneSQL, pgx.NamedArgs{"name": s.opening}).Scan(&copies, &others, &unfinished); err != nil {
		return err
	}
	switch {
	case copies > 0, exclusive && others > 0:
		return ErrInUse
	case unfinished > 0 && !exclusive:
		return storage.ErrUnfinished
	}
	return nil
}

// Receiving reports whether the database lacks a part of what it takes over.
func (s *Store) Receiving(ctx context.Context) (receiving bool, err error) {
	err = s.read(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		var copies, others, unfinished int
		err := conn.QueryRow(ctx, aloneSQL, pgx.NamedArgs{"name": s.opening}).Scan(&copies, &others, &unfinished)
		receiving = unfinished > 0
		return err
	})
	return receiving, err
}

// SetReceiving says that the taking over begins or has ended.
func (s *Store) SetReceiving(ctx context.Context, receiving bool) error {
	statement := endReceivingSQL
	if receiving {
		statement = beginReceivingSQL
	}
	// To do it twice is to do it once.
	return s.read(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, statement)
		return err
	})
}

// Receive writes a piece of a session.
func (s *Store) Receive(ctx context.Context, p *storage.Piece) (err error) {
	defer nameDamaged(&err, p.Session.GetTenant(), p.Session.GetSessionId())
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	e, err := encodePiece(p)
	if err != nil {
		return err
	}
	create := p.Previous == 0
	if create {
		if err := p.Follows(nil); err != nil {
			return err
		}
	}
	w := &writing{store: s, follows: p.Follows, encoded: e, create: create, changesTraits: create}
	return w.run(ctx)
}

// encodePiece encodes a piece. It returns storage.ErrInvalid where it is wrong by itself.
func encodePiece(p *storage.Piece) (*encoded, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	e, err := encode(&p.Commit)
	if err != nil {
		return nil, err
	}
	e.previous, e.receives = int64(p.Previous), true
	for _, r := range p.Requests {
		if len(r.ID) > maxName {
			return nil, fmt.Errorf("%w: a request's id of %d bytes", storage.ErrInvalid, len(r.ID))
		}
		encoding, err := forms.AppendRequest(nil, r.Stored)
		if err != nil {
			return nil, err
		}
		e.received.ids = append(e.received.ids, []byte(r.ID))
		e.received.revisions = append(e.received.revisions, int64(r.Revision))
		e.received.bodies = append(e.received.bodies, e.put(requestBody, int64(r.Revision), 0, encoding))
	}
	return e, nil
}
