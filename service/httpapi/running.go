package httpapi

import "sync"

// running counts the calls that run. The zero value has none.
type running struct {
	mu      sync.Mutex
	calls   int
	refused bool
	// ended is closed when there are none any more; nil where nobody waits.
	ended chan struct{}
}

// begin counts a call, unless calls are refused.
func (r *running) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused {
		return false
	}
	r.calls++
	return true
}

func (r *running) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls--
	if r.calls == 0 && r.ended != nil {
		close(r.ended)
		r.ended = nil
	}
}

// refuse lets no call begin any more.
func (r *running) refuse() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = true
}

// wait waits until no call runs, and refuses those that come later.
func (r *running) wait() {
	for {
		r.mu.Lock()
		if r.calls == 0 {
			r.refused = true
			r.mu.Unlock()
			return
		}
		if r.ended == nil {
			r.ended = make(chan struct{})
		}
		ended := r.ended
		r.mu.Unlock()
		<-ended
	}
}
