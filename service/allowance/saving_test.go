package allowance_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/allowance"
)

// slowDisk keeps what was spent once it may.
type slowDisk struct {
	kept
	begun, may chan struct{}
}

func (s *slowDisk) Save(content []byte) error {
	s.begun <- struct{}{}
	<-s.may
	return s.kept.Save(content)
}

// A slow disk holds up neither who begins a use nor who asks.
func TestSavingHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	disk := &slowDisk{begun: make(chan struct{}, 100), may: make(chan struct{})}
	a := limited(t, allowance.Amount{Requests: 100}, evening(), disk)
	ctx := as(t.Context(), "acme", access.Write)
	var ended sync.WaitGroup
	one := allowance.Amount{Requests: 1}
	end := func() {
		use, err := a.Begin(ctx, "paid", one)
		require.NoError(t, err)
		ended.Go(func() { assert.NoError(t, use.End(one)) })
	}
	end()
	<-disk.begun
	for range 20 {
		end()
	}
	_, err := a.Begin(ctx, "paid", allowance.Amount{Requests: 100})
	requireLimit(t, err, "requests")
	close(disk.may)
	ended.Wait()

	again := limited(t, allowance.Amount{Requests: 22}, evening(), &disk.kept)
	_, err = again.Begin(ctx, "paid", allowance.Amount{Requests: 2})
	requireLimit(t, err, "requests")
	_, err = again.Begin(ctx, "paid", one)
	require.NoError(t, err, "all 21 were kept, and no more")
}
