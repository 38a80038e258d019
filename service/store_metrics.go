package service

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/compactord/compactord/storage"
)

// commitBuckets are the bounds of the histograms of commits, in seconds: from a sync of a fast disk to one that hangs.
var commitBuckets = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10}

// measureStore registers the metrics of a store. Some stores have none.
func measureStore(store storage.Store, metrics prometheus.Registerer) error {
	var collectors []prometheus.Collector
	if spacer, ok := store.(storage.Spacer); ok {
		if _, err := spacer.FreeSpace(); err == nil {
			collectors = append(collectors, freeSpace(spacer))
		}
	}
	if measured, ok := store.(storage.Measured); ok {
		collectors = append(collectors, commitTimes(measured)...)
		collectors = append(collectors, statistics(measured)...)
	}
	if connected, ok := store.(storage.Connected); ok {
		collectors = append(collectors, newStoreConnections(connected))
	}
	for _, c := range collectors {
		if err := metrics.Register(c); err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
	}
	return nil
}

// freeSpace is -1 while the system does not say it.
func freeSpace(store storage.Spacer) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "compactord_store_disk_free_bytes",
		Help: "What the file system of the store has left; -1 while the system does not say it.",
	}, func() float64 {
		free, err := store.FreeSpace()
		if err != nil {
			return -1
		}
		return float64(free)
	})
}

func commitTimes(store storage.Measured) []prometheus.Collector {
	took := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "compactord_store_commit_seconds", Buckets: commitBuckets,
		Help: "How long transactions took that write, with the sync of the disk. One has the writes of all calls that waited.",
	})
	disk := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "compactord_store_sync_seconds", Buckets: commitBuckets,
		Help: "The part of transactions in which the disk wrote and synced their pages.",
	})
	store.WatchCommits(func(c storage.Committed) {
		took.Observe(c.Took.Seconds())
		disk.Observe(c.Disk.Seconds())
	})
	return []prometheus.Collector{took, disk}
}

func statistics(store storage.Measured) (collectors []prometheus.Collector) {
	for _, g := range []struct {
		name, help string
		value      func(storage.Statistics) float64
	}{
		{"compactord_store_bytes", "Size of the store's file.", func(s storage.Statistics) float64 { return float64(s.Bytes) }},
		{
			"compactord_store_free_bytes", "Pages of the store's file that are free for new data.",
			func(s storage.Statistics) float64 { return float64(s.FreeBytes) },
		},
		{
			"compactord_store_free_unknown", "1 while not all free pages of the store's file are known, as after a kill; else 0.",
			func(s storage.Statistics) float64 {
				if s.FreeUnknown {
					return 1
				}
				return 0
			},
		},
		{
			"compactord_store_writes_waiting", "Writes that wait for the transaction that runs.",
			func(s storage.Statistics) float64 { return float64(s.Waiting) },
		},
		{
			"compactord_store_oldest_read_seconds", "How long the oldest read of the store that runs has taken; 0 where none runs.",
			func(s storage.Statistics) float64 { return s.OldestRead.Seconds() },
		},
		{
			"compactord_store_overwrite_lag_seconds",
			"How long what was freed first has waited for being overwritten; 0 where all is, and without --overwrite-freed.",
			func(s storage.Statistics) float64 { return s.OverwriteLag.Seconds() },
		},
		{
			"compactord_store_older_keys", "Keys beside the one that seals which the store still needs: a rotation is not done.",
			func(s storage.Statistics) float64 { return float64(s.OlderKeys) },
		},
		{
			"compactord_store_rotation_read_bytes",
			"Bytes that the running rotation of keys has gone through since the start, of those that the store has in use.",
			func(s storage.Statistics) float64 { return float64(s.RotationRead) },
		},
	} {
		collectors = append(collectors, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: g.name, Help: g.help},
			func() float64 { return g.value(store.Statistics()) }))
	}
	return collectors
}

// storeConnections collects the figures of the connections to a database, all those of a scrape at one moment: a connection
// that passes from one state to another is in one of them.
type storeConnections struct {
	store           storage.Connected
	states, waiting *prometheus.Desc
}

func newStoreConnections(store storage.Connected) *storeConnections {
	return &storeConnections{
		store: store,
		states: prometheus.NewDesc("compactord_store_connections",
			"Connections to the database of the store, by state: used, idle, and limit for how many there can be.", []string{"state"}, nil),
		waiting: prometheus.NewDesc("compactord_store_connections_waiting",
			"Operations that wait for a connection to the database of the store.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *storeConnections) Describe(to chan<- *prometheus.Desc) {
	to <- c.states
	to <- c.waiting
}

// Collect implements prometheus.Collector.
func (c *storeConnections) Collect(to chan<- prometheus.Metric) {
	now := c.store.Connections()
	for state, count := range map[string]int{"used": now.Used, "idle": now.Idle, "limit": now.Limit} {
		to <- prometheus.MustNewConstMetric(c.states, prometheus.GaugeValue, float64(count), state)
	}
	to <- prometheus.MustNewConstMetric(c.waiting, prometheus.GaugeValue, float64(now.Waiting))
}
