package transcripts

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint32Range(1, 1<<31).Draw(t, "n")
		r := rounded(n)
		require.LessOrEqual(t, r, n)
		require.Greater(t, uint64(r)*11, uint64(n)*10-uint64(n)/10, "%d", n)
		require.Positive(t, r)
	})
}
