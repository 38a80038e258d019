package jwt

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// pause is the least time between two readings for the sake of unknown keys: strangers can name as many as they like.
	pause = 10 * time.Second
	// maxWaiting is how many calls may wait for a reading.
	maxWaiting = 128
)

// keys are the current keys of an issuer.
type keys struct {
	source  source
	logger  *slog.Logger
	failing func(bool)
	// set is the last good one.
	set atomic.Pointer[keySet]
	// asked has a value when the source is to be read at once.
	asked chan struct{}

	mu sync.Mutex
	// pending is closed at the end of a reading that has begun or is asked for; nil where there is none.
	pending chan struct{}
	waiting int
	// askedAt is when a call last asked for a reading.
	askedAt time.Time
	ended   bool
}

func newKeys(from source, logger *slog.Logger, failing func(bool)) (*keys, error) {
	k := &keys{source: from, logger: logger, failing: failing, asked: make(chan struct{}, 1)}
	k.set.Store(&keySet{})
	text, can, err := from.atOnce()
	if !can {
		// Calls that come before the first answer wait for it.
		k.pending = make(chan struct{})
		k.lookNow()
		return k, nil
	}
	if err != nil {
		return nil, err
	}
	set, err := parseKeySet(text)
	if err != nil {
		return nil, err
	}
	k.set.Store(&set)
	return k, nil
}

func (k *keys) current() keySet { return *k.set.Load() }

// named returns the keys of an id. Where there is none, it has the source read once more, unless that was done shortly before.
func (k *keys) named(ctx context.Context, id string) []*publicKey {
	if found := k.current()[id]; len(found) > 0 {
		return found
	}
	read := k.wait()
	if read == nil {
		return nil
	}
	select {
	case <-read:
	case <-ctx.Done():
	}
	k.mu.Lock()
	k.waiting--
	k.mu.Unlock()
	return k.current()[id]
}

// wait returns what is closed after the next reading, and counts who waits; nil where a call must not wait.
func (k *keys) wait() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ended || k.waiting >= maxWaiting {
		return nil
	}
	if k.pending == nil {
		if now := time.Now(); k.askedAt.IsZero() || now.Sub(k.askedAt) >= pause {
			k.askedAt = now
		} else {
			return nil
		}
		k.pending = make(chan struct{})
		k.lookNow()
	}
	k.waiting++
	return k.pending
}

func (k *keys) lookNow() {
	select {
	case k.asked <- struct{}{}:
	default:
	}
}

// run reads the source when it is time, or asked for, until the context ends.
func (k *keys) run(ctx context.Context) {
	defer k.release(true)
	timer := time.NewTimer(k.source.wait(false))
	defer timer.Stop()
	failed := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.asked:
			failed = !k.read(ctx)
		case <-timer.C:
			if k.source.due() {
				failed = !k.read(ctx)
			}
		}
		timer.Reset(k.source.wait(failed))
	}
}

// release lets the calls go on that wait for a reading.
func (k *keys) release(ended bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = k.ended || ended
	if k.pending != nil {
		close(k.pending)
		k.pending = nil
	}
}

// read reads the source. Where that fails, the keys stay as they were.
func (k *keys) read(ctx context.Context) bool {
	defer k.release(false)
	text, err := k.source.read(ctx)
	var next keySet
	if err == nil {
		next, err = parseKeySet(text)
	}
	if err != nil {
		if ctx.Err() == nil {
			k.failing(true)
			k.logger.ErrorContext(ctx, "the keys of JWTs were not read; those before apply", "keys", k.source.name(), "error", err)
		}
		return false
	}
	k.failing(false)
	if !next.same(k.current()) {
		k.set.Store(&next)
		k.logger.InfoContext(ctx, "other keys of JWTs were read", "keys", k.source.name(), "ids", len(next))
	}
	return true
}
