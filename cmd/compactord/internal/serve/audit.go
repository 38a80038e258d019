package serve

import (
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/compactord/compactord/service/audit"
)

// openAudit opens the audit log; nil where there is none. Alerts know its metric all the same.
func (c *Command) openAudit(metrics prometheus.Registerer, logger *slog.Logger) (*audit.Log, error) {
	failed := audit.NewFailures()
	if err := metrics.Register(failed); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	if c.AuditLog == "" {
		return nil, nil
	}
	log, err := audit.Open(c.AuditLog, logger, failed)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot write the audit log %s: %w", c.sources.Of("audit-log"), c.AuditLog, err)
	}
	return log, nil
}
