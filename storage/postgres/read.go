package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/internal/forms"
)

// pageMessages and pageBytes are the most messages, and the most bytes of more than one, that one statement returns.
const (
	pageMessages = 1000
	pageBytes    = 8 << 20
)

// Session returns the row.
func (s *Store) Session(ctx context.Context, tenant, sessionID string) (row *storagev1.Session, err error) {
	defer nameDamaged(&err, tenant, sessionID)
	var revision int64
	var uid, body []byte
	err = s.read(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, sessionSQL, pgx.NamedArgs{"tenant": []byte(tenant), "id": []byte(sessionID)}).
			Scan(&revision, &uid, &body)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, storage.ErrNotFound
	case err != nil:
		return nil, err
	}
	return decodeRow(tenant, sessionID, string(uid), revision, body)
}

// stored is a body that was read, with its numbers.
type stored struct {
	number, sequence int64
	body             []byte
}

// encoding returns what is sealed in the body.
func (b stored) encoding(ref storage.Ref, kind bodyKind) ([]byte, error) {
	return place{kind: kind, uid: ref.UID, number: b.number, sequence: b.sequence}.unseal(b.body)
}

// bodies returns the bodies of a log that a statement reads, and the log's next index.
func (s *Store) bodies(
	ctx context.Context, ref storage.Ref, statement string, args pgx.NamedArgs,
) (list []stored, nextIndex int64, err error) {
	maps.Copy(args, refArgs(ref))
	err = s.read(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		list, nextIndex = nil, -1
		rows, err := conn.Query(ctx, statement, args)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var number, sequence *int64
			var body []byte
			if err := rows.Scan(&nextIndex, &number, &sequence, &body); err != nil {
				return err
			}
			// A session that has none has a row without body.
			if number != nil && sequence != nil {
				list = append(list, stored{*number, *sequence, body})
			}
		}
		return rows.Err()
	})
	if err == nil && nextIndex < 0 {
		err = storage.ErrNotFound
	}
	return list, nextIndex, err
}

func refArgs(ref storage.Ref) pgx.NamedArgs {
	return pgx.NamedArgs{"tenant": []byte(ref.Tenant), "id": []byte(ref.SessionID), "uid": []byte(ref.UID)}
}

// Messages returns messages, page by page.
func (s *Store) Messages(
	ctx context.Context, ref storage.Ref, start, end uint32, maxBytes int,
) (list []*compactordv1.LoggedMessage, err error) {
	defer nameDamaged(&err, ref.Tenant, ref.SessionID)
	left := int64(math.MaxInt64)
	if maxBytes > 0 {
		left = int64(maxBytes)
	}
	for at := int64(start); ; {
		page, nextIndex, err := s.bodies(ctx, ref, messagesSQL, pgx.NamedArgs{
			"start": at, "end": int64(end), "limit": pageMessages, "bytes": min(left, pageBytes),
		})
		if err != nil {
			return nil, err
		}
		last := min(int64(end), nextIndex)
		if len(page) == 0 && at < last {
			return nil, forms.Damaged("message %d is missing", at)
		}
		for _, b := range page {
			m, err := messageOf(ref, b, at)
			if err != nil {
				return nil, err
			}
			if left -= int64(proto.Size(m)); left < 0 && len(list) > 0 {
				return list, nil
			}
			list = append(list, m)
			at++
		}
		if at >= last || left <= 0 {
			return list, nil
		}
	}
}

// messageOf reads the message of an index.
func messageOf(ref storage.Ref, b stored, index int64) (*compactordv1.LoggedMessage, error) {
	if b.number != index {
		return nil, forms.Damaged("message %d is missing", index)
	}
	encoding, err := b.encoding(ref, messageBody)
	if err != nil {
		return nil, err
	}
	m, err := forms.Message(encoding)
	if err == nil && int64(m.GetIndex()) != index {
		err = forms.Damaged("a message stands in the place of message %d", index)
	}
	return m, err
}

