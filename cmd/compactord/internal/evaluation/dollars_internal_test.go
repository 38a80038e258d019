package evaluation

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The costs of a short transcript were all 0.00.
func TestCostsHaveThreeDigits(t *testing.T) {
	for largest, want := range map[float64]string{61.5: "0.01", 1: "0.01", 0.87: "0.012", 0.02: "0.0123", 0.0004: "0.012345", 1e-9: "0.012345", 0: "0.01"} {
		require.Equal(t, want, dollars(largest)(0.012345), largest)
	}
}
