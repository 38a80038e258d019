package dialect

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Copies of a sealed map grow apart, none sees what another one puts, and there are few layers.
func TestLayeredMapsGrowApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type grown struct {
			layered layered[int]
			model   map[uint64]int
		}
		all := []grown{{model: make(map[uint64]int)}}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			from := all[rapid.IntRange(0, len(all)-1).Draw(t, "from")]
			next := grown{from.layered, maps.Clone(from.model)}
			for range rapid.IntRange(0, 4).Draw(t, "puts") {
				key, value := rapid.Uint64Range(0, 40).Draw(t, "key"), rapid.IntRange(0, 9).Draw(t, "value")
				next.layered.put(key, value)
				next.model[key] = value
			}
			next.layered = next.layered.seal()
			all = append(all, next)
		}
		for _, g := range all {
			for key := range uint64(41) {
				want, there := g.model[key]
				got, found := g.layered.get(key)
				require.Equal(t, there, found)
				require.Equal(t, want, got)
			}
			for i, layer := range g.layered.sealed[min(1, len(g.layered.sealed)):] {
				require.GreaterOrEqual(t, len(g.layered.sealed[i]), 2*len(layer))
			}
		}
	})
}
