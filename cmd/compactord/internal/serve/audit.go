package serve

import (
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/compactord/compactord/service/audit"
	"github.com/compactord/compactord/service/diskroom"
	"github.com/compactord/compactord/storage"
)

// auditShare is the part of --min-free-bytes that the audit log leaves free: less than the whole, so that it says who calls
// after writes to the store are refused already.
const auditShare = 4

// openAudit opens the audit log; none where there is none. Alerts know its metric all the same. room, which must be run, stops
// it before its disk is full.
func (c *Command) openAudit(metrics prometheus.Registerer, logger *slog.Logger) (log *audit.Log, room *diskroom.Gate, err error) {
	failed := audit.NewFailures()
	if err := metrics.Register(failed); err != nil {
		return nil, nil, fmt.Errorf("register metrics: %w", err)
	}
	if c.AuditLog == "" {
		return nil, nil, nil
	}
	// The log itself tells of it.
	room = diskroom.New(storage.Folder(filepath.Dir(c.AuditLog)), c.MinFreeBytes/auditShare, nil, func(storage.Outage) {})
	if log, err = audit.Open(c.AuditLog, logger, failed, room.BeginLine); err != nil {
		return nil, nil, fmt.Errorf("%s: cannot write the audit log %s: %w", c.sources.Of("audit-log"), c.AuditLog, err)
	}
	return log, room, nil
}
