package boltstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/internal/forms"
)

// scanKeys is the most entries of a listing that one transaction reads; labels can exclude most of them.
const scanKeys = 4096

// Sessions returns a page of rows.
func (s *Store) Sessions(ctx context.Context, q storage.SessionQuery) ([]*storagev1.Session, string, error) {
	query, err := newQuery(q)
	if err != nil {
		return nil, "", s.refusal(ctx, err)
	}
	var rows []*storagev1.Session
	for {
		var found scan
		err := s.view(ctx, func(tx *transaction) (err error) {
			found, err = query.scan(tx, q.Limit-len(rows))
			return err
		})
		if err != nil {
			return nil, "", err
		}
		rows = append(rows, found.rows...)
		switch {
		case found.more:
			return rows, query.cursor(), nil
		case found.end:
			return rows, "", nil
		}
	}
}

// Children counts the entries of the list of a session's children.
func (s *Store) Children(ctx context.Context, tenant, parentUID string) (int, error) {
	count := 0
	err := s.view(ctx, func(tx *transaction) error {
		count = 0
		if len(tenant) > maxName || len(parentUID) > maxName {
			return nil
		}
		l := childrenOf(storage.ByCreation, tenant, parentUID)
		prefix := l.prefix()
		cursor := tx.Bucket(l.bucket()).Cursor(prefix)
		for key, _ := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = cursor.Next() {
			count++
		}
		return nil
	})
	return count, err
}

// query is the progress of a query.
type query struct {
	// walked is the listing whose entries are read; a session must also be in the others.
	walked listing
	others []listing
	// digest is a hash of the query, so that a cursor is valid for its query only.
	digest [sha256.Size]byte
	// after is the place of the last entry read, if begun.
	after place
	begun bool
	// damaged is called for each session that cannot be read; nil where that is an error.
	damaged func(*storage.DamagedError)
	// none reports that no row can match.
	none bool
}

func newQuery(q storage.SessionQuery) (*query, error) {
	if q.Limit < 1 || (q.Order != storage.ByCreation && q.Order != storage.ByChange) {
		return nil, fmt.Errorf("%w: limit %d, order %d", storage.ErrInvalid, q.Limit, q.Order)
	}
	query := &query{
		walked: listing{order: q.Order, tenant: q.Tenant}, damaged: q.Damaged, none: len(q.Tenant) > maxName,
	}
	sum := sha256.New()
	for _, label := range slices.Sorted(maps.Keys(q.Labels)) {
		value := q.Labels[label]
		query.none = query.none || len(label) > maxName || len(value) > maxName
		query.others = append(query.others, listing{
			order: q.Order, tenant: q.Tenant, labelled: true, label: label, value: value,
		})
		_, _ = fmt.Fprintf(sum, "%q=%q,", label, value)
	}
	_, _ = fmt.Fprintf(sum, "%q %d", q.Tenant, q.Order)
	if q.Parent != "" {
		query.none = query.none || len(q.Parent) > maxName
		// A session has far fewer children than a label may have sessions.
		query.others = slices.Insert(query.others, 0, childrenOf(q.Order, q.Tenant, q.Parent))
		_, _ = fmt.Fprintf(sum, " %q", q.Parent)
	}
	query.digest = [sha256.Size]byte(sum.Sum(nil))
	if len(query.others) > 0 {
		query.walked, query.others = query.others[0], query.others[1:]
	}
	return query, query.resume(q.Cursor)
}

// A cursor is a version, the place of the last row, and the first bytes of a hash of both and the query's digest.
const (
	cursorVersion = 1
	cursorSum     = 8
)

func (q *query) cursor() string {
	b := append([]byte{cursorVersion}, q.after[:]...)
	return base64.RawURLEncoding.EncodeToString(append(b, q.sum(b)...))
}

func (q *query) sum(b []byte) []byte {
	sum := sha256.Sum256(append(q.digest[:], b...))
	return sum[:cursorSum]
}

