package serve

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/compactord/compactord/storage"
	boltstore "github.com/compactord/compactord/storage/bolt"
)

// rotationReport is how often the progress of a rotation is logged.
const rotationReport = 30 * time.Second

// rotationRetry is how long a rotation waits after an error, such as that of a full disk.
const rotationRetry = time.Minute

// rotateKeys seals anew what older keys of the store have sealed. The daemon serves meanwhile.
func rotateKeys(ctx context.Context, logger *slog.Logger, store *boltstore.Store) {
	older, err := store.OlderKeys(ctx)
	if err == nil && len(older) == 0 {
		return
	}
	_, inUse, sizeErr := store.Size(ctx)
	if err = errors.Join(err, sizeErr); err != nil {
		// What follows says whether that matters.
		logger.WarnContext(ctx, "cannot tell how much older keys of the store have sealed", "error", err)
	}
	logger.InfoContext(ctx, "sealing anew what older keys of the store have sealed", "older_keys", older, "bytes", inUse)
	for ctx.Err() == nil {
		reported := time.Now()
		done, err := store.Rotate(ctx, func(now boltstore.Rotated) {
			if time.Since(reported) >= rotationReport {
				reported = time.Now()
				logger.InfoContext(ctx, "sealing anew", "values", now.Values, "bytes_read", now.Read, "bytes", inUse)
			}
		})
		switch {
		case err == nil:
			logger.InfoContext(ctx, "the store needs its older keys no longer; backups do", "older_keys", done.Done, "values", done.Values)
			return
		case ctx.Err() != nil, errors.Is(err, storage.ErrClosed), errors.Is(err, storage.ErrLost):
			return
		}
		logger.ErrorContext(ctx, "values stay sealed with older keys of the store", "error", err)
		if errors.Is(err, storage.ErrCorrupt) {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(rotationRetry):
		}
	}
}
