package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/compactord/compactord/storage"
)

// WritesService is the service name of the health of writes. It is NOT_SERVING while the store refuses them; the empty
// name, which stands for the daemon, stays SERVING, since reads go on. Only while a database cannot be reached, it is not.
const WritesService = "compactord.writes"

// outages reports the times in which the store refuses writes: by health, log and metrics.
type outages struct {
	health *health.Server
	logger *slog.Logger
	// failing is 1 during an outage.
	failing atomic.Int32
	// cause is the cause of the last one, a string.
	cause atomic.Value
	began *prometheus.CounterVec
	// lost receives the error of a store that is lost.
	lost chan error

	mu sync.Mutex
	// store is the outage of the store, and room that of lack of room on its disk; without error where there is none.
	store, room storage.Outage
}

// causeLost is the cause of an outage that does not end.
const causeLost = "lost"

// watchOutages begins to report the outages of the store. Some stores have none.
func watchOutages(
	store storage.Store, status *health.Server, logger *slog.Logger, metrics prometheus.Registerer,
) (*outages, error) {
	o := &outages{health: status, logger: logger, lost: make(chan error, 1)}
	o.began = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "compactord_store_outages_total",
		Help: "Times in which the store refused writes, by cause: disk_full, quota, file_too_large, disk_low, read_only, unreachable, io, lost.",
	}, []string{"cause"})
	for _, cause := range storage.DiskCauses() {
		o.began.WithLabelValues(string(cause))
	}
	o.began.WithLabelValues(causeLost)
	failing := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "compactord_store_writes_failing",
		Help: "1 while the store refuses writes, else 0.",
	}, func() float64 { return float64(o.failing.Load()) })
	for _, c := range []prometheus.Collector{o.began, failing} {
		if err := metrics.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	status.SetServingStatus(WritesService, healthv1.HealthCheckResponse_SERVING)
	if fallible, ok := store.(storage.Fallible); ok {
		fallible.WatchOutages(o.report)
	}
	return o, nil
}

// report says that an outage of the store begins, that it is for ever, or that it has ended.
func (o *outages) report(now storage.Outage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !now.Lost {
		o.change(&o.store, now)
		return
	}
	o.store = now
	o.cause.Store(causeLost)
	o.failing.Store(1)
	o.began.WithLabelValues(causeLost).Inc()
	o.health.SetServingStatus(WritesService, healthv1.HealthCheckResponse_NOT_SERVING)
	o.health.SetServingStatus("", healthv1.HealthCheckResponse_NOT_SERVING)
	o.logger.ErrorContext(context.Background(), "the store is lost", "error", now.Err)
	select {
	case o.lost <- now.Err:
	default:
	}
}

// reportRoom says that the daemon begins to refuse writes for lack of room, or that it takes them again.
func (o *outages) reportRoom(now storage.Outage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.change(&o.room, now)
}

// change notes the beginning or the end of an outage of one kind. Writes are taken again when none is left.
func (o *outages) change(of *storage.Outage, now storage.Outage) {
	ctx := context.Background()
	if o.store.Lost {
		return
	}
	before := of.Err
	if *of = now; now.Err != nil {
		cause := outageCause(now.Err)
		o.began.WithLabelValues(cause).Inc()
		o.logger.ErrorContext(ctx, "the store refuses writes", "cause", cause, "error", now.Err)
	}
	left := cmp.Or(o.store.Err, o.room.Err)
	if left != nil {
		o.cause.Store(outageCause(left))
		o.failing.Store(1)
		o.health.SetServingStatus(WritesService, healthv1.HealthCheckResponse_NOT_SERVING)
		if isUnreachable(left) {
			o.health.SetServingStatus("", healthv1.HealthCheckResponse_NOT_SERVING)
		}
		return
	}
	if isUnreachable(before) {
		o.health.SetServingStatus("", healthv1.HealthCheckResponse_SERVING)
	}
	o.failing.Store(0)
	o.health.SetServingStatus(WritesService, healthv1.HealthCheckResponse_SERVING)
	o.logger.InfoContext(ctx, "the store takes writes again", "after", time.Since(now.Since).Round(time.Millisecond).String())
}

// isUnreachable reports whether nothing can be read either.
func isUnreachable(err error) bool {
	var disk *storage.DiskError
	return errors.As(err, &disk) && disk.Cause == storage.DiskUnreachable
}

// outageCause returns the cause for logs and metrics.
func outageCause(err error) string {
	var disk *storage.DiskError
	switch {
	case errors.As(err, &disk):
		return string(disk.Cause)
	case errors.Is(err, storage.ErrFull):
		return string(storage.FileTooLarge)
	default:
		return string(storage.DiskBroken)
	}
}
