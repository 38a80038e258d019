package sessionlog

import (
	"context"
	"maps"
	"slices"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
)

// Opening returns the id of this opening of the store.
func (l *Logs) Opening() string { return l.store.Opening() }

// Ended returns which openings that a row names have ended. Where no other daemon can use the store, all but this one have.
func (l *Logs) Ended(ctx context.Context, row *storagev1.Session) (map[string]bool, error) {
	ended := map[string]bool{}
	for _, r := range row.GetRunning() {
		if r.GetOpening() != l.Opening() {
			ended[r.GetOpening()] = true
		}
	}
	if shared, is := l.store.(storage.Shared); is {
		return shared.Ended(ctx, slices.Collect(maps.Keys(ended)))
	}
	return ended, nil
}

// Abandoned returns the sessions whose rows name running compactions of an earlier opening of the store.
func (l *Logs) Abandoned(ctx context.Context) ([]storage.Ref, error) { return l.store.Abandoned(ctx) }

// Shared reports whether other daemons use the store too.
func (l *Logs) Shared() bool {
	_, ok := l.store.(storage.Shared)
	return ok
}

// Names reports whether a session's row names a running operation.
func Names(row *storagev1.Session, operation string) bool {
	return slices.ContainsFunc(row.GetRunning(), func(r *storagev1.RunningCompaction) bool {
		return r.GetOperationId() == operation
	})
}
