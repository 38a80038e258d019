package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/compactord/compactord/storage"
)

const (
	// sweepEvery is how often the logs of deleted sessions are looked for that another daemon has left.
	sweepEvery = time.Minute
	// sweepBatch is the most rows of a table that one transaction removes.
	sweepBatch = 2000
)

// DeleteSession removes the row. The sweeper removes the log.
func (s *Store) DeleteSession(ctx context.Context, tenant, sessionID string) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	args := pgx.NamedArgs{"tenant": []byte(tenant), "id": []byte(sessionID)}
	// Another try must not delete a new incarnation.
	var uid []byte
	maybe := false
	for try := 1; ; try++ {
		f := s.on(ctx, ctx, func(ctx context.Context, conn *pgx.Conn) error {
			if uid != nil {
				return nil
			}
			return conn.QueryRow(ctx, uidSQL, args).Scan(&uid)
		})
		if f == nil {
			args["uid"] = uid
			var gone bool
			if gone, f = s.tryDelete(ctx, args); f == nil {
				if !gone && !maybe {
					return storage.ErrNotFound
				}
				s.wakeSweeper()
				return nil
			}
			// A deletion whose connection was lost may have been done.
			maybe = maybe || f.lost
		}
		switch {
		case errors.Is(f.err, pgx.ErrNoRows):
			return storage.ErrNotFound
		case !f.lost && !f.again || !s.another(ctx, try):
			return f.err
		}
	}
}

func (s *Store) tryDelete(ctx context.Context, args pgx.NamedArgs) (gone bool, f *fault) {
	using, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	f = s.on(ctx, using, func(ctx context.Context, conn *pgx.Conn) error {
		tag, err := conn.Exec(ctx, deleteSQL, args)
		gone = tag.RowsAffected() > 0
		return err
	})
	return gone, f
}

func (s *Store) wakeSweeper() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// sweep removes the logs of deleted sessions until the store is closed.
func (s *Store) sweep(ctx context.Context) {
	for {
		// Where the database does not answer, the next round finds them.
		_ = s.once(ctx, s.abandonDrafts)
		left := true
		for left && ctx.Err() == nil {
			if err := s.once(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
				left, err = sweepSome(ctx, conn)
				return err
			}); err != nil {
				break
			}
		}
		timer := time.NewTimer(sweepEvery/2 + jitter(sweepEvery))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		case <-s.wake:
			timer.Stop()
		}
	}
}

// sweepSome removes a part of the log of one deleted session that no other daemon is at. It reports whether more is left.
func sweepSome(ctx context.Context, conn *pgx.Conn) (left bool, err error) {
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var ordinal int64
		switch err := tx.QueryRow(ctx, deadSQL).Scan(&ordinal); {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case err != nil:
			return err
		}
		left = true
		args := pgx.NamedArgs{"ordinal": ordinal, "limit": sweepBatch}
		for _, statement := range []string{sweepMessagesSQL, sweepRecordsSQL, sweepEditsSQL, sweepRequestsSQL, sweepChunksSQL} {
			tag, err := tx.Exec(ctx, statement, args)
			if err != nil || tag.RowsAffected() > 0 {
				return err
			}
		}
		_, err := tx.Exec(ctx, burySQL, args)
		return err
	})
	return left, err
}
