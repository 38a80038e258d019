package unread

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever is put back, memory has the length that is asked for, and at most twice as much room.
func TestBuffersFit(t *testing.T) {
	t.Parallel()
	pools := new(buffers)
	for _, odd := range []int{0, 3, 5000} {
		memory := make([]byte, odd)
		pools.Put(&memory)
	}
	for range 2 {
		for _, length := range []int{0, 1, 2, 3, 1023, 1024, 1025, 800_000} {
			got := pools.Get(length)
			require.Len(t, *got, length)
			require.LessOrEqual(t, cap(*got), max(1, 2*length))
			pools.Put(got)
		}
	}
}
