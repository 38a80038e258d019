package service_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/storage/memory"
)

// fallible is a store whose outages a test begins and ends.
type fallible struct {
	failing
	told func(storage.Outage)
}

func (f *fallible) WatchOutages(fn func(storage.Outage)) { f.told = fn }

// Each cause has its status, and none is called a bug.
func TestErrorsOfTheDisk(t *testing.T) {
	t.Parallel()
	for cause, c := range map[string]struct {
		err  error
		code codes.Code
	}{
		"disk_full":      {storage.NewDiskError(syscall.ENOSPC), codes.ResourceExhausted},
		"quota":          {storage.NewDiskError(syscall.EDQUOT), codes.ResourceExhausted},
		"file_too_large": {storage.NewDiskError(fmt.Errorf("file resize error: truncate /secret: %s", syscall.EFBIG.Error())), codes.ResourceExhausted},
		"disk_low":       {&storage.DiskError{Cause: storage.DiskLow, Err: errors.New("/secret")}, codes.ResourceExhausted},
		"read_only":      {storage.NewDiskError(syscall.EROFS), codes.Unavailable},
		"unreachable":    {&storage.DiskError{Cause: storage.DiskUnreachable, Err: errors.New("dial /secret")}, codes.Unavailable},
		"io":             {storage.NewDiskError(fmt.Errorf("sync /secret: %w", syscall.EIO)), codes.Unavailable},
		"lost":           {storage.ErrLost, codes.Unavailable},
	} {
		t.Run(cause, func(t *testing.T) {
			store := &failing{Store: memory.New()}
			log := &kept{}
			d := start(t, withStore(store), log.option())
			d.create("s", small(1000))
			err := fmt.Errorf("write /secret: %w", c.err)
			store.with.Store(&err)
			_, got := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
				SessionId: "s", Messages: []*compactordv1.Message{user("lost?")},
			})
			info := requireReason(t, got, c.code, "STORE_UNAVAILABLE")
			require.Equal(t, cause, info.GetMetadata()["cause"])
			require.NotContains(t, got.Error(), "secret")
			require.NotContains(t, got.Error(), "bug")
			require.Empty(t, log.lines(t, "call failed by a bug or a broken store"))
		})
	}
}

// An outage is said once by the log when it begins and when it ends, by health as long as it lasts, and by metrics.
func TestOutageIsSaid(t *testing.T) {
	t.Parallel()
	store := &fallible{failing: failing{Store: memory.New()}}
	log, metrics := &kept{}, prometheus.NewPedanticRegistry()
	d := start(t, withStore(store), log.option(), func(o *service.ServerOptions) { o.Metrics = metrics })
	conn := d.connect()
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	health := healthv1.NewHealthClient(conn)
	status := func(name string) healthv1.HealthCheckResponse_ServingStatus {
		answer, err := health.Check(t.Context(), &healthv1.HealthCheckRequest{Service: name})
		require.NoError(t, err)
		return answer.GetStatus()
	}
	failing := func() float64 { return valueOf(t, metrics, "compactord_store_writes_failing") }
	require.Equal(t, healthv1.HealthCheckResponse_SERVING, status(service.WritesService))
	for n := range 2 {
		store.told(storage.Outage{Err: storage.NewDiskError(syscall.EIO), Since: time.Now()})
		require.Equal(t, healthv1.HealthCheckResponse_NOT_SERVING, status(service.WritesService))
		require.Equal(t, healthv1.HealthCheckResponse_SERVING, status(""), "reads go on")
		require.InDelta(t, 1, failing(), 0)
		lines := log.lines(t, "the store refuses writes")
		require.Len(t, lines, n+1)
		require.Equal(t, "io", lines[n]["cause"])

		store.told(storage.Outage{Since: time.Now()})
		require.Equal(t, healthv1.HealthCheckResponse_SERVING, status(service.WritesService))
		require.InDelta(t, 0, failing(), 0)
		require.Len(t, log.lines(t, "the store takes writes again"), n+1)
		require.InDelta(t, n+1, valueOf(t, metrics, "compactord_store_outages_total"), 0)
	}
	require.Equal(t, healthv1.HealthCheckResponse_SERVING, status(""))
}

// Where a database cannot be reached, reads fail too: the daemon as a whole does not serve, until that is over.
func TestUnreachableDatabaseIsSaid(t *testing.T) {
	t.Parallel()
	store := &fallible{failing: failing{Store: memory.New()}}
	d := start(t, withStore(store))
	conn := d.connect()
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	health := healthv1.NewHealthClient(conn)
	for range 2 {
		for _, now := range []error{&storage.DiskError{Cause: storage.DiskUnreachable, Err: errors.New("no route")}, nil} {
			store.told(storage.Outage{Err: now, Since: time.Now()})
			want := healthv1.HealthCheckResponse_SERVING
			if now != nil {
				want = healthv1.HealthCheckResponse_NOT_SERVING
			}
			for _, name := range []string{"", service.WritesService} {
				answer, err := health.Check(t.Context(), &healthv1.HealthCheckRequest{Service: name})
				require.NoError(t, err)
				require.Equal(t, want, answer.GetStatus(), name)
			}
		}
	}
}

// valueOf returns the value of a metric, or the sum of its values.
func valueOf(t *testing.T, metrics *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := metrics.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() == name {
			sum := 0.0
			for _, m := range family.GetMetric() {
				sum += m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
			return sum
		}
	}
	require.Fail(t, "there is no metric "+name)
	return 0
}