func (q *query) resume(cursor string) error {
	if cursor == "" {
		return nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) != 1+placeSize+cursorSum || b[0] != cursorVersion ||
		!bytes.Equal(b[1+placeSize:], q.sum(b[:1+placeSize])) {
		return fmt.Errorf("cursor: %w", storage.ErrNotFound)
	}
	q.after, q.begun = place(b[1:1+placeSize]), true
	return nil
}

// scan is the result of one transaction.
type scan struct {
	rows []*storagev1.Session
	// more reports that the page is full and another row follows, end that no other row follows. Where both are false,
	// this is not known yet.
	more, end bool
}

// scan copies up to limit rows after the last one read.
func (q *query) scan(tx *transaction, limit int) (found scan, err error) {
	if q.none {
		return scan{end: true}, nil
	}
	prefix := q.walked.prefix()
	cursor := tx.Bucket(q.walked.bucket()).Cursor(prefix)
	key, id := cursor.Seek(prefix)
	if q.begun {
		last := q.walked.key(q.after)
		if key, id = cursor.Seek(last); bytes.Equal(key, last) {
			key, id = cursor.Next()
		}
	}
	size := 0
	for scanned := 0; bytes.HasPrefix(key, prefix); key, id = cursor.Next() {
		if scanned == scanKeys || size > pageBytes {
			return found, nil
		}
		scanned++
		if len(key) != len(prefix)+placeSize {
			return scan{}, forms.Damaged("a listing: %v", errKey)
		}
		at := place(key[len(prefix):])
		if q.inOthers(tx, at) {
			if len(found.rows) == limit {
				found.more = true
				return found, nil
			}
			row, err := q.row(tx, string(id))
			if err != nil {
				return scan{}, err
			}
			if row != nil {
				found.rows = append(found.rows, row)
				size += proto.Size(row)
			}
		}
		q.after, q.begun = at, true
	}
	found.end = true
	return found, nil
}

// inOthers reports whether the session at a place is in all other listings of the query. Its place is the same in each.
func (q *query) inOthers(tx *transaction, at place) bool {
	for _, other := range q.others {
		if tx.Bucket(other.bucket()).Get(other.key(at)) == nil {
			return false
		}
	}
	return true
}

// row reads a row of the listing; nil for a damaged one that is reported.
func (q *query) row(tx *transaction, id string) (row *storagev1.Session, err error) {
	err = tx.guarded(func() (err error) {
		row, err = listedRow(tx, q.walked.tenant, id)
		return err
	})
	if err == nil || !errors.Is(err, storage.ErrCorrupt) {
		return row, err
	}
	damage := &storage.DamagedError{Tenant: q.walked.tenant, SessionID: id, Cause: err}
	if q.damaged == nil {
		return nil, damage
	}
	q.damaged(damage)
	return nil, nil
}

func listedRow(tx *transaction, tenant, id string) (*storagev1.Session, error) {
	value := tx.Bucket(sessionsBucket).Get(sessionKey(tenant, id))
	if value == nil {
		return nil, forms.Damaged("a listing names a session that does not exist")
	}
	_, encoding, err := splitRow(value)
	if err != nil {
		return nil, err
	}
	return forms.Session(encoding)
}

// CountSessions counts the entries of the lists of all sessions. They are smaller than the rows.
func (s *Store) CountSessions(ctx context.Context) (map[string]int, error) {
	var counts map[string]int
	err := s.view(ctx, func(tx *transaction) error {
		counts = make(map[string]int)
		prefix := []byte{byte(storage.ByCreation)}
		cursor := tx.Bucket(byTimeBucket).Cursor(prefix)
		for key, _ := cursor.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = cursor.Next() {
			l, _, err := splitListingKey(key, false)
			if err != nil {
				return forms.Damaged("bucket %s: %v", byTimeBucket, err)
			}
			counts[l.tenant]++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return counts, nil
}
