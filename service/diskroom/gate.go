// Package diskroom stops writes before the disk under the store is full. Whoever finds a full disk can hardly repair
// anything: other programs fail too, and a store that has no room to write cannot even be made smaller.
package diskroom

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/compactord/compactord/storage"
)

const (
	// every is the time between two looks at the disk.
	every = time.Second
	// pageShare is what a write takes beside its contents at the most, in pages that are written anew.
	pageShare = 64 << 10
	// contentShare is how often the contents count: a store keeps them in pages that are not full.
	contentShare = 2
	// spareShare is the part of the limit that must be free beyond it before writes go on, so that they do not stop again
	// at once.
	spareShare = 8
)

// Disk says how much room there is.
type Disk interface {
	// FreeSpace returns the bytes that are free for this process. The error is errors.ErrUnsupported where the system does
	// not say it.
	FreeSpace() (int64, error)
}

// Gate refuses writes while less than a limit is free. It asks the disk once a second, and counts between two looks what
// was written since. A nil *Gate refuses nothing.
type Gate struct {
	disk Disk
	// inside returns the bytes that the store can use again without growing.
	inside func() int64
	told   func(storage.Outage)

	limit atomic.Int64
	// begun and ended are the bytes of all writes that were let in, and of those among them that have ended.
	begun, ended atomic.Int64
	seen         atomic.Pointer[look]
	low          atomic.Bool
	// again has a signal where the next look should not wait.
	again chan struct{}

	mu    sync.Mutex
	since time.Time
}

// look is what a look at the disk has found.
type look struct {
	// free is what can be written; known is false where the system does not say it.
	free  int64
	known bool
	// ended is what had ended before it. All later writes may not be in free.
	ended int64
}

// LowError says how much is free, and how much must be.
type LowError struct{ Free, Limit int64 }

func (e *LowError) Error() string {
	return fmt.Sprintf("%d bytes are free, and writes stop below %d", e.Free, e.Limit)
}

// New returns a gate with a limit in bytes; 0 is none. inside returns the bytes of the store's file that are free for new
// data; it may be nil. told is called when writes begin to be refused, and when they are let in again. It must not wait.
func New(disk Disk, limit int64, inside func() int64, told func(storage.Outage)) *Gate {
	if inside == nil {
		inside = func() int64 { return 0 }
	}
	g := &Gate{disk: disk, inside: inside, told: told, again: make(chan struct{}, 1)}
	g.limit.Store(limit)
	g.Look()
	return g
}

// SetLimit replaces the limit, and looks at the disk.
func (g *Gate) SetLimit(bytes int64) {
	if g == nil || g.limit.Swap(bytes) == bytes {
		return
	}
	g.Look()
}

// Limit returns the limit; 0 for none.
func (g *Gate) Limit() int64 {
	if g == nil {
		return 0
	}
	return g.limit.Load()
}

// Run looks at the disk until the context ends.
func (g *Gate) Run(ctx context.Context) {
	if g == nil {
		return
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-g.again:
		}
		g.Look()
	}
}

// Look asks the disk now.
func (g *Gate) Look() {
	g.mu.Lock()
	defer g.mu.Unlock()
	limit := g.limit.Load()
	now := &look{ended: g.ended.Load()}
	if limit > 0 {
		free, err := g.disk.FreeSpace()
		if err != nil && !errors.Is(err, errors.ErrUnsupported) && g.seen.Load() != nil {
			// What the last look has found holds, less what is written.
			return
		}
		now.free, now.known = max(free, g.inside()), err == nil
	}
	g.seen.Store(now)
	switch isLow := now.known && now.free < limit; {
	case isLow:
		g.begins(now.free, limit)
	case !isLow && (!now.known || now.free >= limit+limit/spareShare) && g.low.Swap(false):
		g.told(storage.Outage{Since: g.since})
	}
}

// noteLow notes that a write was refused for which a look has found too little room: writes of its size would be refused for
// ever, and nobody would be told.
func (g *Gate) noteLow(found *look) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.seen.Load() == found {
		g.begins(found.free, g.limit.Load())
	}
}

// begins tells that writes stop, where they have not yet.
func (g *Gate) begins(free, limit int64) {
	if !g.low.Swap(true) {
		g.since = time.Now()
		g.told(storage.Outage{Err: lowError(free, limit), Since: g.since})
	}
}

func lowError(free, limit int64) error {
	return &storage.DiskError{Cause: storage.DiskLow, Err: &LowError{Free: free, Limit: limit}}
}

// Begin lets a write to a store in that has so many bytes of contents, or refuses it. done must be called once it has ended. It
// asks the system nothing.
func (g *Gate) Begin(bytes int) (done func(), err error) {
	return g.begin(contentShare*int64(bytes) + pageShare)
}

// BeginLine is Begin for bytes that are added to a file as they are.
func (g *Gate) BeginLine(bytes int) (done func(), err error) { return g.begin(int64(bytes)) }

func (g *Gate) begin(takes int64) (done func(), err error) {
	if g == nil || g.limit.Load() == 0 {
		return func() {}, nil
	}
	begun := g.begun.Add(takes)
	limit, seen := g.limit.Load(), g.seen.Load()
	if seen.known {
		left := seen.free - (begun - seen.ended)
		if g.low.Load() || left < limit {
			g.begun.Add(-takes)
			switch {
			case g.low.Load():
			case begun-takes == seen.ended:
				// The write alone does not fit.
				g.noteLow(seen)
			default:
				// Much was written since the last look, or it took less than expected.
				select {
				case g.again <- struct{}{}:
				default:
				}
			}
			return nil, lowError(max(0, left), limit)
		}
	}
	return func() { g.ended.Add(takes) }, nil
}
