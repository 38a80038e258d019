package service_test

import (
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
)

// figure returns the value of a metric whose labels have these values, in the order of their names. Of a histogram it is
// the number of observations.
func figure(t *testing.T, metrics *prometheus.Registry, name string, labels ...string) float64 {
	t.Helper()
	families, err := metrics.Gather()
	require.NoError(t, err)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() != name || !labelled(m, labels) {
				continue
			}
			return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	require.Fail(t, "no such series", "%s %v", name, labels)
	return 0
}

func labelled(m *dto.Metric, values []string) bool {
	if len(m.GetLabel()) != len(values) {
		return false
	}
	for i, pair := range m.GetLabel() {
		if pair.GetValue() != values[i] {
			return false
		}
	}
	return true
}

// What the runbook needs is counted: the store, views and their new parts, blocked triggers, tokens by strategy.
func TestFiguresForOperators(t *testing.T) {
	t.Parallel()
	metrics := prometheus.NewRegistry()
	d := start(t, withStore(openStore(t, filepath.Join(t.TempDir(), "store.db"))), func(o *service.ServerOptions) { o.Metrics = metrics })
	of := func(name string, labels ...string) float64 { return figure(t, metrics, name, labels...) }
	before := of("compactord_store_commit_seconds")
	d.create("s", small(10))
	d.append("s", user("a question"), assistant("an answer"))
	require.InDelta(t, before+2, of("compactord_store_commit_seconds"), 0)
	require.InDelta(t, of("compactord_store_commit_seconds"), of("compactord_store_sync_seconds"), 0)
	require.Greater(t, of("compactord_store_bytes"), of("compactord_store_free_bytes"))
	require.Positive(t, of("compactord_store_free_bytes"))
	require.Positive(t, of("compactord_store_disk_free_bytes"))
	require.Zero(t, of("compactord_store_writes_waiting"))
	require.Zero(t, of("compactord_store_oldest_read_seconds"))

	held := ""
	for _, kind := range []string{"whole", "same", "delta"} {
		if kind == "delta" {
			d.append("s", user("another question"))
		}
		bytes, views := of("compactord_view_bytes_total", kind), of("compactord_views_total", kind)
		answer, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
			Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, ViewToken: held,
		})
		require.NoError(t, err)
		held = answer.GetViewToken()
		size := 0
		for _, message := range answer.GetMessages() {
			size += proto.Size(message)
		}
		require.InDelta(t, views+1, of("compactord_views_total", kind), 0, kind)
		require.InDelta(t, bytes+float64(size), of("compactord_view_bytes_total", kind), 0, kind)
	}

	require.Zero(t, of("compactord_triggers_blocked_total", "window_unknown"))
	d.create("unbounded", nil)
	answer := d.append("unbounded", user("x"))
	require.Contains(t, answer.GetReport().GetBlockedBy(), compactordv1.BlockedBy_BLOCKED_BY_WINDOW_UNKNOWN)
	require.InDelta(t, 1, of("compactord_triggers_blocked_total", "window_unknown"), 0)

	d.create("long", small(10))
	d.append("long", working(20, 400)...)
	events, err := d.compact(compactRequest("long", small(10)))
	require.NoError(t, err)
	entry := last(t, events).GetCompleted().GetCompaction()
	require.NotNil(t, entry)
	for kind, tokens := range map[string]uint32{
		"before": entry.GetTokensBefore(), "after": entry.GetTokensAfter(), "freed": entry.GetTokensBefore() - entry.GetTokensAfter(),
	} {
		require.Positive(t, tokens)
		require.InDelta(t, tokens, of("compactord_compaction_tokens_total", kind, "summarize"), 0, kind)
	}
}