// Records returns records.
func (s *Store) Records(
	ctx context.Context, ref storage.Ref, start, end uint32, limit int,
) ([]*storagev1.StoredRecord, error) {
	return s.records(ctx, ref, recordsSQL, pgx.NamedArgs{"start": int64(start), "end": int64(end), "limit": limitOf(limit)})
}

// RecordAtOrBefore returns the newest record up to a sequence.
func (s *Store) RecordAtOrBefore(ctx context.Context, ref storage.Ref, sequence uint32) (*storagev1.StoredRecord, error) {
	list, err := s.records(ctx, ref, recordBeforeSQL, pgx.NamedArgs{"end": int64(sequence)})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		err := forms.Damaged("no record up to sequence %d", sequence)
		nameDamaged(&err, ref.Tenant, ref.SessionID)
		return nil, err
	}
	return list[0], nil
}

// Compactions returns records with compaction entries, newest first.
func (s *Store) Compactions(
	ctx context.Context, ref storage.Ref, before uint32, limit int,
) ([]*storagev1.StoredRecord, error) {
	end := int64(before)
	if before == 0 {
		end = math.MaxInt64
	}
	return s.records(ctx, ref, compactionsSQL, pgx.NamedArgs{"end": end, "limit": limitOf(limit)})
}

// limitOf returns the limit of a statement, which has none for 0.
func limitOf(limit int) *int64 {
	if limit == 0 {
		return nil
	}
	n := int64(limit)
	return &n
}

func (s *Store) records(
	ctx context.Context, ref storage.Ref, statement string, args pgx.NamedArgs,
) (list []*storagev1.StoredRecord, err error) {
	defer nameDamaged(&err, ref.Tenant, ref.SessionID)
	found, _, err := s.bodies(ctx, ref, statement, args)
	if err != nil {
		return nil, err
	}
	for _, b := range found {
		encoding, err := b.encoding(ref, recordBody)
		if err != nil {
			return nil, err
		}
		r, err := forms.Record(encoding)
		if err != nil {
			return nil, err
		}
		if int64(r.GetRecord().GetSequence()) != b.number {
			return nil, forms.Damaged("a record stands in the place of record %d", b.number)
		}
		list = append(list, r)
	}
	return list, nil
}

// Edits returns edits, by message and then by record.
func (s *Store) Edits(ctx context.Context, ref storage.Ref, start, end uint32) (list []storage.IndexedEdits, err error) {
	defer nameDamaged(&err, ref.Tenant, ref.SessionID)
	found, _, err := s.bodies(ctx, ref, editsSQL, pgx.NamedArgs{"start": int64(start), "end": int64(end)})
	if err != nil {
		return nil, err
	}
	for _, b := range found {
		encoding, err := b.encoding(ref, editsBody)
		if err != nil {
			return nil, err
		}
		edits, err := forms.Edits(encoding)
		if err != nil {
			return nil, err
		}
		list = append(list, storage.IndexedEdits{Index: uint32(b.number), Sequence: uint32(b.sequence), Edits: edits})
	}
	return list, nil
}

// Request returns a remembered request.
func (s *Store) Request(ctx context.Context, ref storage.Ref, id string) (*storagev1.StoredRequest, error) {
	list, err := s.requests(ctx, ref, requestSQL, pgx.NamedArgs{"request": []byte(id)})
	if err == nil && len(list) == 0 {
		err = storage.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return list[0].Stored, nil
}

// Requests returns remembered requests in the order of their ids.
func (s *Store) Requests(ctx context.Context, ref storage.Ref, after string, limit int) ([]storage.Request, error) {
	if limit < 1 {
		leave, err := s.enter(ctx)
		if err != nil {
			return nil, err
		}
		leave()
		return nil, fmt.Errorf("%w: a limit of %d", storage.ErrInvalid, limit)
	}
	return s.requests(ctx, ref, requestsSQL, pgx.NamedArgs{"after": []byte(after), "limit": limit})
}
