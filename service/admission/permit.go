package admission

import (
	"context"
	"sync"
	"time"
)

// Permit is the room that a call has in a pool. The zero Permit has none.
type Permit struct {
	pool   *Pool
	weight int

	mu   sync.Mutex
	held bool
	left bool
	// since is when the work got the room that it has, and worked how long it had room before. small is the pool's count
	// when it entered.
	since  time.Time
	worked time.Duration
	small  int64
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

// begin notes that the work has entered its pool.
func (p *Permit) begin() {
	p.take()
	if p.pool.rest > 0 {
		p.small = p.pool.small.Load()
	}
}

// take notes that the work has room.
func (p *Permit) take() { p.held, p.since = true, p.pool.now() }

// Leave ends the work, which keeps its room while it rests. Further calls do nothing.
func (p *Permit) Leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = true
	if !p.held {
		return
	}
	if rest := p.rest(); rest > 0 {
		time.AfterFunc(rest, p.endRest)
		return
	}
	p.giveBack()
}

// rest returns how long the work rests at its end.
func (p *Permit) rest() time.Duration {
	if p.pool.rest == 0 || p.pool.small.Load() == p.small {
		return 0
	}
	worked := p.worked + p.pool.now().Sub(p.since)
	return min(time.Duration(p.pool.rest*float64(worked)), longestRest)
}

func (p *Permit) endRest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.giveBack()
}

// giveBack gives the room back, if the work has it.
func (p *Permit) giveBack() {
	if p.held {
		p.held = false
		p.worked += p.pool.now().Sub(p.since)
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
	p.take()
	if p.away > 0 || p.left {
		p.giveBack()
	}
}
