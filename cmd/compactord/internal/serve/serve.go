// Package serve is the command that runs the daemon.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/alecthomas/kong"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/certificates"
	"github.com/compactord/compactord/cmd/compactord/internal/config"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/cmd/compactord/internal/traces"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/service/access"
	"github.com/compactord/compactord/service/audit"
	"github.com/compactord/compactord/service/diskroom"
	"github.com/compactord/compactord/service/quota"
	"github.com/compactord/compactord/storage"
)

// Command is `compactord serve`.
type Command struct {
	ConfigFile string `env:"COMPACTORD_CONFIG" help:"YAML file with settings, each a flag's name with underscores and its value." name:"config" placeholder:"PATH" type:"path"`
	config.Config

	file    config.File
	sources config.Sources
	// given are the sources beside the file.
	given config.Sources
	flags []*kong.Flag
	level slog.LevelVar
}

// Help is printed below the flags.
func (c *Command) Help() string {
	return `A flag takes precedence over the environment, the environment over the file of --config, and the file over the default.

SIGINT and SIGTERM stop the daemon. Running calls have --drain-timeout to finish; then compactions are cancelled. A further
signal stops the daemon at once, unless it comes within a quarter of a second. At SIGHUP it reads its configuration again, and
takes what can change without a restart: see 'compactord help configuration'.

Where the store is lost, such as a file that was replaced while the disk failed, the daemon ends with exit code 5.`
}

// BeforeReset keeps kong from reading the settings' variables, of which it would report only the first wrong one.
func (c *Command) BeforeReset(k *kong.Context) error { return config.LeaveVariables(k) }

// Validate settles the settings, and returns every problem with them: those that `config check` reports.
func (c *Command) Validate(k *kong.Context) error {
	c.given, c.flags = config.ReadSources(k), k.Flags()
	settled, err := config.SettleFrom(c.given, c.flags, c.ConfigFile)
	if err != nil {
		return err
	}
	c.Config, c.file, c.sources = settled.Config, *settled.File, settled.Sources
	return nil
}

// Run serves until the context ends.
func (c *Command) Run(ctx context.Context, a *api.App) (err error) {
	hangups := a.Hangups()
	// kong has already called Validate.
	spare := spareHeap()
	defer runtime.KeepAlive(spare)
	logger, queue := c.startLog(ctx, a)
	defer func() {
		if !queue.Close() {
			// Stderr is blocked: an error would not be read either, and must not keep the program from ending.
			a.Stderr = io.Discard
			return
		}
		a.Stderr = lastWords{a.Stderr}
	}()
	if a.Models, err = c.file.Models(); err != nil {
		return terminal.Usagef("%s: %w", c.ConfigFile, err)
	}
	store, err := c.open(ctx, logger)
	if err != nil {
		return err
	}
	serving := false
	defer func() {
		// A store that is lost says so again when it is closed.
		if closing := store.Close(); err == nil || !errors.Is(closing, storage.ErrLost) {
			err = errors.Join(err, closing)
		}
		if serving {
			logStopped(ctx, logger, err)
		}
	}()
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	d := &daemon{refused: newRefused()}
	registry.MustRegister(droppedLines(queue), d.refused, buildInfo(terminal.ThisBuild()))
	if d.audit, d.auditRoom, err = c.openAudit(registry, logger); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.audit.Close()) }()
	if d.traces, err = c.openTraces(ctx, registry, logger); err != nil {
		return err
	}
	defer d.endTraces(ctx)
	if err := c.build(a, d, store, registry, logger); err != nil {
		return err
	}
	d.rotation = newRotation(store.file, store.keys, d.server.BeginWrite, logger)
	addr, err := api.ParseAddress(c.Listen)
	if err != nil {
		return err
	}
	listener, err := listen(ctx, addr)
	if err != nil {
		return err
	}
	c.file.LogModels(ctx, logger, c.DefaultSummarizer)
	asked, err := c.listenAdmin(ctx, d, registry, logger)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	inspected, err := c.addHTTP(ctx, d, logger)
	if err != nil {
		if asked != nil {
			err = errors.Join(err, asked.Close())
		}
		return errors.Join(err, listener.Close())
	}
	group, running := errgroup.WithContext(ctx)
	// Operators can ask until all calls have ended.
	asking, ended := context.WithCancel(context.WithoutCancel(ctx))
	defer ended()
	if asked != nil {
		group.Go(func() error { return asked.serve(asking) })
	}
	group.Go(func() error { return c.reloader(d, logger).run(running, hangups) })
	group.Go(func() error { return d.rotation.run(running) })
	group.Go(func() error {
		d.auditRoom.Run(running)
		return nil
	})
	group.Go(func() error {
		defer ended()
		return d.server.Run(running, newPatientListener(listener, logger, d.refused))
	})
	serving = true
	logger.InfoContext(ctx, "serving", "version", terminal.ThisBuild().Version, "address", listening(addr, listener), "store", c.Store,
		"access", c.accessText())
	announced := fmt.Sprintf("compactord listens on %s, store %s\n", listening(addr, listener), c.Store)
	if inspected != "" {
		announced += "the inspector is at " + inspected + "\n"
	}
	announce(ctx, logger, a.Stdout, announced)
	<-running.Done()
	d.stopping = time.Now()
	logger.InfoContext(ctx, "stopping")
	return d.ended(running, group)
}

