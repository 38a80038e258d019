package admission

import (
	"context"
	"sync"
)

// Permit is the room that a call has in a pool. The zero Permit has none.
type Permit struct {
	pool   *Pool
	weight int

	mu   sync.Mutex
	held bool
	left bool
	// away is how many goroutines of the work wait for others outside of the pool.
	away int
	// returning is closed when the work that was away has returned or given up; nil while it does not try to.
	returning chan struct{}
}

type permitKey struct{}

func permitOf(ctx context.Context) *Permit {
	p, _ := ctx.Value(permitKey{}).(*Permit)
	return p
}

// Leave ends the work. Further calls do nothing.
func (p *Permit) Leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = true
	p.giveBack()
}

// giveBack gives the room back, if the work has it.
func (p *Permit) giveBack() {
	if p.held {
		p.held = false
		p.pool.leave(p.weight)
	}
}

// Away calls wait, which waits for others such as a model and does little itself. Meanwhile the work of the context has
// no room in its pool. Afterwards it waits for room again, before those that have not been in the pool yet. Where the
// context ends first, the work goes on without room, to its end.
func Away(ctx context.Context, wait func()) {
	p := permitOf(ctx)
	if p == nil {
		wait()
		return
	}
	p.mu.Lock()
	p.away++
	p.giveBack()
	p.mu.Unlock()
	defer p.comeBack(ctx)
	wait()
}

// comeBack enters the pool again, when the last goroutine of the work comes back.
func (p *Permit) comeBack(ctx context.Context) {
	p.mu.Lock()
	p.away--
	if p.away > 0 || p.held || p.left {
		p.mu.Unlock()
		return
	}
	if others := p.returning; others != nil {
		p.mu.Unlock()
		<-others
		return
	}
	done := make(chan struct{})
	p.returning = done
	p.mu.Unlock()

	at, err := p.pool.join(p.weight, true)
	if err == nil {
		err = p.pool.await(ctx, at)
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	p.returning = nil
	close(done)
	if err != nil {
		return
	}
	p.held = true
	if p.away > 0 || p.left {
		p.giveBack()
	}
}
