// Package inorder takes steps in a goroutine of its own, one after the other, while the caller does other work.
package inorder

import "context"

// Steps takes steps in the order in which they are handed over, so their result is that of one goroutine. Only one
// goroutine hands them over, and its owner must call End.
type Steps struct {
	// handed are steps that were not sent yet. They are sent together: to wake a goroutine for each takes longer than most
	// steps do.
	handed []func()
	sent   chan []func()
	ended  chan struct{}
}

// together is how many steps are sent together, and ahead how often the caller can send some before it waits.
const (
	together = 16
	ahead    = 4
)

// Begin starts the goroutine. Once the context ends, no more steps are taken.
func Begin(ctx context.Context) *Steps {
	s := &Steps{sent: make(chan []func(), ahead), ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		for steps := range s.sent {
			for _, step := range steps {
				if ctx.Err() == nil {
					step()
				}
			}
		}
	}()
	return s
}

// Hand hands over the next step. A step must not panic. If one ends the goroutine, no more steps are taken.
func (s *Steps) Hand(step func()) {
	if s.handed = append(s.handed, step); len(s.handed) == together {
		s.send()
	}
}

func (s *Steps) send() {
	select {
	case s.sent <- s.handed:
	case <-s.ended:
	}
	s.handed = make([]func(), 0, together)
}

// Wait waits until all steps were taken that were handed over so far, or until ctx ends, which is that of Begin.
func (s *Steps) Wait(ctx context.Context) {
	taken := make(chan struct{})
	s.handed = append(s.handed, func() { close(taken) })
	s.send()
	select {
	case <-taken:
	case <-s.ended:
	case <-ctx.Done():
	}
}

// End waits until all steps were taken. What they changed then belongs to the caller.
func (s *Steps) End() {
	s.send()
	close(s.sent)
	<-s.ended
}
