package service

import (
	"context"
	"sync"

	"github.com/compactord/compactord/service/tenant"
)

const (
	// smallSessionBytes is the size of a view up to which a session is remembered as small: so far from a large one that few
	// appends of others, by this daemon or another one, make it that before this daemon appends to it again.
	smallSessionBytes = largeSessionBytes / 2
	// maxSmallSessions is how many are remembered. When there are more, all are forgotten.
	maxSmallSessions = 10_000
)

// smallSessions are sessions to which an append is little work, as the last one has said. So an append to one of them need not
// read the session's row before it begins. Where others made it large meanwhile, one append waits in no pool.
type smallSessions struct {
	mu    sync.Mutex
	known map[ownedSession]struct{}
}

type ownedSession struct{ tenant, id string }

// has says whether a session is remembered as small.
func (s *smallSessions) has(ctx context.Context, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, has := s.known[ownedSession{tenant.Of(ctx), id}]
	return has
}

// note remembers how large the view of a session is.
func (s *smallSessions) note(ctx context.Context, id string, viewBytes uint32) {
	key := ownedSession{tenant.Of(ctx), id}
	s.mu.Lock()
	defer s.mu.Unlock()
	if viewBytes > smallSessionBytes {
		delete(s.known, key)
		return
	}
	if _, known := s.known[key]; !known && len(s.known) >= maxSmallSessions {
		s.known = nil
	}
	if s.known == nil {
		s.known = make(map[ownedSession]struct{})
	}
	s.known[key] = struct{}{}
}
