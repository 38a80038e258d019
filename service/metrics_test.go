package service_test

import (
	"os"
	"path/filepath"
	"slices"
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
var ofTheProgram = []string{
	"compactord_log_lines_dropped_total", "compactord_accept_failures_total",
	"compactord_tls_certificate_expiry_timestamp_seconds", "compactord_tls_stale",
	"compactord_audit_failures_total", "compactord_access_refused_total", "compactord_tokens_failing",
	"compactord_build_info", "compactord_trace_spans_total",
}

// withoutSeries are the metrics without a series before the first event: not each summarizer has a price, and no tenant
// of this daemon a quota.
var withoutSeries = []string{"compactord_summarizer_cost_usd_total", "compactord_quota_used"}

// Alerts on counters need them from the beginning: the first event would else be no increase.
func TestMetricsHaveSeriesBeforeTheFirstEvent(t *testing.T) {
	t.Parallel()
	gathered := prometheus.NewRegistry()
	registry := &described{Registerer: gathered}
	start(t, withStore(openStore(t, filepath.Join(t.TempDir(), "store.db"))), func(o *service.ServerOptions) { o.Metrics = registry })
	families, err := gathered.Gather()
	require.NoError(t, err)
	series := make(map[string]int)
	for _, family := range families {
		series[family.GetName()] = len(family.GetMetric())
	}
	for _, name := range registry.names() {
		require.Equal(t, slices.Contains(withoutSeries, name), series[name] == 0, name)
	}
	require.Equal(t, 3*6, series["compactord_compactions_total"])
	require.Equal(t, 6, series["compactord_requests_refused_total"])
	require.Equal(t, 8, series["compactord_store_outages_total"])
}

// names returns the names of the daemon's own metrics.
func (d *described) names() (names []string) {
	for _, desc := range d.metrics {
		if _, rest, found := strings.Cut(desc, `fqName: "compactord_`); found {
			name, _, _ := strings.Cut(rest, `"`)
			names = append(names, "compactord_"+name)
		}
	}
	return names
}

// The table in docs/operations.md has all of the daemon's own metrics, and no others.
func TestMetricsAreDocumented(t *testing.T) {
	t.Parallel()
	registry := &described{Registerer: prometheus.NewRegistry()}
	start(t, withStore(openStore(t, filepath.Join(t.TempDir(), "store.db"))), func(o *service.ServerOptions) { o.Metrics = registry })
	document, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	for _, name := range registry.names() {
		require.Contains(t, string(document), "`"+name+"`")
	}
	require.Equal(t, len(registry.names())+len(ofTheProgram)+len(ofDatabases), strings.Count(string(document), "| `compactord_"))
	for _, name := range slices.Concat(ofDatabases, ofTheProgram) {
		require.Contains(t, string(document), "| `"+name+"`")
	}
}

// ofDatabases are the metrics of a store in a database.
var ofDatabases = []string{"compactord_store_connections", "compactord_store_connections_waiting"}

// Operators see how many connections there are to the database, and how many there can be. Work in the background may take
// and return the only one at any time: in each scrape, it is in one state.
func TestConnectionsAreMeasured(t *testing.T) {
	t.Parallel()
	metrics := prometheus.NewRegistry()
	start(t, withStore(sharedStores["postgres"](t).open(t)), func(o *service.ServerOptions) { o.Metrics = metrics })
	for range 100 {
		connections := connectionsOf(t, metrics)
		require.Positive(t, connections["limit"])
		require.Positive(t, connections["idle"]+connections["used"])
		require.GreaterOrEqual(t, connections["waiting"], 0.0)
	}
}

// connectionsOf returns the figures of one scrape.
func connectionsOf(t *testing.T, metrics *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := metrics.Gather()
	require.NoError(t, err)
	figures := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			switch family.GetName() {
			case "compactord_store_connections":
				figures[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
			case "compactord_store_connections_waiting":
				figures["waiting"] = m.GetGauge().GetValue()
			}
		}
	}
	require.Len(t, figures, 4)
	return figures
}
