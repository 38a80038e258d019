// Package service implements the RPCs of compactord.v1 on a store.
//
// A Service holds no state of a session that matters. It reads a session's row, computes what an operation writes, and
// commits that on the condition that the row is still the same. What it keeps in memory, running compactions and
// session locks, only saves work. Watchers read the log from the store.
package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/overflow"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/admission"
	"github.com/compactord/compactord/service/allowance"
	"github.com/compactord/compactord/service/audit"
	"github.com/compactord/compactord/service/children"
	"github.com/compactord/compactord/service/compaction"
	"github.com/compactord/compactord/service/diskroom"
	"github.com/compactord/compactord/service/intake"
	"github.com/compactord/compactord/service/operations"
	"github.com/compactord/compactord/service/points"
	"github.com/compactord/compactord/service/policies"
	"github.com/compactord/compactord/service/quota"
	"github.com/compactord/compactord/service/requests"
	"github.com/compactord/compactord/service/retention"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/service/views"
	"github.com/compactord/compactord/service/watching"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// Defaults of Options.
const (
	DefaultHeartbeat = 15 * time.Second
	// DefaultMaxAnswerBytes is the size limit of responses with messages. It keeps them below gRPC's usual limit of 4 MB,
	// so that clients need no special settings.
	DefaultMaxAnswerBytes   = 3 << 20
	DefaultWatchQueue       = 1024
	DefaultWatchReadTimeout = time.Minute
	DefaultLookForEnded     = 15 * time.Second
)

// maxPlanOptions is how much memory the options in a plan token may take.
const maxPlanOptions = 32 << 20

// Options configure a Service.
type Options struct {
	// Store keeps the logs. The caller closes it after the service.
	Store storage.Store
	// Strategies and Summarizers are those that policies can name. The fallback is the summarizer `extractive`.
	Strategies  *strategies.Registry
	Summarizers *summarizers.Registry
	// Dialects are those of provider JSON and of rendered views. May be empty.
	Dialects []dialect.Dialect
	// Overflow has rules for ClassifyError beside the built-in ones. May be empty.
	Overflow overflow.Extra
	// Policies are those of the operator. UsePolicies replaces them.
	Policies policies.Set
	// Allowances say who may use which summarizer, and how much of it. Nil: everybody, as much as they want.
	Allowances *allowance.Allowances
	// Quotas returns what a tenant may take beside the bounds that hold for all. Nil: no tenant has bounds of its own.
	Quotas func(tenant string) quota.Limits
	// Logger receives what operators need to know, never content of conversations.
	Logger *slog.Logger
	// Heartbeat is how long a stream may be silent. Default DefaultHeartbeat.
	Heartbeat time.Duration
	// WatchQueue is how many events of compactions may wait for a client. A watcher with more is too slow, and the client
	// of a detached compaction misses further ones. Default DefaultWatchQueue.
	WatchQueue int
	// WatchReadTimeout is how long a watcher may leave a response unread before it counts as too slow. Default
	// DefaultWatchReadTimeout.
	WatchReadTimeout time.Duration
	// LookForEnded is how often the service looks for compactions of other daemons that have ended, where the store is
	// storage.Shared. Default DefaultLookForEnded.
	LookForEnded time.Duration
	// Admission is how much expensive work runs at a time, and how much may wait. Its metrics are those of the service.
	Admission admission.Options
	// Metrics registers the metrics of compactions and watchers. Nil: they are not registered.
	Metrics prometheus.Registerer
	// Traces records spans of calls; nil for none. Its opener ends it after the service has ended.
	Traces trace.TracerProvider
	// Retention says which sessions are deleted by themselves. The zero policy keeps all. UseRetention replaces it.
	Retention retention.Policy
	// Audit takes a line for each call, and for each session that retention deletes; nil for none. Its opener closes it
	// after the service has ended.
	Audit *audit.Log
	// LeastOutlined is the size in bytes from which on texts of results are read only where they are needed. Default
	// sessionlog.LeastOutlined. Tests make it smaller.
	LeastOutlined int
	// Hooks are for tests.
	Hooks Hooks
}

