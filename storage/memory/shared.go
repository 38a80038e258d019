package memory

import (
	"context"

	"github.com/compactord/compactord/storage"
)

// Shared is a Store that several services of one process use, as daemons use one database.
type Shared struct{ *Store }

var _ storage.Shared = Shared{}

// NewShared returns an empty store.
func NewShared() Shared { return Shared{New()} }

// Ended implements storage.Shared. All services of the process use the one opening.
func (s Shared) Ended(ctx context.Context, openings []string) (map[string]bool, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	ended := map[string]bool{}
	for _, opening := range openings {
		if opening != s.opening {
			ended[opening] = true
		}
	}
	return ended, nil
}

// Revisions implements storage.Shared.
func (s Shared) Revisions(ctx context.Context, refs []storage.Ref) ([]uint32, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	revisions := make([]uint32, len(refs))
	for i, ref := range refs {
		if found, err := s.incarnation(ref); err == nil {
			revisions[i] = found.row.GetRevision()
		}
	}
	return revisions, nil
}
