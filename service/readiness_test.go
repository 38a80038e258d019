package service_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/test/bufconn"

	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

// roomy is a store whose reads and whose free space a test sets.
type roomy struct {
	fallible
	free    int64
	freeErr error
	reads   atomic.Int64
	read    func(context.Context) error
}

func (r *roomy) FreeSpace() (int64, error) { return r.free, r.freeErr }

func (r *roomy) Abandoned(ctx context.Context) ([]storage.Ref, error) {
	r.reads.Add(1)
	if r.read != nil {
		return nil, r.read(ctx)
	}
	return nil, nil
}

func newRoomy() *roomy {
	return &roomy{fallible: fallible{failing: failing{Store: memory.New()}}, free: 1 << 40}
}

// problems returns the names of the checks that fail, with what they say.
func problems(checks []service.Check) map[string]string {
	failed := map[string]string{}
	for _, c := range checks {
		if !c.OK {
			failed[c.Name] = c.Detail
		}
	}
	return failed
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	store := newRoomy()
	server, err := service.NewServer(optionsOf(t, withStore(store)))
	require.NoError(t, err)
	require.Contains(t, problems(server.Readiness(t.Context())), service.CheckServing, "it does not run yet")
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	listener := bufconn.Listen(1 << 10)
	accepts := &accepting{Listener: listener, began: make(chan struct{})}
	go func() { done <- server.Run(ctx, accepts) }()
	<-accepts.began
	var names []string
	for _, c := range server.Readiness(t.Context()) {
		names = append(names, c.Name)
	}
	require.Equal(t, []string{service.CheckServing, service.CheckReads, service.CheckWrites, service.CheckDisk}, names)
	for name, test := range map[string]struct {
		change, restore func()
		check, says     string
	}{
		"outage": {
			func() { store.told(storage.Outage{Err: storage.NewDiskError(syscall.EROFS), Since: time.Now()}) },
			func() { store.told(storage.Outage{Since: time.Now()}) },
			service.CheckWrites, "the store refuses writes: read_only",
		},
		"broken disk": {
			func() {
				store.read = func(context.Context) error { return storage.NewDiskError(fmt.Errorf("read /secret: %w", syscall.EIO)) }
			},
			func() { store.read = nil },
			service.CheckReads, "the disk failed: io",
		},
		"damage": {
			func() {
				store.read = func(context.Context) error { return fmt.Errorf("secret: %w", storage.ErrCorrupt) }
			},
			func() { store.read = nil },
			service.CheckReads, "the store is damaged",
		},
		"other": {
			func() { store.read = func(context.Context) error { return fmt.Errorf("secret") } },
			func() { store.read = nil },
			service.CheckReads, "the store cannot be read",
		},
		"small": {func() { store.free = 32<<20 - 1 }, func() { store.free = 32 << 20 }, service.CheckDisk, "31 MiB are free"},
		"unknown": {
			func() { store.freeErr = syscall.EIO }, func() { store.freeErr = nil },
			service.CheckDisk, "cannot ask how much is free",
		},
	} {
		require.Empty(t, problems(server.Readiness(t.Context())), name)
		test.change()
		require.Equal(t, map[string]string{test.check: test.says}, problems(server.Readiness(t.Context())), name)
		test.restore()
	}
	stop()
	require.NoError(t, <-done)
	require.Contains(t, problems(server.Readiness(t.Context())), service.CheckServing, "it has stopped")
}

// accepting says when the first connection is waited for.
type accepting struct {
	*bufconn.Listener
	began chan struct{}
	once  atomic.Bool
}

func (a *accepting) Accept() (net.Conn, error) {
	if a.once.CompareAndSwap(false, true) {
		close(a.began)
	}
	return a.Listener.Accept()
}

// A read that hangs is reported in time, and no further ones are begun beside it.
func TestReadinessOfAStoreThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, release := newRoomy(), make(chan struct{})
		store.read = func(context.Context) error {
			<-release
			return nil
		}
		server, err := service.NewServer(optionsOf(t, withStore(store)))
		require.NoError(t, err)
		for range 3 {
			began := time.Now()
			require.Equal(t, "a read has not come back in time", problems(server.Readiness(t.Context()))[service.CheckReads])
			require.Equal(t, 2*time.Second, time.Since(began))
		}
		require.EqualValues(t, 1, store.reads.Load())
		close(release)
		synctest.Wait()
		require.NotContains(t, problems(server.Readiness(t.Context())), service.CheckReads)
		require.EqualValues(t, 2, store.reads.Load())
	})
}
