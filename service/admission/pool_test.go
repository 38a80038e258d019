package admission_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/admission"
	"github.com/compactord/compactord/service/apierror"
)

// poolOf returns a pool for one core beside the one that stays free.
func poolOf(t require.TestingT, maxWaiting int, metrics prometheus.Registerer) *admission.Pool {
	pools, err := admission.New(admission.Options{Cores: 2, MaxWaiting: maxWaiting, Metrics: metrics})
	require.NoError(t, err)
	return pools.Compactions
}

func enter(t *testing.T, p *admission.Pool, weight int) (context.Context, *admission.Permit) {
	t.Helper()
	ctx, permit, err := p.Enter(t.Context(), weight, func() { t.Error("waited") })
	require.NoError(t, err)
	return ctx, permit
}

// Work enters in the order in which it came, whatever its weight, and only as much as fits.
func TestWorkWaitsItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := poolOf(t, 9, nil)
		_, first := enter(t, p, 3)
		entered := make(chan string, 3)
		permits := make(chan *admission.Permit, 3)
		for _, each := range []struct {
			name   string
			weight int
		}{{"large", admission.WholeCore}, {"small", 1}, {"smaller", 0}} {
			go func() {
				waited := false
				_, permit, err := p.Enter(t.Context(), each.weight, func() { waited = true })
				assert.NoError(t, err)
				assert.True(t, waited)
				permits <- permit
				entered <- each.name
			}()
			synctest.Wait()
		}
		require.Empty(t, entered, "there is room for one small one, but the large one came before")
		first.Leave()
		synctest.Wait()
		require.Len(t, entered, 1)
		require.Equal(t, "large", <-entered)
		large := <-permits
		large.Leave()
		large.Leave()
		synctest.Wait()
		require.Len(t, entered, 2, "room that is left twice is left once")
	})
}

// What came after too many others is refused at once, and may come again later.
func TestTooManyWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := poolOf(t, 2, nil)
		_, first := enter(t, p, admission.WholeCore)
		for range 2 {
			go func() {
				_, permit, err := p.Enter(t.Context(), admission.WholeCore, nil)
				assert.NoError(t, err)
				permit.Leave()
			}()
		}
		synctest.Wait()
		_, _, err := p.Enter(t.Context(), 1, func() { t.Error("waited") })
		var refused *apierror.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_TOO_MANY_WAITING, refused.Reason)
		require.Equal(t, map[string]string{"pool": "compactions"}, refused.Metadata)
		require.Positive(t, refused.RetryAfter)
		first.Leave()
		synctest.Wait()
		_, last := enter(t, p, admission.WholeCore)
		last.Leave()
	})
}

// A wait ends with the context, and what waited behind it enters.
func TestWaitEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := poolOf(t, 9, nil)
		_, first := enter(t, p, 3)
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		entered := false
		go func() {
			_, _, err := p.Enter(ctx, admission.WholeCore, nil)
			assert.ErrorIs(t, err, gone)
		}()
		synctest.Wait()
		go func() {
			_, permit, err := p.Enter(t.Context(), 1, nil)
			assert.NoError(t, err)
			permit.Leave()
			entered = true
		}()
		synctest.Wait()
		require.False(t, entered)
		cancel(gone)
		synctest.Wait()
		require.True(t, entered)
		first.Leave()
	})
}

// Work within work does not wait for itself.
func TestWorkWithinWork(t *testing.T) {
	p := poolOf(t, 9, nil)
	ctx, permit := enter(t, p, admission.WholeCore)
	_, inner, err := p.Enter(ctx, admission.WholeCore, func() { t.Error("waited") })
	require.NoError(t, err)
	inner.Leave()
	permit.Leave()
	_, again := enter(t, p, admission.WholeCore)
	again.Leave()
}

// While all of the work or some of it waits for a model, others work. It then comes back before those that wait.
func TestAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := poolOf(t, 2, nil)
		ctx, permit := enter(t, p, admission.WholeCore)
		answers := make(chan struct{})
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() { admission.Away(ctx, func() { <-answers }) })
		}
		synctest.Wait()
		_, other := enter(t, p, admission.WholeCore)
		var order []string
		go func() {
			_, third, err := p.Enter(t.Context(), admission.WholeCore, nil)
			assert.NoError(t, err)
			order = append(order, "third")
			third.Leave()
		}()
		synctest.Wait()
		answers <- struct{}{}
		synctest.Wait()
		answers <- struct{}{}
		go func() {
			both.Wait()
			order = append(order, "back")
			permit.Leave()
		}()
		synctest.Wait()
		require.Empty(t, order)
		other.Leave()
		synctest.Wait()
		require.Equal(t, []string{"back", "third"}, order)
		_, last := enter(t, p, admission.WholeCore)
		last.Leave()
	})
}

