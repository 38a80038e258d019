package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/compactord/compactord/storage"
)

const (
	// firstProbe and lastProbe are the least and the most time between two tries to reach the database during an outage.
	firstProbe = 50 * time.Millisecond
	lastProbe  = 2 * time.Second
	// lastingAfter is how long an outage takes until an operation is tried once only.
	lastingAfter = 2 * time.Second
)

// outages are the times in which the database does not answer.
type outages struct {
	// begun is called at the beginning of each.
	begun func()

	mu       sync.Mutex
	now      storage.Outage
	watchers []func(storage.Outage)
}

// WatchOutages calls fn with each outage when it begins and when it ends.
func (s *Store) WatchOutages(fn func(storage.Outage)) {
	o := &s.outages
	o.mu.Lock()
	defer o.mu.Unlock()
	o.watchers = append(o.watchers, fn)
	if o.now.Err != nil {
		fn(o.now)
	}
}

// note begins an outage with an error, unless one lasts.
func (o *outages) note(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.now.Err != nil || o.begun == nil {
		return
	}
	o.now = storage.Outage{Err: err, Since: time.Now()}
	for _, fn := range o.watchers {
		fn(o.now)
	}
	o.begun()
}

// ignore ends the noting.
func (o *outages) ignore() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begun = nil
}

// lasting reports whether an outage takes longer than a restart of a server.
func (o *outages) lasting() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.now.Err != nil && time.Since(o.now.Since) > lastingAfter
}

// over ends the outage.
func (o *outages) over() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now.Err = nil
	for _, fn := range o.watchers {
		fn(o.now)
	}
}

// probe tries to reach the database until it takes writes again.
func (s *Store) probe(ctx context.Context) {
	for pause := firstProbe; ; pause = min(2*pause, lastProbe) {
		timer := time.NewTimer(pause/2 + jitter(pause/2))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		trying, cancel := context.WithTimeout(ctx, pingTimeout)
		// It writes: a standby or a full disk would answer a mere question.
		err := s.once(trying, s.stay)
		cancel()
		if err == nil {
			s.outages.over()
			return
		}
	}
}

// stayAlive says again and again that this opening is alive, and so notices where the database no longer answers.
func (s *Store) stayAlive(ctx context.Context) {
	ticker := time.NewTicker(stayEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			trying, cancel := context.WithTimeout(ctx, pingTimeout)
			_ = s.once(trying, s.stay)
			cancel()
		}
	}
}

// stay notes that this opening is alive.
func (s *Store) stay(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, staySQL, pgx.NamedArgs{"name": s.opening, "seconds": stayFor.Seconds()})
	return err
}

// leave ends the opening.
func (s *Store) leave(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, leaveSQL, pgx.NamedArgs{"name": s.opening})
	return err
}
