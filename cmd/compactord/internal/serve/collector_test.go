package serve

import (
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/require"
)

// heapGoal returns the size of the heap at which the garbage collector ends its next run, after one now.
func heapGoal() uint64 {
	runtime.GC()
	goal := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(goal)
	return goal[0].Value.Uint64()
}

// The garbage collector waits for the spare heap to be used up, unless an operator has set how to collect.
func TestSpareHeap(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	before := heapGoal()
	spare := spareHeap()
	require.Greater(t, heapGoal(), before+spareHeapBytes)
	runtime.KeepAlive(spare)
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "100")
			require.Empty(t, spareHeap())
		})
	}
}
