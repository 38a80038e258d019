package service

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/compactord/compactord/service/diskroom"
	"github.com/compactord/compactord/storage"
)

// guardRoom makes the gate that keeps some of the disk free. Stores that have no disk have none.
func (s *Service) guardRoom(store storage.Store, limit int64, told func(storage.Outage), metrics prometheus.Registerer) error {
	disk, ok := store.(storage.Spacer)
	if !ok {
		return nil
	}
	var inside func() int64
	if measured, ok := store.(storage.Measured); ok {
		inside = func() int64 {
			now := measured.Statistics()
			return now.FreeBytes - now.PendingBytes
		}
	}
	s.room = diskroom.New(disk, limit, inside, told)
	err := metrics.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "compactord_store_min_free_bytes",
		Help: "What must be free on the disk of the store, else writes are refused; 0 without a limit.",
	}, func() float64 { return float64(s.room.Limit()) }))
	if err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	return nil
}