// Hooks are called during a compaction, so that tests can hold it there.
type Hooks = compaction.Hooks

// Service implements SessionService, CompactionService and StoreService.
type Service struct {
	compactordv1.UnimplementedSessionServiceServer
	compactordv1.UnimplementedCompactionServiceServer
	compactordv1.UnimplementedStoreServiceServer

	logs       *sessionlog.Logs
	policies   *policies.Resolver
	intake     *intake.Intake
	points     *points.Points
	children   *children.Children
	compactor  *compaction.Compactor
	operations *operations.Running
	watchers   *watching.Watchers
	watching   *watching.Watching
	lists      *views.KeptLists
	trails     *views.Trails
	rereads    *views.Rereads
	admission  *admission.Pools
	heavy      heavySessions
	metrics    *callMetrics
	quotas     *quota.Quotas
	sweeper    *retention.Sweeper
	// room refuses writes before the disk is full; nil where that is not asked for.
	room *diskroom.Gate

	strategies  *strategies.Registry
	summarizers *summarizers.Registry
	dialects    map[compactordv1.Dialect]dialect.Dialect
	overflow    *overflow.Classifier
	logger      *slog.Logger
	heartbeat   time.Duration
	hooks       Hooks

	// snapshots copies the store; nil where that cannot be copied. backups has room for the backup that runs.
	snapshots storage.Snapshotter
	backups   chan struct{}
	// shared is the store where other daemons use it too, else nil.
	shared storage.Shared
	// lookForEnded is how often it looks for compactions of daemons that have ended.
	lookForEnded time.Duration
}

// New returns a service. The caller must call Close.
func New(o Options) (*Service, error) {
	if o.Store == nil || o.Strategies == nil || o.Summarizers == nil || o.Logger == nil {
		return nil, errors.New("service: store, strategies, summarizers and logger are needed")
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = DefaultHeartbeat
	}
	if o.Hooks.Now == nil {
		o.Hooks.Now = time.Now
	}
	classifier, err := overflow.New(o.Overflow)
	if err != nil {
		return nil, fmt.Errorf("service: overflow: %w", err)
	}
	watched, err := watching.NewWatchers(o.Metrics)
	if err != nil {
		return nil, err
	}
	reread, err := views.NewRereads(o.Dialects, o.Logger, o.Metrics)
	if err != nil {
		return nil, err
	}
	o.Admission.Metrics = o.Metrics
	admitted, err := admission.New(o.Admission)
	if err != nil {
		return nil, err
	}
	counted, err := newCallMetrics(o.Metrics)
	if err != nil {
		return nil, err
	}
	if o.Quotas == nil {
		o.Quotas = func(string) quota.Limits { return quota.Limits{} }
	}
	s := &Service{}
	quotas, err := quota.New(o.Quotas, keptLogs{s}, o.Hooks.Now, o.Metrics)
	if err != nil {
		return nil, err
	}
	*s = Service{
		admission:   admitted,
		metrics:     counted,
		policies:    policies.NewResolver(o.Strategies, o.Summarizers),
		operations:  &operations.Running{Begin: quotas.BeginCompaction},
		quotas:      quotas,
		watchers:    watched,
		lists:       &views.KeptLists{MaxBytes: views.DefaultKeptBytes},
		trails:      &views.Trails{MaxBytes: views.DefaultTrailBytes},
		rereads:     reread,
		strategies:  o.Strategies,
		summarizers: o.Summarizers,
		dialects:    make(map[compactordv1.Dialect]dialect.Dialect, len(o.Dialects)),
		overflow:    classifier,
		logger:      o.Logger,
		heartbeat:   o.Heartbeat,
		hooks:       o.Hooks,
		backups:     make(chan struct{}, 1),
	}
	s.policies.Allowances = o.Allowances
	s.snapshots, _ = o.Store.(storage.Snapshotter)
	s.shared, _ = o.Store.(storage.Shared)
	s.lookForEnded = cmp.Or(o.LookForEnded, DefaultLookForEnded)
	for _, d := range o.Dialects {
		s.dialects[d.Kind()] = d
	}
	s.logs = sessionlog.New(sessionlog.Options{
		Store: o.Store, Strategies: o.Strategies, Logger: o.Logger, Now: o.Hooks.Now, Wrote: s.watchers.Wake,
		LeastOutlined: o.LeastOutlined, Admit: s.admit, Deleting: s.deleting,
	})
	s.watching = &watching.Watching{
		Logs: s.logs, Watchers: s.watchers, Heartbeat: o.Heartbeat,
		ReadTimeout: cmp.Or(o.WatchReadTimeout, DefaultWatchReadTimeout), Queue: cmp.Or(o.WatchQueue, DefaultWatchQueue),
	}
	config, err := s.compactionConfig(o.Metrics)
	if err != nil {
		return nil, err
	}
	s.compactor = compaction.New(config, s.logs, s.watchers.Publish)
	s.intake = &intake.Intake{
		Logs: s.logs, Dialects: s.dialects, Overflow: s.overflow, Compactor: s.compactor,
		CheckFirst:     requests.CheckFirst,
		MaxAnswerBytes: DefaultMaxAnswerBytes,
	}
	s.children = &children.Children{Logs: s.logs, Policies: s.policies}
	s.points = &points.Points{
		Logs: s.logs, Policies: s.policies, Operations: s.operations, Summaries: config.Summaries, Logger: s.logger,
		Pool: s.admission.Compactions, BeginRevert: s.compactor.BeginRevert,
		BeforeCommit: s.hooks.BeforeCommit,
	}
	s.sweeper, err = retention.New(retention.Options{
		Policy: o.Retention, Sessions: retained{s.logs, s}, Audit: o.Audit, Logger: o.Logger, Now: o.Hooks.Now, Metrics: o.Metrics,
	})
	if err != nil {
		return nil, err
	}
	if err := s.policies.Use(&o.Policies); err != nil {
		return nil, err
	}
	return s, nil
}

