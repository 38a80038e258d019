package service

import (
	"context"
	"sync"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/tenant"
)

const (
	// smallSessionBytes is the size of a view up to which a session is remembered as light, also where an append plans: so
	// far from a large one that few appends of others, by this daemon or another one, make it that before this daemon appends
	// to it again.
	smallSessionBytes = largeSessionBytes / 2
	// maxLightSessions is how many are remembered. When there are more, all are forgotten.
	maxLightSessions = 10_000
)

// lightSessions are sessions to which an append is little work, as the last one has said. So an append to one of them need not
// read the session's row before it begins. Where it is the first that plans on a large view, or others made the view large
// meanwhile, one append waits in no pool.
type lightSessions struct {
	mu    sync.Mutex
	known map[ownedSession]struct{}
}

type ownedSession struct{ tenant, id string }

// isLight says whether appends to a session are little work.
func isLight(head *storagev1.Head, policy *compactordv1.Policy) bool {
	return head.GetViewBytes() <= smallSessionBytes || !plans(head, policy)
}

// has says whether a session is remembered as light.
func (s *lightSessions) has(ctx context.Context, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, has := s.known[ownedSession{tenant.Of(ctx), id}]
	return has
}

// note remembers whether a session is light.
func (s *lightSessions) note(ctx context.Context, id string, light bool) {
	key := ownedSession{tenant.Of(ctx), id}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !light {
		delete(s.known, key)
		return
	}
	if _, known := s.known[key]; !known && len(s.known) >= maxLightSessions {
		s.known = nil
	}
	if s.known == nil {
		s.known = make(map[ownedSession]struct{})
	}
	s.known[key] = struct{}{}
}
