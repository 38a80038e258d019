package serve

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/compactord/compactord/cmd/compactord/internal/config"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/service"
)

// reloader reads the configuration again at SIGHUP.
type reloader struct {
	// given are the sources beside the file, path is that of the file, and flags those of the command.
	given config.Sources
	path  string
	flags []*kong.Flag

	daemon *daemon
	level  *slog.LevelVar
	logger *slog.Logger
	// running are the settings in effect.
	running *config.Settled
}

// run reads the configuration again for each hangup until the context ends.
func (r *reloader) run(ctx context.Context, hangups <-chan struct{}) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-hangups:
			r.reload(ctx)
		}
	}
}

// reload takes what can change. Where the configuration does not hold, all stays as it was.
func (r *reloader) reload(ctx context.Context) {
	next, err := config.SettleFrom(r.given, r.flags, r.path)
	if err == nil {
		err = next.CheckReload(r.running)
	}
	otherKeys := false
	if err == nil {
		otherKeys, err = r.useKeys(ctx, next)
	}
	if err == nil {
		err = r.daemon.server.UsePolicies(next.Policies(next.File))
	}
	if err != nil {
		problems := next.Problems(err)
		for _, p := range problems {
			r.logger.ErrorContext(ctx, "a problem with the configuration", "key", p.Key, "from", p.From, "problem", p.Message)
		}
		r.logger.ErrorContext(ctx, "the configuration was not taken: all stays as it was", "problems", len(problems))
		return
	}
	changes := next.Changes(r.running)
	var taken []string
	if otherKeys {
		taken = append(taken, "the keys of the store")
	}
	for _, key := range r.running.TakeKeys(next) {
		taken = append(taken, "the key of "+key)
	}
	r.daemon.server.UseLimits(limitsOf(&next.Config))
	r.daemon.auditRoom.SetLimit(next.MinFreeBytes / auditShare)
	r.daemon.quotas.Store(next.File)
	r.daemon.server.UseRetention(next.File.Retention)
	r.daemon.lookNow(ctx, r.logger)
	r.running.Take(next)
	before, level := r.level.Level(), terminal.LogLevels[next.LogLevel]
	// What is said about a change of the level is seen by one of the two.
	r.level.Set(min(before, level))
	restart := 0
	for _, change := range changes {
		if !change.Restart {
			taken = append(taken, change.Key)
			continue
		}
		restart++
		r.logger.WarnContext(ctx, "a changed setting needs a restart", "key", change.Key)
	}
	r.logger.InfoContext(ctx, "configuration read again", "taken", cmp.Or(strings.Join(taken, ", "), "nothing"), "need_restart", restart)
	r.level.Set(level)
}

// useKeys makes the store take the keys that it is given now, and reports whether they are other ones.
func (r *reloader) useKeys(ctx context.Context, next *config.Settled) (changed bool, err error) {
	keys, err := next.Keys()
	if err == nil {
		if changed, err = r.daemon.rotation.use(ctx, keys); err != nil {
			err = fmt.Errorf("the store %s: %w", r.running.Store, err)
		}
	}
	if err != nil {
		return false, next.OfKeys(err)
	}
	return changed, nil
}

// limitsOf returns the limits of settings that a server can change while it serves.
func limitsOf(c *config.Config) service.Limits {
	return service.Limits{
		MaxMessageBytes: c.MaxMessageBytes, MaxInflightBytes: cmp.Or(c.MaxInflightBytes, service.LeastInflightBytes(c.MaxMessageBytes)),
		MaxConnections: c.MaxConnections, MaxConnectionsOfClient: c.MaxConnectionsOfClient, DrainTimeout: c.DrainTimeout,
		MinFreeBytes: c.MinFreeBytes,
	}
}

// lookNow looks at the files of tokens and certificates at once, and opens the audit log again.
func (d *daemon) lookNow(ctx context.Context, logger *slog.Logger) {
	if d.guard != nil {
		d.guard.LookNow()
	}
	if d.encryption != nil {
		d.encryption.LookNow()
	}
	if err := d.audit.Reopen(); err != nil {
		logger.ErrorContext(ctx, "the audit log cannot be opened again: its lines go on where they went", "error", err)
	}
}
