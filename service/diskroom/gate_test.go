package diskroom_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/service/diskroom"
	"github.com/compactord/compactord/storage"
)

const (
	mib   = 1 << 20
	limit = 100 * mib
)

// disk is a disk whose free space a test sets.
type disk struct {
	free  atomic.Int64
	asked atomic.Int64
	err   error
}

func (d *disk) FreeSpace() (int64, error) {
	d.asked.Add(1)
	return d.free.Load(), d.err
}

// told are the outages that a gate has told of.
type told struct{ all []storage.Outage }

func (t *told) add(now storage.Outage) { t.all = append(t.all, now) }

func refused(t *testing.T, g *diskroom.Gate, bytes int) diskroom.LowError {
	t.Helper()
	_, err := g.Begin(bytes)
	require.ErrorIs(t, err, storage.ErrFull)
	var low *diskroom.LowError
	require.ErrorAs(t, err, &low)
	var of *storage.DiskError
	require.ErrorAs(t, err, &of)
	require.Equal(t, storage.DiskLow, of.Cause)
	return *low
}

func taken(t *testing.T, g *diskroom.Gate, bytes int) {
	t.Helper()
	done, err := g.Begin(bytes)
	require.NoError(t, err)
	done()
}

// Writes stop below the limit and go on by themselves, each said once, without a question to the system for each write.
func TestWritesStopAndGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, said := &disk{}, &told{}
		d.free.Store(limit)
		g := diskroom.New(d, limit, nil, said.add)
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { g.Run(ctx) })
		looks := func(free int64) {
			d.free.Store(free)
			<-time.After(3 * time.Second)
			synctest.Wait()
		}
		looks(10 * limit)
		before := d.asked.Load()
		for range 1000 {
			taken(t, g, 10)
		}
		require.Equal(t, before, d.asked.Load())
		require.Empty(t, said.all)

		looks(limit - 1)
		require.Equal(t, diskroom.LowError{Free: limit - 1 - 2*10 - 64<<10, Limit: limit}, refused(t, g, 10))
		require.Len(t, said.all, 1)
		require.ErrorIs(t, said.all[0].Err, storage.ErrFull)
		looks(limit + limit/8 - 1)
		refused(t, g, 10)
		require.Len(t, said.all, 1, "a little more room would be used up at once")

		looks(limit + limit/8)
		taken(t, g, 10)
		require.Len(t, said.all, 2)
		require.NoError(t, said.all[1].Err)
		end()
		running.Wait()
	})
}

// Where a write alone does not fit, the disk is low for all: else writes of its size would be refused for ever, and nobody
// be told. Beside other writes, the disk is asked first.
func TestWritesThatNeverFit(t *testing.T) {
	t.Parallel()
	d, said := &disk{}, &told{}
	d.free.Store(limit + 4*mib)
	g := diskroom.New(d, limit, nil, said.add)
	done, err := g.Begin(mib)
	require.NoError(t, err)
	refused(t, g, 2*mib)
	require.Empty(t, said.all)
	done()
	g.Look()
	refused(t, g, 2*mib)
	require.Len(t, said.all, 1)
	require.ErrorIs(t, said.all[0].Err, storage.ErrFull)
	g.Look()
	refused(t, g, 1)
	d.free.Store(2 * limit)
	g.Look()
	require.Len(t, said.all, 2)
	require.NoError(t, said.all[1].Err)
	taken(t, g, 2*mib)
}

// Between two looks, what is being written and what was written counts, and a refusal has the disk asked again.
func TestWritesBetweenLooks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, said := &disk{}, &told{}
		d.free.Store(2 * limit)
		g := diskroom.New(d, limit, nil, said.add)
		running, err := g.Begin(limit / 4)
		require.NoError(t, err)
		taken(t, g, limit/8)
		refused(t, g, limit/4)
		taken(t, g, limit/16)
		require.EqualValues(t, 1, d.asked.Load())

		ctx, end := context.WithCancel(t.Context())
		var looking sync.WaitGroup
		looking.Go(func() { g.Run(ctx) })
		synctest.Wait()
		require.EqualValues(t, 2, d.asked.Load(), "the refusal has asked at once")
		refused(t, g, limit/4)
		taken(t, g, limit/8)
		running()
		g.Look()
		taken(t, g, limit/4)
		require.Empty(t, said.all, "there was always room for a smaller write")
		end()
		looking.Wait()
	})
}

// However many write at once, no more is let in than there is room for.
func TestWritesAtOnce(t *testing.T) {
	t.Parallel()
	d, said := &disk{}, &told{}
	const each = 64<<10 + 2*mib
	d.free.Store(limit + 10*each)
	g := diskroom.New(d, limit, nil, said.add)
	var writers sync.WaitGroup
	var in atomic.Int64
	for range 100 {
		writers.Go(func() {
			if _, err := g.Begin(mib); err == nil {
				in.Add(1)
			}
		})
	}
	writers.Wait()
	require.EqualValues(t, 10, in.Load())
}

// Lines of a file count their bytes alone, so that many of them between two looks are let in.
func TestLinesBetweenLooks(t *testing.T) {
	t.Parallel()
	d, said := &disk{}, &told{}
	d.free.Store(limit + mib)
	g := diskroom.New(d, limit, nil, said.add)
	const line = 256
	for range mib / line {
		done, err := g.BeginLine(line)
		require.NoError(t, err)
		done()
	}
	_, err := g.BeginLine(line)
	require.ErrorIs(t, err, storage.ErrFull)
	require.EqualValues(t, 1, d.asked.Load())
}

// Pages that are free within the file are room, too.
func TestRoomInTheFile(t *testing.T) {
	t.Parallel()
	d, said, inside := &disk{}, &told{}, int64(0)
	g := diskroom.New(d, limit, func() int64 { return inside }, said.add)
	refused(t, g, 1)
	inside = 2 * limit
	g.Look()
	taken(t, g, 1)
}

// Another limit counts at once, and 0 is none.
func TestLimitIsReplaced(t *testing.T) {
	t.Parallel()
	d, said := &disk{}, &told{}
	d.free.Store(limit)
	g := diskroom.New(d, 0, nil, said.add)
	require.Zero(t, d.asked.Load())
	taken(t, g, 10*limit)
	g.SetLimit(2 * limit)
	refused(t, g, 1)
	require.EqualValues(t, 2*limit, g.Limit())
	g.SetLimit(limit / 2)
	taken(t, g, 1)
	g.SetLimit(2 * limit)
	g.SetLimit(0)
	taken(t, g, 10*limit)
	require.Len(t, said.all, 4)
}

// Where the system does not say how much is free, nothing is refused; and where a look fails, the one before it holds.
func TestDisksThatDoNotSay(t *testing.T) {
	t.Parallel()
	said := &told{}
	silent := diskroom.New(&disk{err: errors.ErrUnsupported}, limit, nil, said.add)
	taken(t, silent, 10*limit)
	d := &disk{}
	g := diskroom.New(d, limit, nil, said.add)
	refused(t, g, 1)
	d.err = syscall.EIO
	g.Look()
	refused(t, g, 1)
	d.err = nil
	d.free.Store(2 * limit)
	g.Look()
	taken(t, g, 1)
	require.Len(t, said.all, 2)
	var none *diskroom.Gate
	taken(t, none, limit)
}
