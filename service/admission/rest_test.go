package admission_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/service/admission"
)

// restOf returns how long the next work of a pool waits after one that took a second.
func restOf(
	t *testing.T, cores int, of func(p *admission.Pools) *admission.Pool, work func(ctx context.Context, p *admission.Pools),
) time.Duration {
	t.Helper()
	var waited time.Duration
	synctest.Test(t, func(t *testing.T) {
		pools, err := admission.New(admission.Options{Cores: cores})
		require.NoError(t, err)
		pool := of(pools)
		ctx, permit, err := pool.Enter(t.Context(), admission.WholeCore, nil)
		require.NoError(t, err)
		for range cores - 2 {
			_, others, err := pool.Enter(t.Context(), admission.WholeCore, nil)
			require.NoError(t, err)
			defer others.Leave()
		}
		<-time.After(time.Second)
		work(ctx, pools)
		permit.Leave()
		permit.Leave()
		left := time.Now()
		_, next, err := pool.Enter(t.Context(), admission.WholeCore, nil)
		require.NoError(t, err)
		waited = time.Since(left)
		next.Leave()
	})
	return waited
}

// Compactions, imports and views rest where small calls came meanwhile: compactions and views so long that about one more
// core is free.
func TestWorkRestsWhereSmallCallsCome(t *testing.T) {
	compactions := func(p *admission.Pools) *admission.Pool { return p.Compactions }
	imports := func(p *admission.Pools) *admission.Pool { return p.Imports }
	views := func(p *admission.Pools) *admission.Pool { return p.Views }
	searches := func(p *admission.Pools) *admission.Pool { return p.Searches }
	pass := func(_ context.Context, p *admission.Pools) { p.Pass() }
	for name, c := range map[string]struct {
		cores int
		of    func(p *admission.Pools) *admission.Pool
		work  func(ctx context.Context, p *admission.Pools)
		rests time.Duration
	}{
		"a compaction":               {2, compactions, pass, time.Second},
		"a compaction with two more": {4, compactions, pass, time.Second / 3},
		"an import":                  {2, imports, pass, 2 * time.Second},
		"a view":                     {2, views, pass, time.Second},
		"a view with two more":       {4, views, pass, time.Second / 3},
		"a search":                   {2, searches, pass, 0},
		"nothing came":               {2, compactions, func(context.Context, *admission.Pools) {}, 0},
		"a compaction that waited for a model": {2, compactions, func(ctx context.Context, p *admission.Pools) {
			p.Pass()
			admission.Away(ctx, func() { <-time.After(time.Minute) })
		}, time.Second},
		"much work": {2, compactions, func(_ context.Context, p *admission.Pools) {
			<-time.After(time.Hour)
			p.Pass()
		}, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			assert.InDelta(t, c.rests, restOf(t, c.cores, c.of, c.work), float64(time.Microsecond))
		})
	}
}

// What came before the work, or after its end, lets nothing rest.
func TestSmallCallsOfOtherTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pools, err := admission.New(admission.Options{Cores: 2})
		require.NoError(t, err)
		pools.Pass()
		for range 3 {
			_, permit, err := pools.Compactions.Enter(t.Context(), admission.WholeCore, func() { t.Error("waited") })
			require.NoError(t, err)
			<-time.After(time.Second)
			permit.Leave()
			pools.Pass()
		}
	})
}
