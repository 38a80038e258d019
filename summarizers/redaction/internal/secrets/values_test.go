package secrets

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The longest text that another begins with is found, whatever the others are.
func TestLongestValue(t *testing.T) {
	drawn := rand.New(rand.NewPCG(3, 4))
	word := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte("ab"[drawn.IntN(2)])
		}
		return b.String()
	}
	found := 0
	for range 300 {
		texts := make([]string, 0, 40)
		for range 40 {
			texts = append(texts, "aaaabbbb"[:drawn.IntN(9)]+word(8+drawn.IntN(6)))
		}
		slices.Sort(texts)
		texts = slices.Compact(texts)
		known := newValues(slices.Clone(texts))
		for range 50 {
			text, want := "aaaabbbb"[:drawn.IntN(9)]+word(8+drawn.IntN(12)), ""
			for _, of := range texts {
				if strings.HasPrefix(text, of) && len(of) > len(want) {
					want = of
				}
			}
			have := ""
			if i := known.at(text); i >= 0 {
				have = known.sorted[i]
			}
			require.Equal(t, want, have, "%q in %q", text, texts)
			if want != "" {
				found++
			}
		}
	}
	require.Greater(t, found, 100)
}
