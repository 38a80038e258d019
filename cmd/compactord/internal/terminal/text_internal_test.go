package terminal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000"} {
		require.Equal(t, want, Number(n))
	}
	require.Equal(t, "1 message", Count(1, "message"))
	require.Equal(t, "0 messages", Count(0, "message"))
	require.Equal(t, "<1 %", Percent(1, 1000))
	require.Equal(t, "99 %", Percent(999, 1000))
	require.Equal(t, "0 %", Percent(0, 0))
}
