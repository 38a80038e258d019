package lazily_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers/extractive/internal/lazily"
)

// Goroutines that need a value at once get the same one.
func TestAValueIsComputedOnce(t *testing.T) {
	t.Parallel()
	computed := 0
	value := lazily.Value(func() *int { computed++; return &computed })
	require.Zero(t, computed)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { value() })
	}
	all.Wait()
	require.Same(t, &computed, value())
	require.Equal(t, 1, computed)
}
