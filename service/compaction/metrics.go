package compaction

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

// Metrics count compactions. Labels have few values: never a tenant, a session or a model's text.
type Metrics struct {
	compactions *prometheus.CounterVec
	duration    *prometheus.HistogramVec
	freed       prometheus.Counter
	tokens      *prometheus.CounterVec
	running     prometheus.Gauge
}

// NewMetrics returns metrics, and registers them if registerer is not nil.
func NewMetrics(registerer prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		compactions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "compactord_compactions_total",
			Help: "Compactions by reason and how they ended: completed, skipped, planned, cancelled, deadline or failed.",
		}, []string{"reason", "outcome"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "compactord_compaction_duration_seconds",
			Help:    "Time from the request of a compaction to its end, by how it ended.",
			Buckets: prometheus.ExponentialBuckets(0.005, 4, 10),
		}, []string{"outcome"}),
		freed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "compactord_freed_tokens_total",
			Help: "Tokens by which compactions and prunes made views smaller, by the sessions' estimators.",
		}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "compactord_compaction_tokens_total",
			Help: "Tokens of views before and after completed compactions and prunes, and freed by them, by strategy.",
		}, []string{"strategy", "kind"}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "compactord_compactions_running",
			Help: "Compactions that run now.",
		}),
	}
	m.prepare()
	if registerer == nil {
		return m, nil
	}
	for _, collector := range []prometheus.Collector{
		m.compactions, m.duration, m.freed, m.tokens, m.running,
	} {
		if err := registerer.Register(collector); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}

// The outcomes of compactions, as the metrics name them.
const (
	outcomeCompleted, outcomeSkipped, outcomePlanned = "completed", "skipped", "planned"
	outcomeCancelled, outcomeDeadline, outcomeFailed = "cancelled", "deadline", "failed"
)

// prepare makes the metrics visible before anything is counted.
func (m *Metrics) prepare() {
	for _, outcome := range []string{
		outcomeCompleted, outcomeSkipped, outcomePlanned, outcomeCancelled, outcomeDeadline, outcomeFailed,
	} {
		m.duration.WithLabelValues(outcome)
		for _, reason := range []compactordv1.CompactionReason{
			compactordv1.CompactionReason_COMPACTION_REASON_MANUAL,
			compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD,
			compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW,
		} {
			m.compactions.WithLabelValues(reasonLabel(reason), outcome)
		}
	}
	for _, strategy := range strategyLabels() {
		for _, kind := range []string{tokensBefore, tokensAfter, tokensFreed} {
			m.tokens.WithLabelValues(strategy, kind)
		}
	}
}

// The kinds of tokens of a compaction, and what stands for a strategy that the contract does not name: one of the client,
// and none, as in a fold of a range.
const (
	tokensBefore, tokensAfter, tokensFreed = "before", "after", "freed"
	strategyOfClient, noStrategy           = "client", "none"
)

var strategyKinds = (&compactordv1.Strategy{}).ProtoReflect().Descriptor().Oneofs().ByName("kind")

// strategyLabels returns all labels of strategies.
func strategyLabels() []string {
	kinds := strategyKinds.Fields()
	labels := slices.Grow([]string{strategyOfClient, noStrategy}, kinds.Len())
	for i := range kinds.Len() {
		labels = append(labels, string(kinds.Get(i).Name()))
	}
	return labels
}

// strategyLabel names the kind of a strategy, never what a client calls its own.
func strategyLabel(p *compactordv1.Provenance) string {
	if p.GetClientStrategy() != "" {
		return strategyOfClient
	}
	if kind := p.GetStrategy().ProtoReflect().WhichOneof(strategyKinds); kind != nil {
		return string(kind.Name())
	}
	return noStrategy
}

// completed counts what a compaction or prune has done to views.
func (m *Metrics) completed(done *compactordv1.CompactionCompleted) {
	m.freed.Add(float64(freedTokens(done)))
	count := func(p *compactordv1.Provenance, before, after uint32) {
		strategy := strategyLabel(p)
		m.tokens.WithLabelValues(strategy, tokensBefore).Add(float64(before))
		m.tokens.WithLabelValues(strategy, tokensAfter).Add(float64(after))
		m.tokens.WithLabelValues(strategy, tokensFreed).Add(float64(before - min(before, after)))
	}
	if entry := done.GetPrune(); entry != nil {
		count(entry.GetProvenance(), entry.GetTokensBefore(), entry.GetTokensAfter())
	}
	if entry := done.GetCompaction(); entry != nil {
		count(entry.GetProvenance(), entry.GetTokensBefore(), entry.GetTokensAfter())
	}
}

func reasonLabel(reason compactordv1.CompactionReason) string {
	return label(reason.String(), "COMPACTION_REASON_")
}

// Pruned counts what a prune outside of compactions freed. entry may be nil.
func (m *Metrics) Pruned(entry *compactordv1.PruneEntry) {
	m.completed(&compactordv1.CompactionCompleted{Prune: entry})
}

// ended counts a compaction by its last event, or without one by its error.
func (m *Metrics) ended(reason compactordv1.CompactionReason, last *compactordv1.CompactionEvent, err error, took time.Duration) {
	if done := last.GetCompleted(); done != nil {
		m.completed(done)
	}
	outcome := outcomeOf(last, err)
	m.compactions.WithLabelValues(reasonLabel(reason), outcome).Inc()
	m.duration.WithLabelValues(outcome).Observe(took.Seconds())
}

// outcomeOf returns the outcome label of a compaction by its last event, or without one by its error.
func outcomeOf(last *compactordv1.CompactionEvent, err error) string {
	switch last.GetEvent().(type) {
	case *compactordv1.CompactionEvent_Completed:
		return outcomeCompleted
	case *compactordv1.CompactionEvent_Skipped:
		return outcomeSkipped
	case *compactordv1.CompactionEvent_Planned:
		return outcomePlanned
	}
	var e *apierror.Error
	if errors.As(err, &e) {
		return failedBy(e.Reason)
	}
	return failedBy(compactordv1.ErrorReason_ERROR_REASON_UNSPECIFIED)
}

// failedBy returns the outcome label for the reason of an error.
func failedBy(reason compactordv1.ErrorReason) string {
	switch reason {
	case compactordv1.ErrorReason_ERROR_REASON_CANCELLED:
		return outcomeCancelled
	case compactordv1.ErrorReason_ERROR_REASON_DEADLINE_EXCEEDED:
		return outcomeDeadline
	default:
		return outcomeFailed
	}
}

// freedTokens returns by how many tokens the view became smaller; 0 where it became larger, as it may where bytes were
// to be freed.
func freedTokens(completed *compactordv1.CompactionCompleted) uint32 {
	before := uint64(completed.GetPrune().GetTokensBefore()) + uint64(completed.GetCompaction().GetTokensBefore())
	after := uint64(completed.GetPrune().GetTokensAfter()) + uint64(completed.GetCompaction().GetTokensAfter())
	return uint32(before - min(before, after))
}

func label(name, prefix string) string { return strings.ToLower(strings.TrimPrefix(name, prefix)) }
