// Package postgres keeps logs in a PostgreSQL database, which any number of daemons share.
//
// A session is a row of the table sessions, and its log is rows of other tables, by the ordinal of the session. A commit is
// one batch, and so one round trip and one transaction: it replaces the row where that still has the revision before, and
// the statements that append to the log look for the row with this commit's id. Where the row was another one, they append
// nothing.
//
// A body is compressed and sealed with its place here, so that the database neither compresses it again nor hands out one
// of another place unseen. Reads are one statement each, and so see the database as it was at one moment.
package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/compactord/compactord/storage"
)

// Options are the options of a store.
type Options struct {
	// URL says where the database is, as libpq writes it. What it leaves out comes from the environment and the files that
	// libpq reads, such as PGHOST, PGPASSWORD and ~/.pgpass.
	URL string
	// Migrate brings a schema that is older than the program to its version. Else such a schema is a SchemaError.
	Migrate bool
	// Exclusive opens a database that no other process has open, for copying all of it, also one that lacks a part of what it
	// takes over. Open returns ErrInUse where another one lives, and others get that as long as this one is open.
	Exclusive bool
}

// Store is a storage.Store in a database.
type Store struct {
	pool    *pgxpool.Pool
	opening string
	outages outages
	// waiting counts the operations that wait for a connection.
	waiting atomic.Int64
	// end stops what runs in the background, and depart ends the opening.
	end, depart func()
	// wake tells the sweeper of a deletion.
	wake   chan struct{}
	drafts drafts

	// mu guards closed. running counts operations, and background what runs until the store is closed.
	mu         sync.Mutex
	closed     bool
	running    sync.WaitGroup
	background sync.WaitGroup
}

var (
	_ storage.Shared    = (*Store)(nil)
	_ storage.Fallible  = (*Store)(nil)
	_ storage.Connected = (*Store)(nil)
	_ storage.Receiver  = (*Store)(nil)
)

// Open opens the store in a database. It returns a SchemaError where the database has another schema than that of this
// program.
func Open(ctx context.Context, options Options) (*Store, error) {
	config, err := poolConfig(options.URL)
	if err != nil {
		return nil, err
	}
	if options.Migrate {
		if _, err := migrate(ctx, config.ConnConfig); err != nil {
			return nil, err
		}
	}
	return open(ctx, config, options.Exclusive)
}

func open(ctx context.Context, config *pgxpool.Config, exclusive bool) (*Store, error) {
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, unreachable(err)
	}
	s := &Store{pool: pool, opening: rand.Text(), wake: make(chan struct{}, 1)}
	if exclusive {
		s.opening = copying + s.opening
	}
	if err := s.begin(ctx, exclusive); err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

// begin checks the schema, notes the opening, and starts what runs until the store is closed.
func (s *Store) begin(ctx context.Context, exclusive bool) error {
	if err := s.once(ctx, checkSchema); err != nil {
		return err
	}
	if err := s.once(ctx, s.stay); err != nil {
		return err
	}
	if err := s.once(ctx, func(ctx context.Context, conn *pgx.Conn) error { return s.alone(ctx, conn, exclusive) }); err != nil {
		return errors.Join(err, s.once(ctx, s.leave))
	}
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	s.end = end
	s.depart = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingTimeout)
		defer cancel()
		// Where the database cannot be reached, the opening ends by itself.
		_ = s.once(ctx, s.leave)
	}
	s.outages.begun = func() {
		// What is idle in the pool is lost too.
		s.pool.Reset()
		s.background.Go(func() { s.probe(running) })
	}
	s.background.Go(func() { s.stayAlive(running) })
	s.background.Go(func() { s.sweep(running) })
	return nil
}

// enter begins an operation, which leave ends. It returns an error where the store is closed or the context has ended.
func (s *Store) enter(ctx context.Context) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, storage.ErrClosed
	}
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	s.running.Add(1)
	return s.running.Done, nil
}

// Close waits for running operations and ends the connections.
func (s *Store) Close() error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	if again {
		return nil
	}
	s.running.Wait()
	s.outages.ignore()
	s.end()
	s.background.Wait()
	s.depart()
	s.pool.Close()
	return nil
}

// nameDamaged names the session whose data an error says to be damaged.
func nameDamaged(err *error, tenant, sessionID string) {
	var named *storage.DamagedError
	if errors.Is(*err, storage.ErrCorrupt) && !errors.As(*err, &named) {
		*err = &storage.DamagedError{Tenant: tenant, SessionID: sessionID, Cause: *err}
	}
}
