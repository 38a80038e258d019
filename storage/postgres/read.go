package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/internal/forms"
)

// pageMessages and pageBytes are the most messages, and the most bytes of more than one, that one statement returns. The server
// looks at as many messages as it may return, however large they are: so there is one for each fewBytes that are wanted.
const (
	pageMessages = 4000
	pageBytes    = 8 << 20
	fewBytes     = 256
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

// readBodies reads the bodies of a log by a statement, and returns what decode makes of each, and the log's next index. It decodes them
// while the server sends more, and decode must not keep a body.
func readBodies[T any](
	ctx context.Context, s *Store, ref storage.Ref, statement string, args pgx.NamedArgs, decode func(stored) (T, error),
) (list []T, nextIndex int64, err error) {
	maps.Copy(args, refArgs(ref))
	err = s.read(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		list, nextIndex = nil, -1
		rows, err := conn.Query(ctx, statement, args)
		if err != nil {
			return err
		}
		defer rows.Close()
		var number, sequence *int64
		var body pgtype.DriverBytes
		for rows.Next() {
			if err := rows.Scan(&nextIndex, &number, &sequence, &body); err != nil {
				return err
			}
			// A session that has none has a row without body.
			if number == nil || sequence == nil {
				continue
			}
			decoded, err := decode(stored{*number, *sequence, body})
			if err != nil {
				return err
			}
			list = append(list, decoded)
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
	err = s.messages(ctx, ref, start, end, maxBytes, messageOf, func(m sized) { list = append(list, m.message) })
	if err != nil {
		return nil, err
	}
	return list, nil
}

// EncodedMessages implements storage.EncodedReader.
func (s *Store) EncodedMessages(
	ctx context.Context, ref storage.Ref, start, end uint32, maxBytes int,
) (list []*compactordv1.LoggedMessage, encodings []string, err error) {
	err = s.messages(ctx, ref, start, end, maxBytes, encodedMessageOf, func(m sized) {
		list, encodings = append(list, m.message), append(encodings, m.encoding)
	})
	if err != nil {
		return nil, nil, err
	}
	return list, encodings, nil
}

// messages passes messages on to add, page by page.
func (s *Store) messages(
	ctx context.Context, ref storage.Ref, start, end uint32, maxBytes int,
	read func(storage.Ref, stored) (sized, error), add func(sized),
) (err error) {
	defer nameDamaged(&err, ref.Tenant, ref.SessionID)
	added, left := 0, int64(math.MaxInt64)
	if maxBytes > 0 {
		left = int64(maxBytes)
	}
	for at := int64(start); ; {
		bytes := min(left, pageBytes)
		page, nextIndex, err := readBodies(ctx, s, ref, messagesSQL, pgx.NamedArgs{
			"start": at, "end": int64(end), "limit": min(1+bytes/fewBytes, pageMessages), "bytes": bytes,
		}, func(b stored) (sized, error) { return read(ref, b) })
		if err != nil {
			return err
		}
		last := min(int64(end), nextIndex)
		if len(page) == 0 && at < last {
			return forms.Damaged("message %d is missing", at)
		}
		for _, m := range page {
			if int64(m.message.GetIndex()) != at {
				return forms.Damaged("message %d is missing", at)
			}
			if left -= int64(m.size); left < 0 && added > 0 {
				return nil
			}
			add(m)
			added++
			at++
		}
		if at >= last || left <= 0 {
			return nil
		}
	}
}

// sized is a message, and how many bytes it is.
type sized struct {
	message *compactordv1.LoggedMessage
	size    int
	// encoding is that of the message within, where it is wanted.
	encoding string
}

// messageOf reads the message of a body.
func messageOf(ref storage.Ref, b stored) (sized, error) {
	return sizedOf(ref, b, func(body []byte) (m sized, err error) {
		m.message, err = forms.Message(body)
		return m, err
	})
}

// encodedMessageOf reads the message of a body with its encoding.
func encodedMessageOf(ref storage.Ref, b stored) (sized, error) {
	return sizedOf(ref, b, func(body []byte) (m sized, err error) {
		m.message, m.encoding, err = forms.EncodedMessage(body)
		return m, err
	})
}

func sizedOf(ref storage.Ref, b stored, read func(body []byte) (sized, error)) (sized, error) {
	body, err := b.encoding(ref, messageBody)
	if err != nil {
		return sized{}, err
	}
	m, err := read(body)
	if err == nil && int64(m.message.GetIndex()) != b.number {
		err = forms.Damaged("a message stands in the place of message %d", b.number)
	}
	m.size = forms.LoggedSize(len(body))
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
	list, _, err = readBodies(ctx, s, ref, statement, args, func(b stored) (*storagev1.StoredRecord, error) {
		encoding, err := b.encoding(ref, recordBody)
		if err != nil {
			return nil, err
		}
		r, err := forms.Record(encoding)
		if err == nil && int64(r.GetRecord().GetSequence()) != b.number {
			err = forms.Damaged("a record stands in the place of record %d", b.number)
		}
		return r, err
	})
	return list, err
}

// Edits returns edits, by message and then by record.
func (s *Store) Edits(ctx context.Context, ref storage.Ref, start, end uint32) (list []storage.IndexedEdits, err error) {
	defer nameDamaged(&err, ref.Tenant, ref.SessionID)
	args := pgx.NamedArgs{"start": int64(start), "end": int64(end)}
	list, _, err = readBodies(ctx, s, ref, editsSQL, args, func(b stored) (storage.IndexedEdits, error) {
		encoding, err := b.encoding(ref, editsBody)
		if err != nil {
			return storage.IndexedEdits{}, err
		}
		edits, err := forms.Edits(encoding)
		return storage.IndexedEdits{Index: uint32(b.number), Sequence: uint32(b.sequence), Edits: edits}, err
	})
	return list, err
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