// UsePolicies makes policies of the operator those of all calls that begin from now on. Sessions keep the policies that
// they have. On an error, all stays as it was.
func (s *Service) UsePolicies(set policies.Set) error {
	if err := s.policies.Check(&set); err != nil {
		return err
	}
	s.policies.Allowances.AddOwn(set.All())
	return s.policies.Use(&set)
}

// UseRetention makes a policy the one by which sessions are deleted by themselves from now on.
func (s *Service) UseRetention(policy retention.Policy) { s.sweeper.Use(policy) }

func (s *Service) compactionConfig(metrics prometheus.Registerer) (*compaction.Config, error) {
	counted, err := compaction.NewMetrics(metrics)
	if err != nil {
		return nil, err
	}
	texts, err := summaries.NewMetrics(metrics)
	if err != nil {
		return nil, err
	}
	texts.Prepare(s.summarizers.Names())
	return &compaction.Config{
		Policies: s.policies, Strategies: s.strategies, Summarizers: s.summarizers, Dialects: s.dialects,
		Operations: s.operations, Metrics: counted, Logger: s.logger, Hooks: s.hooks, Pool: s.admission.Compactions,
		Summaries: &summaries.Config{
			Summarizers: s.summarizers, Dialects: s.dialects, Logger: s.logger, Metrics: texts, Away: admission.Away,
			Allowances: s.policies.Allowances,
		},
		DecodeRequest: func(ctx context.Context, wire []byte, req *compactordv1.CompactRequest) error {
			return requests.Decode(ctx, wire, req, maxPlanOptions)
		},
		MaxAnswerBytes: DefaultMaxAnswerBytes, EventsAhead: s.watching.Queue,
	}, nil
}

// Close ends the watches, and cancels the running compactions and waits for them.
func (s *Service) Close() {
	s.watchers.Close()
	s.operations.Close()
}
