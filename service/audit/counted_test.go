package audit_test

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
)

// requireCounted asserts the value of a counter.
func requireCounted(t *testing.T, want float64, c prometheus.Counter) {
	t.Helper()
	var m dto.Metric
	require.NoError(t, c.Write(&m))
	require.InDelta(t, want, m.GetCounter().GetValue(), 0)
}
