package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
)

const (
	// stayEvery is how often an opening says that it is alive, and stayFor how long others believe it.
	stayEvery = 5 * time.Second
	stayFor   = 30 * time.Second
)

// Opening returns the name of this opening of the database.
func (s *Store) Opening() string { return s.opening }

// Ended returns which openings have ended: those that have said so, or said nothing for a while.
func (s *Store) Ended(ctx context.Context, openings []string) (ended map[string]bool, err error) {
	err = s.read(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		alive, err := alive(ctx, conn)
		if err != nil {
			return err
		}
		ended = map[string]bool{}
		for _, name := range openings {
			if !alive[name] && name != s.opening {
				ended[name] = true
			}
		}
		return nil
	})
	return ended, err
}

// alive returns the openings that live.
func alive(ctx context.Context, conn *pgx.Conn) (map[string]bool, error) {
	rows, err := conn.Query(ctx, aliveSQL)
	if err != nil {
		return nil, err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	found := make(map[string]bool, len(names))
	for _, name := range names {
		found[name] = true
	}
	return found, err
}

// Abandoned returns the sessions with running compactions of openings that have ended. Those of other daemons that live
// are not among them.
func (s *Store) Abandoned(ctx context.Context) ([]storage.Ref, error) {
	var rows []listed
	var living map[string]bool
	err := s.read(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
		if rows, err = collect(ctx, conn, runningSQL, pgx.NamedArgs{}); err != nil || len(rows) == 0 {
			return err
		}
		// Read after the rows: an opening is noted before its first compaction.
		living, err = alive(ctx, conn)
		return err
	})
	if err != nil {
		return nil, err
	}
	var found []storage.Ref
	for _, r := range rows {
		row, err := r.row()
		if err != nil {
			// A session whose row is damaged is left out.
			continue
		}
		if s.runsUnderEnded(row, living) {
			found = append(found, storage.RefOf(row))
		}
	}
	return found, nil
}

// runsUnderEnded reports whether a row names a running compaction of an opening that has ended.
func (s *Store) runsUnderEnded(row *storagev1.Session, living map[string]bool) bool {
	for _, r := range row.GetRunning() {
		if !living[r.GetOpening()] && r.GetOpening() != s.opening {
			return true
		}
	}
	return false
}
