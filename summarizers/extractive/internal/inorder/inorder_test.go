package inorder_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/compactord/compactord/summarizers/extractive/internal/inorder"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Steps are taken one after the other, all of them, before End returns. The race detector finds if two run at a time.
func TestStepsAreTakenInOrder(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 15, 16, 17, 1000} {
		s := inorder.Begin(t.Context())
		var taken, want []int
		for i := range n {
			want = append(want, i)
			s.Hand(func() { taken = append(taken, i) })
		}
		s.End()
		require.Equal(t, want, taken)
	}
}

// Once the context ends, the rest is not taken, and End returns.
func TestNoStepIsTakenAfterTheContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := inorder.Begin(ctx)
	taken := 0
	for i := range 1000 {
		s.Hand(func() {
			if taken++; i == 40 {
				cancel()
			}
		})
	}
	s.End()
	require.Equal(t, 41, taken)
}

// A step that ends the goroutine does not block who hands over the next ones.
func TestAStepThatEndsTheGoroutineIsTheLast(t *testing.T) {
	t.Parallel()
	s := inorder.Begin(t.Context())
	taken := 0
	for i := range 1000 {
		s.Hand(func() {
			if taken++; i == 40 {
				runtime.Goexit()
			}
		})
	}
	s.End()
	require.Equal(t, 41, taken)
}

// Wait returns after the steps so far, and once the context has ended without them.
func TestWait(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := inorder.Begin(ctx)
	taken := 0
	for range 20 {
		s.Hand(func() { taken++ })
	}
	s.Wait(ctx)
	require.Equal(t, 20, taken)
	cancel()
	s.Hand(func() { taken++ })
	s.Wait(ctx)
	s.End()
	require.Equal(t, 20, taken)
}
