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

// Abandoned returns the sessions with running compactions of openings that have ended. Those of other daemons that live
// are not among them.
func (s *Store) Abandoned(ctx context.Context) ([]storage.Ref, error) {
	var rows []listed
	alive := map[string]bool{}
	err := s.read(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
		clear(alive)
		if rows, err = collect(ctx, conn, runningSQL, pgx.NamedArgs{}); err != nil || len(rows) == 0 {
			return err
		}
		// Read after the rows: an opening is noted before its first compaction.
		names, err := conn.Query(ctx, aliveSQL)
		if err != nil {
			return err
		}
		list, err := pgx.CollectRows(names, pgx.RowTo[string])
		for _, name := range list {
			alive[name] = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	alive[s.opening] = true
	var found []storage.Ref
	for _, r := range rows {
		row, err := r.row()
		if err != nil {
			// A session whose row is damaged is left out.
			continue
		}
		if runsUnderDead(row, alive) {
			found = append(found, storage.RefOf(row))
		}
	}
	return found, nil
}

func runsUnderDead(row *storagev1.Session, alive map[string]bool) bool {
	for _, r := range row.GetRunning() {
		if !alive[r.GetOpening()] {
			return true
		}
	}
	return false
}
