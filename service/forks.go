package service

import (
	"context"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/storage"
)

// A page of forks reads at most so many rows, in so many reads. No store has lists of forks: they are few, and hardly anybody
// asks for them.
const (
	maxRowsOfForks  = 5000
	maxReadsOfForks = 50
)

// forks are the sessions that were forked from another one.
type forks struct {
	logs   *sessionlog.Logs
	origin *storagev1.Session
}

// rows returns a page of the rows of forks. It is short, or empty, where it has read as much as it may.
func (f forks) rows(ctx context.Context, q storage.SessionQuery) (found []*storagev1.Session, next string, err error) {
	wanted, read := q.Limit, 0
	for range maxReadsOfForks {
		// Not more than can be forks, so that the cursor is that of the last one found.
		q.Limit = min(wanted-len(found), maxRowsOfForks-read)
		if q.Limit == 0 {
			break
		}
		page, after, err := f.logs.Rows(ctx, q)
		if err != nil {
			return nil, "", err
		}
		for _, row := range page {
			if q.Order == storage.ByCreation && row.GetCreatedAt().AsTime().Before(f.origin.GetCreatedAt().AsTime()) {
				return found, "", nil
			}
			if row.GetParent() == nil && row.GetForkedFrom().GetUid() == f.origin.GetUid() {
				found = append(found, row)
			}
		}
		if q.Cursor = after; after == "" {
			break
		}
		read += len(page)
	}
	return found, q.Cursor, nil
}
