package service

import (
	"context"
	"sync"
)

// lanes lets one writer of a session go at a time. The store would refuse the others; this saves them the tries.
type lanes struct {
	mu     sync.Mutex
	byName map[string]*lane
}

// nameOf is what lanes and watchers know a session by, whatever life it is in.
func nameOf(ctx context.Context, sessionID string) string { return tenant(ctx) + "\x00" + sessionID }

type lane struct {
	free    chan struct{}
	waiting int
}

// enter waits for the lane and returns how to leave it, or the cause of the context's end.
func (l *lanes) enter(ctx context.Context, name string) (leave func(), err error) {
	l.mu.Lock()
	if l.byName == nil {
		l.byName = make(map[string]*lane)
	}
	mine := l.byName[name]
	if mine == nil {
		mine = &lane{free: make(chan struct{}, 1)}
		mine.free <- struct{}{}
		l.byName[name] = mine
	}
	mine.waiting++
	l.mu.Unlock()

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

func (l *lanes) leave(name string, mine *lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	mine.waiting--
	if mine.waiting == 0 {
		delete(l.byName, name)
	}
}
