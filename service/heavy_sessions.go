package service

import (
	"context"
	"sync"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/tenant"
)

// maxKnownSessions is of how many sessions it is remembered whether they are heavy. When there are more, all are forgotten.
const maxKnownSessions = 10_000

// heavySessions remembers of which sessions the last append by this daemon has said that the next one is much work, and of which
// that it is little. So an append need not read the session's row before it begins. Where a session has become heavy by something
// else, such as appends by another daemon, one append waits in no pool; where it has become light, one waits in vain.
type heavySessions struct {
	mu    sync.Mutex
	known map[ownedSession]bool
}

type ownedSession struct{ tenant, id string }

// isHeavy says whether an append to a session is much work: it plans on a large view.
func isHeavy(head *storagev1.Head, policy *compactordv1.Policy) bool {
	return head.GetViewBytes() >= largeSessionBytes && plans(head, policy)
}

// has says whether a session is heavy, if that is known.
func (s *heavySessions) has(ctx context.Context, id string) (heavy, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	heavy, known = s.known[ownedSession{tenant.Of(ctx), id}]
	return heavy, known
}

// note remembers whether a session is heavy.
func (s *heavySessions) note(ctx context.Context, id string, heavy bool) {
	key := ownedSession{tenant.Of(ctx), id}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.known[key]; !known && len(s.known) >= maxKnownSessions {
		s.known = nil
	}
	if s.known == nil {
		s.known = make(map[ownedSession]bool)
	}
	s.known[key] = heavy
}
