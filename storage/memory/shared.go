package memory

import (
	"context"
	"crypto/rand"
	"slices"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	"github.com/compactord/compactord/storage"
)

// Shared is one opening of a Store that several services of one process use, as daemons use one database.
type Shared struct {
	*Store

	opening string
	// alive has the openings that are not over. The lock of the store guards it.
	alive map[string]bool
}

var _ storage.Shared = (*Shared)(nil)

// NewShared returns an opening of an empty store.
func NewShared() *Shared {
	name := rand.Text()
	return &Shared{Store: New(), opening: name, alive: map[string]bool{name: true}}
}

// Open returns another opening of the store. Close closes the store for all of them.
func (s *Shared) Open() *Shared {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := rand.Text()
	s.alive[name] = true
	return &Shared{Store: s.Store, opening: name, alive: s.alive}
}

// End makes this opening one that is over, as the death of its daemon does.
func (s *Shared) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.alive, s.opening)
}

// Opening implements storage.Store.
func (s *Shared) Opening() string { return s.opening }

// Abandoned implements storage.Store.
func (s *Shared) Abandoned(ctx context.Context) ([]storage.Ref, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var refs []storage.Ref
	for _, each := range s.sessions {
		if slices.ContainsFunc(each.row.GetRunning(), func(r *storagev1.RunningCompaction) bool { return !s.alive[r.GetOpening()] }) {
			refs = append(refs, storage.RefOf(each.row))
		}
	}
	return refs, nil
}

// Ended implements storage.Shared.
func (s *Shared) Ended(ctx context.Context, openings []string) (map[string]bool, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	ended := map[string]bool{}
	for _, opening := range openings {
		if !s.alive[opening] {
			ended[opening] = true
		}
	}
	return ended, nil
}

// Revisions implements storage.Shared.
func (s *Shared) Revisions(ctx context.Context, refs []storage.Ref) ([]uint32, error) {
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
