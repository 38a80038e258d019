package service_test

import (
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/service"
)

// described notes the registered metrics.
type described struct {
	prometheus.Registerer
	metrics []string
}

func (d *described) Register(c prometheus.Collector) error {
	all := make(chan *prometheus.Desc, 100)
	c.Describe(all)
	close(all)
	for desc := range all {
		d.metrics = append(d.metrics, desc.String())
	}
	return d.Registerer.Register(c)
}

func (d *described) MustRegister(all ...prometheus.Collector) {
	for _, c := range all {
		if err := d.Register(c); err != nil {
			panic(err)
		}
	}
}

// ofTheProgram are the metrics that the program registers beside those of the service.
var ofTheProgram = []string{"compactord_log_lines_dropped_total", "compactord_accept_failures_total"}

// The table in docs/operations.md has all of the daemon's own metrics, and no others.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	registry := &described{Registerer: prometheus.NewRegistry()}
	start(t, func(o *service.ServerOptions) { o.Metrics = registry })
	document, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	ours := 0
	for _, desc := range registry.metrics {
		if _, rest, found := strings.Cut(desc, `fqName: "compactord_`); found {
			name, _, _ := strings.Cut(rest, `"`)
			require.Contains(t, string(document), "`compactord_"+name+"`")
			ours++
		}
	}
	require.Equal(t, ours+len(ofTheProgram), strings.Count(string(document), "| `compactord_"))
	for _, name := range ofTheProgram {
		require.Contains(t, string(document), "| `"+name+"`")
	}
}
