package service

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/compactord/compactord/storage"
)

// The names of the checks of readiness.
const (
	// CheckServing says whether calls are taken: not before Run, and not while the server stops.
	CheckServing = "serving"
	// CheckReads says whether the store can be read.
	CheckReads = "store_reads"
	// CheckWrites says whether the store takes writes.
	CheckWrites = "store_writes"
	// CheckDisk says whether the disk of the store has room. A store that has none has no such check.
	CheckDisk = "disk"
)

const (
	// readTimeout is how long the store may take for a read before it counts as one that cannot be read.
	readTimeout = 2 * time.Second
	// leastFreeBytes is the room for two steps by which the file of a store grows.
	leastFreeBytes = 32 << 20
)

// Check is the state of one thing that the server needs to be ready.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Detail says more, in words for operators. It has nothing of a conversation and names no session.
	Detail string `json:"detail,omitempty"`
}

// readiness checks the store.
type readiness struct {
	store storage.Store
	// serving is true from the beginning of Run until the server stops.
	serving atomic.Bool

	mu sync.Mutex
	// current is the read that has not come back; nil where there is none. There is at most one: a disk that hangs must not
	// collect goroutines.
	current *readCheck
}

// readCheck is a read of the store.
type readCheck struct {
	// done is closed when it has come back, with err.
	done chan struct{}
	err  error
}

// Readiness returns the state of what the server needs to be ready, always with the same names in the same order. It takes
// at most two seconds.
func (s *Server) Readiness(ctx context.Context) []Check {
	checks := []Check{s.checkServing(ctx), s.readiness.checkReads(ctx), s.checkWrites()}
	if spacer, ok := s.readiness.store.(storage.Spacer); ok {
		checks = append(checks, checkDisk(spacer, s.service.room.Limit()))
	}
	return checks
}

func (s *Server) checkServing(ctx context.Context) Check {
	status, err := s.health.Check(ctx, &healthv1.HealthCheckRequest{})
	switch {
	case !s.readiness.serving.Load():
		return Check{CheckServing, false, "it does not serve yet, or it is stopping"}
	case err != nil || status.GetStatus() != healthv1.HealthCheckResponse_SERVING:
		return Check{CheckServing, false, "the store is lost, or its database does not answer"}
	default:
		return Check{Name: CheckServing, OK: true}
	}
}

func (s *Server) checkWrites() Check {
	if s.outages.failing.Load() == 0 {
		return Check{Name: CheckWrites, OK: true}
	}
	cause, _ := s.outages.cause.Load().(string)
	return Check{CheckWrites, false, "the store refuses writes: " + cause}
}

// checkReads reads what is small in every store. Checks at the same time share a read.
func (r *readiness) checkReads(ctx context.Context) Check {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	read := r.read(context.WithoutCancel(ctx))
	select {
	case <-read.done:
		problem := readProblem(read.err)
		return Check{CheckReads, problem == "", problem}
	case <-ctx.Done():
		return Check{CheckReads, false, "a read has not come back in time"}
	}
}

// read returns the read that runs, or begins one. It ends when the store answers.
func (r *readiness) read(ctx context.Context) *readCheck {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current != nil {
		return r.current
	}
	read := &readCheck{done: make(chan struct{})}
	r.current = read
	go func() {
		_, read.err = r.store.Abandoned(ctx)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.current = nil
		close(read.done)
	}()
	return read
}

// readProblem says what is wrong without what an error may quote.
func readProblem(err error) string {
	var disk *storage.DiskError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &disk) && disk.Cause == storage.DiskUnreachable:
		return "the database does not answer"
	case errors.As(err, &disk):
		return "the disk failed: " + string(disk.Cause)
	case errors.Is(err, storage.ErrCorrupt):
		return "the store is damaged"
	case errors.Is(err, storage.ErrClosed):
		return "the store is closed"
	default:
		return "the store cannot be read"
	}
}

func checkDisk(store storage.Spacer, limit int64) Check {
	free, err := store.FreeSpace()
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return Check{CheckDisk, true, "the system does not say how much is free"}
	case err != nil:
		return Check{CheckDisk, false, "cannot ask how much is free"}
	case limit > 0:
		return Check{CheckDisk, free >= leastFreeBytes, fmt.Sprintf("%d MiB are free; writes stop below %d MiB", free>>20, limit>>20)}
	default:
		return Check{CheckDisk, free >= leastFreeBytes, fmt.Sprintf("%d MiB are free", free>>20)}
	}
}