// Work that comes back enters in the order in which it came back, so that none waits for ever for others that do.
func TestWorkThatComesBackEntersInItsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := poolOf(t, 9, nil)
		const works = 3
		var order []int
		var answers [works]chan struct{}
		for n := range works {
			answers[n] = make(chan struct{})
			go func() {
				ctx, permit, err := p.Enter(t.Context(), admission.WholeCore, nil)
				if !assert.NoError(t, err) {
					return
				}
				defer permit.Leave()
				admission.Away(ctx, func() { <-answers[n] })
				order = append(order, n)
			}()
			synctest.Wait()
		}
		_, other := enter(t, p, admission.WholeCore)
		go func() {
			_, permit, err := p.Enter(t.Context(), admission.WholeCore, nil)
			assert.NoError(t, err)
			order = append(order, works)
			permit.Leave()
		}()
		for n := range works {
			synctest.Wait()
			close(answers[n])
		}
		synctest.Wait()
		require.Empty(t, order)
		other.Leave()
		synctest.Wait()
		require.Equal(t, []int{0, 1, 2, works}, order)
	})
}

// Work that goes away once more while a part of it comes back has its room once, not twice.
func TestAwayAgainWhileComingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := poolOf(t, 2, nil)
		ctx, permit := enter(t, p, admission.WholeCore)
		answered := make(chan struct{})
		var both sync.WaitGroup
		both.Go(func() { admission.Away(ctx, func() { <-answered }) })
		synctest.Wait()
		_, other := enter(t, p, admission.WholeCore)
		close(answered)
		synctest.Wait()
		both.Go(func() { admission.Away(ctx, func() {}) })
		synctest.Wait()
		other.Leave()
		both.Wait()
		permit.Leave()
		_, last := enter(t, p, admission.WholeCore)
		last.Leave()
	})
}

// Away without a pool only waits.
func TestAwayFromNowhere(t *testing.T) {
	called := false
	admission.Away(t.Context(), func() { called = true })
	require.True(t, called)
}

// Whatever calls enter, give up, go away and leave, the pool is never overfull, and is empty in the end.
func TestPoolIsNeverOverfull(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			registry := prometheus.NewRegistry()
			p := poolOf(t, 4, registry)
			var mu sync.Mutex
			inside := 0
			change := func(by int) {
				mu.Lock()
				defer mu.Unlock()
				inside += by
				assert.LessOrEqual(t, inside, admission.WholeCore)
			}
			var all sync.WaitGroup
			for i := range rapid.IntRange(1, 12).Draw(rt, "calls") {
				weight := rapid.IntRange(1, admission.WholeCore).Draw(rt, "weight")
				patience := time.Duration(rapid.IntRange(1, 20).Draw(rt, "patience")) * time.Second
				away := rapid.IntRange(0, 2).Draw(rt, "away")
				all.Go(func() {
					<-time.After(time.Duration(i%4) * time.Second)
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					work, permit, err := p.Enter(ctx, weight, nil)
					if err != nil {
						return
					}
					defer permit.Leave()
					for range away {
						change(weight)
						<-time.After(time.Second)
						change(-weight)
						admission.Away(work, func() { <-time.After(2 * time.Second) })
						if ctx.Err() != nil {
							return
						}
					}
					change(weight)
					<-time.After(time.Second)
					change(-weight)
				})
			}
			all.Wait()
			_, whole := enter(t, p, admission.WholeCore)
			whole.Leave()
			require.Zero(t, gauge(t, registry, "compactord_admission_running"))
			require.Zero(t, gauge(t, registry, "compactord_admission_waiting"))
		})
	})
}

// gauge returns the value of a gauge for compactions.
func gauge(t *testing.T, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == name && m.GetLabel()[0].GetValue() == "compactions" {
				return m.GetGauge().GetValue()
			}
		}
	}
	require.Fail(t, "there is no metric "+name)
	return 0
}

// The pools have the size of all cores but one.
func TestOneCoreStaysFree(t *testing.T) {
	for cores, size := range map[int]int{1: 1, 2: 1, 4: 3} {
		pools, err := admission.New(admission.Options{Cores: cores})
		require.NoError(t, err)
		for _, p := range []*admission.Pool{pools.Compactions, pools.Searches, pools.Imports, pools.Views} {
			for range size {
				enter(t, p, admission.WholeCore)
			}
			ctx, cancel := context.WithCancel(t.Context())
			_, _, err := p.Enter(ctx, 1, cancel)
			require.ErrorIs(t, err, context.Canceled)
		}
	}
	require.Equal(t, 1, admission.WeightOf(0))
	require.Equal(t, 2, admission.WeightOf(70<<10))
	require.Equal(t, admission.WholeCore, admission.WeightOf(1<<30))
}
