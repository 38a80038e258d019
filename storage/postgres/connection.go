package postgres

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/compactord/compactord/storage"
)

const (
	// tries is how often an operation is tried, unless the database was already out of reach before.
	tries = 5
	// firstPause is the longest pause before the second try; each further one may be twice as long.
	firstPause = 20 * time.Millisecond
)

// once runs an operation on a connection, and reports what it learns about the database.
func (s *Store) once(ctx context.Context, use func(context.Context, *pgx.Conn) error) error {
	if f := s.on(ctx, ctx, use); f != nil {
		return f.err
	}
	return nil
}

// on runs an operation on a connection. It waits for that by one context, and uses it under another.
func (s *Store) on(waiting, using context.Context, use func(context.Context, *pgx.Conn) error) *fault {
	s.waiting.Add(1)
	conn, err := s.pool.Acquire(waiting)
	s.waiting.Add(-1)
	if err != nil {
		if cause := context.Cause(waiting); cause != nil {
			return &fault{err: cause}
		}
		// Any error of the pool is one of connecting.
		f := faultOf(err, true)
		if !errors.Is(f.err, storage.ErrDisk) {
			f.err = unreachable(err)
		}
		s.outages.note(f.err)
		return &fault{err: f.err, again: true}
	}
	defer conn.Release()
	f := faultOf(use(using, conn.Conn()), conn.Conn().IsClosed())
	if f == nil {
		return nil
	}
	if cause := context.Cause(using); cause != nil && using == waiting {
		// The end of a context closes the connection.
		return &fault{err: cause}
	}
	if f.outage {
		s.outages.note(f.err)
	}
	return f
}

// read runs an operation that only reads, again where the connection was lost.
func (s *Store) read(ctx context.Context, use func(context.Context, *pgx.Conn) error) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	for try := 1; ; try++ {
		f := s.on(ctx, ctx, use)
		switch {
		case f == nil:
			return nil
		case !f.lost && !f.again:
			return f.err
		case !s.another(ctx, try):
			return f.err
		}
	}
}

// Connections returns the figures of the pool.
func (s *Store) Connections() storage.Connections {
	now := s.pool.Stat()
	return storage.Connections{
		Used: int(now.AcquiredConns()), Idle: int(now.IdleConns()), Limit: int(now.MaxConns()), Waiting: int(s.waiting.Load()),
	}
}

// another waits before another try; false where there is none.
func (s *Store) another(ctx context.Context, try int) bool {
	if try == tries || try > 1 && s.outages.lasting() {
		return false
	}
	pause := jitter(firstPause << try)
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// jitter returns a random time below a limit, so that many do not do the same at the same time.
func jitter(limit time.Duration) time.Duration {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return time.Duration(binary.BigEndian.Uint64(b[:]) % uint64(limit))
}
