package postgres

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"

	"github.com/jackc/pgx/v5"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/internal/forms"
)

// CreateSession writes a new row and the beginning of its log.
func (s *Store) CreateSession(ctx context.Context, c *storage.Commit) error {
	return s.write(ctx, c, true)
}

// Commit appends to a session's log and replaces its row.
func (s *Store) Commit(ctx context.Context, c *storage.Commit) error {
	return s.write(ctx, c, false)
}

func (s *Store) write(ctx context.Context, c *storage.Commit, create bool) (err error) {
	defer nameDamaged(&err, c.Session.GetTenant(), c.Session.GetSessionId())
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	e, err := encode(c)
	if err != nil {
		return err
	}
	if create {
		if err := c.Follows(nil); err != nil {
			return err
		}
	}
	w := &writing{store: s, follows: c.Follows, encoded: e, create: create, changesTraits: create}
	return w.run(ctx)
}

// writing is a commit that is being written.
type writing struct {
	store *Store
	// follows returns an error where the commit does not follow a row.
	follows func(row *storagev1.Session) error
	*encoded
	create bool
	// changesTraits says that the commit writes the labels anew.
	changesTraits bool
	// tried are the ids of all tries. Any of them may have been committed if its connection was lost.
	tried []commitID
}

// run tries the commit until its outcome is known, or the database stays out of reach.
func (w *writing) run(ctx context.Context) error {
	for try := 1; ; try++ {
		written, f := w.try(ctx)
		switch {
		case f == nil && written:
			return nil
		case f == nil, f.lost:
			// Either the row is not the one that the commit follows, or nobody knows what became of the commit.
			decided, err := w.decide(ctx, f != nil)
			if decided {
				return err
			}
		case !f.again:
			return f.err
		}
		if f == nil {
			continue
		}
		if !w.store.another(ctx, try) {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return f.err
		}
	}
}

// try sends the commit once, and reports whether it was written. It waits for a connection as long as the caller does, and
// then for the outcome.
func (w *writing) try(ctx context.Context) (written bool, f *fault) {
	var id commitID
	_, _ = rand.Read(id[:])
	w.tried = append(w.tried, id)
	using, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	f = w.store.on(ctx, using, func(ctx context.Context, conn *pgx.Conn) error {
		batch, err := w.batch(ctx, id, w.create, w.changesTraits)
		if err != nil {
			return err
		}
		results := conn.SendBatch(ctx, batch)
		tag, err := results.Exec()
		written = err == nil && tag.RowsAffected() > 0
		// The rest may still fail, and the transaction with it.
		return errors.Join(err, results.Close())
	})
	if f != nil && f.known {
		// Such a commit is refused like one that finds another row.
		return false, nil
	}
	return written && f == nil, f
}

// standing is what stands where a commit was not written, as far as is known.
type standing struct {
	uid          string
	revision     int64
	commits      []byte
	body         []byte
	requestKnown bool
	// gone reports that the session is not there, and that the draft which was to become it is not there either.
	gone bool
}

// decide reads what stands where a commit may not have been written. It returns false where another try can succeed. lost
// says that the server may still be at the commit.
func (w *writing) decide(ctx context.Context, lost bool) (decided bool, err error) {
	// An answer that the caller does not wait for is needed all the same: a commit must not be both refused and written.
	using, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	var now *standing
	for try := 1; ; try++ {
		f := w.store.on(using, using, func(ctx context.Context, conn *pgx.Conn) error {
			now, err = w.standing(ctx, conn, lost)
			return err
		})
		if f == nil {
			break
		}
		if !f.lost && !f.again || !w.store.another(using, try) {
			return true, f.err
		}
	}
	switch {
	case now != nil && now.gone:
		return true, goneError()
	case now != nil && w.wrote(now):
		return true, nil
	case w.create && now != nil:
		return true, storage.ErrExists
	case w.create:
		return false, nil
	}
	return w.refused(now, lost)
}

// standing reads what stands at the commit's session; nil where there is none.
func (w *writing) standing(ctx context.Context, conn *pgx.Conn, lost bool) (*standing, error) {
	args := pgx.NamedArgs{"tenant": []byte(w.ref.Tenant), "id": []byte(w.ref.SessionID), "request": w.requestID}
	if lost {
		if _, err := conn.Exec(ctx, lockSQL, args); err != nil {
			return nil, err
		}
	}
	gone, err := w.draftGone(ctx, conn)
	if err != nil {
		return nil, err
	}
	now := &standing{}
	var uid []byte
	err = conn.QueryRow(ctx, outcomeSQL, args).Scan(&uid, &now.revision, &now.commits, &now.body, &now.requestKnown)
	if errors.Is(err, pgx.ErrNoRows) {
		if gone {
			return &standing{gone: true}, nil
		}
		return nil, nil
	}
	now.uid = string(uid)
	return now, err
}

// draftGone reports that there is no draft for the session. It is asked before the session is read: so where a commit of a
// lost connection takes it out meanwhile, the session is seen.
func (w *writing) draftGone(ctx context.Context, conn *pgx.Conn) (gone bool, err error) {
	if w.draft == "" {
		return false, nil
	}
	var there bool
	err = conn.QueryRow(ctx, hasDraftSQL, pgx.NamedArgs{"draft": w.draft}).Scan(&there)
	return !there, err
}

// wrote reports whether one of the tries is the commit of its revision.
func (w *writing) wrote(now *standing) bool {
	size := int64(len(commitID{}))
	at := (now.revision - int64(w.row.GetRevision())) * size
	if now.uid != w.ref.UID || at < 0 || at+size > int64(len(now.commits)) {
		return false
	}
	for _, id := range w.tried {
		if bytes.Equal(now.commits[at:at+size], id[:]) {
			return true
		}
	}
	return false
}

// refused returns why a commit was refused. It returns false where it can be tried again.
func (w *writing) refused(now *standing, lost bool) (decided bool, err error) {
	switch {
	case now == nil || now.uid != w.ref.UID:
		return true, storage.ErrNotFound
	case now.requestKnown:
		return true, storage.ErrRequestKnown
	case now.revision != w.previous:
		return true, storage.ErrConflict
	}
	row, err := decodeRow(w.ref.Tenant, w.ref.SessionID, now.uid, now.revision, now.body)
	if err != nil {
		return true, err
	}
	if err := w.follows(row); err != nil {
		return true, err
	}
	if !lost && w.changesTraits {
		// The row has become this one only after the try.
		return true, storage.ErrConflict
	}
	w.changesTraits = w.changesTraits || !lost
	return false, nil
}

// decodeRow reads a row, which must be the one that its columns say.
func decodeRow(tenant, id, uid string, revision int64, body []byte) (*storagev1.Session, error) {
	encoding, err := place{kind: rowBody, uid: uid, number: revision}.unseal(body)
	if err != nil {
		return nil, err
	}
	row, err := forms.Session(encoding)
	if err != nil {
		return nil, err
	}
	if row.GetTenant() != tenant || row.GetSessionId() != id || row.GetUid() != uid || int64(row.GetRevision()) != revision {
		return nil, forms.Damaged("a row does not belong to its session")
	}
	return row, nil
}
