package sessionlog

import (
	"context"
	"sync"
)

// locks are the session locks: they let one writer at a time into a session. The store would refuse the other writers
// anyway; the locks save them the repeated tries.
type locks struct {
	mu     sync.Mutex
	byName map[Name]*lock
}

type lock struct {
	free    chan struct{}
	waiting int
}

// lock waits for a session's lock. It returns a function that unlocks, or the cause of the context's end.
func (l *locks) lock(ctx context.Context, name Name) (unlock func(), err error) {
	mine := l.join(name)
	select {
	case <-mine.free:
		return func() {
			mine.free <- struct{}{}
			l.leave(name, mine)
		}, nil
	case <-ctx.Done():
		l.leave(name, mine)
		return nil, context.Cause(ctx)
	}
}

func (l *locks) join(name Name) *lock {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byName == nil {
		l.byName = make(map[Name]*lock)
	}
	mine := l.byName[name]
	if mine == nil {
		mine = &lock{free: make(chan struct{}, 1)}
		mine.free <- struct{}{}
		l.byName[name] = mine
	}
	mine.waiting++
	return mine
}

func (l *locks) leave(name Name, mine *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	mine.waiting--
	if mine.waiting == 0 {
		delete(l.byName, name)
	}
}