// logStopped logs the end of a daemon that has served. The program prints the error itself.
func logStopped(ctx context.Context, logger *slog.Logger, err error) {
	if err != nil {
		logger.ErrorContext(ctx, "stopped by an error")
		return
	}
	logger.InfoContext(ctx, "stopped")
}

// announce writes the line that says that the daemon serves. It does not wait for it: nobody may read stdout, and the
// daemon must stop all the same.
func announce(ctx context.Context, logger *slog.Logger, out io.Writer, line string) {
	go func() {
		if _, err := io.WriteString(out, line); err != nil {
			logger.WarnContext(ctx, "cannot write to stdout", "error", err)
		}
	}()
}

// deletionReserve is what the store keeps for deletions on a full disk. A deletion writes some pages of each bucket.
const deletionReserve = 1 << 20

// lostTimeout is how long calls may keep a daemon whose store is lost, beyond the drain timeout.
const lostTimeout = 10 * time.Second

// ended waits for the end of what runs. Where the store is lost, it does not wait for calls for ever: they may hang in
// the store.
func (d *daemon) ended(running context.Context, group *errgroup.Group) error {
	cause := context.Cause(running)
	if !errors.Is(cause, storage.ErrLost) {
		return group.Wait()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = group.Wait()
	}()
	timer := time.NewTimer(d.server.DrainTimeout() + lostTimeout)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
	return terminal.AsLost(cause)
}

func (c *Command) reloader(d *daemon, logger *slog.Logger) *reloader {
	return &reloader{
		given: c.given, path: c.ConfigFile, flags: c.flags, daemon: d, level: &c.level, logger: logger,
		running: &config.Settled{Config: c.Config, Sources: c.sources, File: &c.file},
	}
}

// daemon is what a run of the daemon is made of.
type daemon struct {
	server *service.Server
	// guard is nil without tokens, and encryption without TLS.
	guard      *access.Guard
	encryption *certificates.Server
	rotation   *rotation
	// quotas is the file whose quotas are in effect.
	quotas atomic.Pointer[config.File]
	// audit and auditRoom are nil without an audit log.
	audit     *audit.Log
	auditRoom *diskroom.Gate
	// traces is nil without a collector.
	traces *traces.Provider
	// stopping is when the daemon began to stop.
	stopping time.Time
	// refused counts connections that could not be accepted.
	refused prometheus.Counter
}

// build makes the server and what it needs.
func (c *Command) build(
	a *api.App, d *daemon, store *opened, metrics prometheus.Registerer, logger *slog.Logger,
) (err error) {
	if !c.NoAuth {
		if d.guard, err = c.guard(metrics, logger); err != nil {
			return err
		}
	}
	encryption := insecure.NewCredentials()
	if files, used := c.Certificates(); used {
		if d.encryption, err = certificates.NewServer(files, logger, time.Now, metrics); err != nil {
			return fmt.Errorf("cannot speak TLS: %w", err)
		}
		encryption = d.encryption.Credentials()
	}
	a.DefaultSummarizer = c.DefaultSummarizer
	options, err := a.ServiceOptions(store.Store, logger)
	if err != nil {
		return err
	}
	options.Policies = c.Policies(&c.file)
	options.Allowances, err = c.file.Allowances(options.Policies.All(), store.spent)
	if err != nil {
		return store.spent.unreadable(err)
	}
	d.quotas.Store(&c.file)
	options.Quotas = func(tenant string) quota.Limits { return d.quotas.Load().Quota(tenant) }
	options.Heartbeat = c.Heartbeat
	options.Overflow = c.file.Overflow
	options.Metrics = metrics
	options.Audit = d.audit
	if d.traces != nil {
		options.Traces = d.traces
	}
	options.Retention = c.file.Retention
	d.server, err = service.NewServer(service.ServerOptions{
		Options:                options,
		MaxMessageBytes:        c.MaxMessageBytes,
		MaxInflightBytes:       c.MaxInflightBytes,
		MaxConnections:         c.MaxConnections,
		MaxConnectionsOfClient: c.MaxConnectionsOfClient,
		MinFreeBytes:           c.MinFreeBytes,
		DrainTimeout:           c.DrainTimeout,
		Reflection:             c.Reflects(),
		Credentials:            encryption,
		Access:                 d.guard,
	})
	return err
}

// startLog returns the log, and the queue through which it is written. The caller must close the queue.
func (c *Command) startLog(ctx context.Context, a *api.App) (*slog.Logger, *logQueue) {
	queue := newLogQueue(a.Stderr)
	logger := c.logger(queue, a.ErrTerminal)
	queue.start(func(lines int) {
		logger.ErrorContext(ctx, "lines of the log were dropped: nobody read them in time", "lines", lines)
	})
	return logger, queue
}

func (c *Command) logger(out io.Writer, toTerminal bool) *slog.Logger {
	c.level.Set(terminal.LogLevels[c.LogLevel])
	options := &slog.HandlerOptions{Level: &c.level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(out, options))
	}
	if toTerminal {
		options.ReplaceAttr = shorten
	}
	return slog.New(slog.NewTextHandler(out, options))
}

// listening returns the address for --addr. It has the chosen port where the port was 0.
func listening(addr api.Address, listener net.Listener) string {
	if addr.Network == "unix" {
		return addr.String()
	}
	return listener.Addr().String()
}
