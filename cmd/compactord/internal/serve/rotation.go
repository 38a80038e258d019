package serve

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/compactord/compactord/storage"
	boltstore "github.com/compactord/compactord/storage/bolt"
	"github.com/compactord/compactord/storage/keyring"
)

// rotationReport is how often the progress of a rotation is logged.
const rotationReport = 30 * time.Second

// rotationRetry is how long a rotation waits after an error, such as that of a full disk.
const rotationRetry = time.Minute

// rotation seals anew, while the daemon serves, what older keys of the store have sealed.
type rotation struct {
	// store is nil where it is a database, which has no keys.
	store  *boltstore.Store
	logger *slog.Logger
	// admit lets a write in for which there is room on the disk.
	admit func(bytes int) (done func(), err error)
	// keys are those that were given last; nil for a plain store.
	keys *keyring.Ring
	// again has a signal where other keys were given.
	again chan struct{}
	// waiting says that it is logged already that there is no room.
	waiting bool
}

func newRotation(store *boltstore.Store, keys *keyring.Ring, admit func(bytes int) (done func(), err error), logger *slog.Logger) *rotation {
	return &rotation{store: store, logger: logger, admit: admit, keys: keys, again: make(chan struct{}, 1)}
}

// use makes the store take other keys, and reports whether they are other ones. With an error, those before stay.
func (r *rotation) use(ctx context.Context, keys *keyring.Ring) (changed bool, err error) {
	if keys.Same(r.keys) {
		return false, nil
	}
	if err := r.store.UseKeys(ctx, keys); err != nil {
		return false, err
	}
	r.keys = keys
	select {
	case r.again <- struct{}{}:
	default:
		// The rotation has not looked at the signal before yet.
	}
	return true, nil
}

// run rotates at the start, and whenever other keys were given, until the context ends.
func (r *rotation) run(ctx context.Context) error {
	if r.store == nil {
		return nil
	}
	for {
		again, err := r.rotate(ctx)
		if errors.Is(err, storage.ErrClosed) || errors.Is(err, storage.ErrLost) {
			// The daemon ends.
			return nil
		}
		var retry <-chan time.Time
		if again {
			retry = time.After(rotationRetry)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-retry:
		case <-r.again:
		}
	}
}

// rotate seals anew what older keys have sealed. It reports whether it should be tried again later.
func (r *rotation) rotate(ctx context.Context) (again bool, err error) {
	older, err := r.store.OlderKeys(ctx)
	if err == nil && len(older) == 0 {
		return false, nil
	}
	_, inUse, sizeErr := r.store.Size(ctx)
	if err = errors.Join(err, sizeErr); err != nil {
		// What follows says whether that matters.
		r.logger.WarnContext(ctx, "cannot tell how much older keys of the store have sealed", "error", err)
	}
	if !r.waiting {
		r.logger.InfoContext(ctx, "sealing anew what older keys of the store have sealed", "older_keys", older, "bytes", inUse)
	}
	reported := time.Now()
	done, err := r.store.Rotate(ctx, boltstore.RotateOptions{Admit: r.admit, Progress: func(now boltstore.Rotated) {
		if time.Since(reported) >= rotationReport {
			reported = time.Now()
			r.logger.InfoContext(ctx, "sealing anew", "values", now.Values, "bytes_read", now.Read, "bytes", inUse)
		}
	}})
	switch {
	case err == nil:
		r.waiting = false
		r.logger.InfoContext(ctx, "the store needs its older keys no longer; backups do", "older_keys", done.Done, "values", done.Values)
		return false, nil
	case ctx.Err() != nil:
		return false, err
	case errors.Is(err, storage.ErrFull):
		if !r.waiting {
			r.logger.WarnContext(ctx, "sealing anew waits for room on the disk; older keys of the store are needed until then", "error", err)
		}
		r.waiting = true
		return true, err
	}
	r.logger.ErrorContext(ctx, "values stay sealed with older keys of the store", "error", err)
	return !errors.Is(err, storage.ErrCorrupt), err
}
