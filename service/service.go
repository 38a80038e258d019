// Package service answers the RPCs of compactord.v1 on a store.
//
// A Service holds no state of a session that matters: it reads a session's row, computes what an operation writes, and
// commits on the condition that the row is still the same. What it keeps in memory, running compactions and locks,
// only saves work; watchers read what they are told from the store.
package service

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/overflow"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/compaction"
	"github.com/compactord/compactord/service/intake"
	"github.com/compactord/compactord/service/interceptors"
	"github.com/compactord/compactord/service/operations"
	"github.com/compactord/compactord/service/points"
	"github.com/compactord/compactord/service/policies"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/service/watching"
	"github.com/compactord/compactord/storage"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
)

// Defaults of Options.
const (
	DefaultHeartbeat = 15 * time.Second
	// DefaultMaxAnswerBytes is where answers with messages end, so that clients with gRPC's usual limit of 4 MB just work.
	DefaultMaxAnswerBytes = 3 << 20
	DefaultWatchQueue     = 1024
	DefaultWatchPatience  = time.Minute
)

// Options are what a Service is made of.
type Options struct {
	// Store keeps the logs. Whoever opened it closes it, after the service has been closed.
	Store storage.Store
	// Strategies and Summarizers are what policies can name. The fallback of summaries is the summarizer `extractive`.
	Strategies  *strategies.Registry
	Summarizers *summarizers.Registry
	// Dialects are the shapes that provider JSON can have and views can be rendered in. May be empty.
	Dialects []dialect.Dialect
	// Overflow is what ClassifyError knows beside the built-in rules. May be empty.
	Overflow overflow.Extra
	// DefaultPolicy is what sessions start from, under what they give themselves. May be nil.
	DefaultPolicy *compactordv1.Policy
	// Logger takes what operators need to know; never content of conversations.
	Logger *slog.Logger
	// Heartbeat is how long a stream may be silent. Default DefaultHeartbeat.
	Heartbeat time.Duration
	// WatchQueue is how many events of compactions may wait for a watcher before it counts as too slow, or for the stream
	// of a detached compaction before it misses some. Default DefaultWatchQueue.
	WatchQueue int
	// WatchPatience is how long the client of a watcher may leave an answer unread before it counts as too slow. Default
	// DefaultWatchPatience.
	WatchPatience time.Duration
	// Metrics takes the metrics of compactions. Nil: nobody wants them.
	Metrics prometheus.Registerer
	// Hooks are for tests.
	Hooks Hooks
}

// Hooks are called at the stages of a compaction, so that tests can hold it there.
type Hooks = compaction.Hooks

// Service implements SessionService and CompactionService.
type Service struct {
	compactordv1.UnimplementedSessionServiceServer
	compactordv1.UnimplementedCompactionServiceServer

	logs       *sessionlog.Logs
	policies   *policies.Resolver
	intake     *intake.Intake
	points     *points.Points
	compactor  *compaction.Compactor
	operations *operations.Running
	watchers   *watching.Watchers
	watching   *watching.Watching

	strategies  *strategies.Registry
	summarizers *summarizers.Registry
	dialects    map[compactordv1.Dialect]dialect.Dialect
	overflow    *overflow.Classifier
	logger      *slog.Logger
	heartbeat   time.Duration
	hooks       Hooks
}

// New returns a service. Close ends it.
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
	s := &Service{
		policies:    &policies.Resolver{Default: o.DefaultPolicy, Strategies: o.Strategies, Summarizers: o.Summarizers},
		operations:  &operations.Running{},
		watchers:    watched,
		strategies:  o.Strategies,
		summarizers: o.Summarizers,
		dialects:    make(map[compactordv1.Dialect]dialect.Dialect, len(o.Dialects)),
		overflow:    classifier,
		logger:      o.Logger,
		heartbeat:   o.Heartbeat,
		hooks:       o.Hooks,
	}
	for _, d := range o.Dialects {
		s.dialects[d.Kind()] = d
	}
	s.logs = sessionlog.New(sessionlog.Options{
		Store: o.Store, Logger: o.Logger, Now: o.Hooks.Now, Wrote: s.watchers.Wake,
	})
	s.watching = &watching.Watching{
		Logs: s.logs, Watchers: s.watchers, Heartbeat: o.Heartbeat,
		Patience: cmp.Or(o.WatchPatience, DefaultWatchPatience), Queue: cmp.Or(o.WatchQueue, DefaultWatchQueue),
	}
	config, err := s.compactionConfig(o.Metrics)
	if err != nil {
		return nil, err
	}
	s.compactor = compaction.New(config, s.logs, s.watchers.Publish)
	s.intake = &intake.Intake{
		Logs: s.logs, Dialects: s.dialects, Overflow: s.overflow, Compactor: s.compactor,
		MaxAnswerBytes: DefaultMaxAnswerBytes,
	}
	s.points = &points.Points{
		Logs: s.logs, Policies: s.policies, Operations: s.operations, Summaries: config.Summaries, Logger: s.logger,
		BeforeCommit: s.hooks.BeforeCommit,
	}
	if _, err := s.policies.Resolve(nil); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Service) compactionConfig(metrics prometheus.Registerer) (*compaction.Config, error) {
	counted, err := compaction.NewMetrics(metrics)
	if err != nil {
		return nil, err
	}
	texts, err := summaries.NewMetrics(metrics)
	if err != nil {
		return nil, err
	}
	return &compaction.Config{
		Policies: s.policies, Strategies: s.strategies, Summarizers: s.summarizers, Dialects: s.dialects,
		Operations: s.operations, Metrics: counted, Logger: s.logger, Hooks: s.hooks,
		Summaries: &summaries.Config{
			Summarizers: s.summarizers, Dialects: s.dialects, Logger: s.logger, Metrics: texts,
		},
		CheckRequest:   interceptors.CheckContract,
		MaxAnswerBytes: DefaultMaxAnswerBytes, EventsAhead: s.watching.Queue,
	}, nil
}

// Close ends the watchers, cancels the running compactions and waits for these.
func (s *Service) Close() {
	s.watchers.Close()
	s.operations.Close()
}
