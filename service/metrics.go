package service

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/summarizers"
)

// metrics count compactions. Labels are of bounded sets: never a tenant, a session or a model's text.
type metrics struct {
	compactions *prometheus.CounterVec
	duration    *prometheus.HistogramVec
	freed       prometheus.Counter
	calls       *prometheus.CounterVec
	retries     *prometheus.CounterVec
	tokens      *prometheus.CounterVec
	cost        *prometheus.CounterVec
	rejected    *prometheus.CounterVec
	fallbacks   *prometheus.CounterVec
	faults      *prometheus.CounterVec
	redactions  prometheus.Counter
	running     prometheus.Gauge
	watchers    prometheus.Gauge
}

// newMetrics registers the metrics; with nil they are counted for nobody.
func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
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
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "compactord_summarizer_calls_total",
			Help: "Requests that summarizers sent to models, by summarizer.",
		}, []string{"summarizer"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "compactord_summarizer_retries_total",
			Help: "Those requests to models that repeated one that had failed, by summarizer.",
		}, []string{"summarizer"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "compactord_summarizer_tokens_total",
			Help: "Tokens that the models of summarizers took, by what they reported: input, cache_read, cache_write and output.",
		}, []string{"summarizer", "kind"}),
		cost: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "compactord_summarizer_cost_usd_total",
			Help: "What summarizers cost in US dollars, where the price is configured, by summarizer.",
		}, []string{"summarizer"}),
		rejected: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "compactord_summaries_rejected_total",
			Help: "Texts by summarizers that did not pass, by summarizer and check.",
		}, []string{"summarizer", "check"}),
		fallbacks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "compactord_fallbacks_total",
			Help: "Texts that the fallback was asked for, by why: rejected, refused, unavailable, timeout or bug.",
		}, []string{"cause"}),
		faults: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "compactord_summarizer_faults_total",
			Help: "What summarizers left out by a bug of theirs, by summarizer and what it was: a message, or a step.",
		}, []string{"summarizer", "what"}),
		redactions: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "compactord_redactions_total",
			Help: "Secrets that were replaced on the way to summarizers and in what they wrote.",
		}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "compactord_compactions_running",
			Help: "Compactions that run now.",
		}),
		watchers: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "compactord_watchers",
			Help: "Clients that watch a session now.",
		}),
	}
	if registerer == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{
		m.compactions, m.duration, m.freed, m.calls, m.retries, m.tokens, m.cost, m.rejected, m.fallbacks, m.faults, m.redactions,
		m.running, m.watchers,
	} {
		if err := registerer.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}

// ended counts a compaction by its last event, or by the error of one that ended without.
func (m *metrics) ended(reason compactordv1.CompactionReason, last *compactordv1.CompactionEvent, err error, took time.Duration) {
	outcome := failedBy(compactordv1.ErrorReason_ERROR_REASON_UNSPECIFIED)
	var e *apierror.Error
	switch k := last.GetEvent().(type) {
	case *compactordv1.CompactionEvent_Completed:
		outcome = "completed"
		m.freed.Add(float64(freedTokens(k.Completed)))
	case *compactordv1.CompactionEvent_Skipped:
		outcome = "skipped"
	case *compactordv1.CompactionEvent_Planned:
		outcome = "planned"
	default:
		if errors.As(err, &e) {
			outcome = failedBy(e.Reason)
		}
	}
	m.compactions.WithLabelValues(label(reason.String(), "COMPACTION_REASON_"), outcome).Inc()
	m.duration.WithLabelValues(outcome).Observe(took.Seconds())
}

// failedBy is the outcome of a compaction that ended with an error.
func failedBy(reason compactordv1.ErrorReason) string {
	switch reason {
	case compactordv1.ErrorReason_ERROR_REASON_CANCELLED:
		return "cancelled"
	case compactordv1.ErrorReason_ERROR_REASON_DEADLINE_EXCEEDED:
		return "deadline"
	default:
		return "failed"
	}
}

// summarized counts what a summarizer took, also for an operation that failed.
func (m *metrics) summarized(by string, spent *written) {
	if spent.calls > 0 {
		m.calls.WithLabelValues(by).Add(float64(spent.calls))
	}
	for kind, tokens := range map[string]uint32{
		"input": spent.usage.GetInputTokens(), "cache_read": spent.usage.GetCacheReadTokens(),
		"cache_write": spent.usage.GetCacheWriteTokens(), "output": spent.usage.GetOutputTokens(),
	} {
		if tokens > 0 {
			m.tokens.WithLabelValues(by, kind).Add(float64(tokens))
		}
	}
	if spent.costUSD != nil {
		m.cost.WithLabelValues(by).Add(max(0, *spent.costUSD))
	}
}

// refused counts a text that did not pass a check; other errors are none.
func (m *metrics) refused(by string, err error) {
	var failed *summarizers.CheckError
	if errors.As(err, &failed) {
		m.rejected.WithLabelValues(by, failed.Check).Inc()
	}
}

// repeated counts what a summarizer had to ask or have written again by itself.
func (m *metrics) repeated(by string, s *summarizers.Summary) {
	if s == nil {
		return
	}
	if s.Retries > 0 {
		m.retries.WithLabelValues(by).Add(float64(s.Retries))
	}
	for _, check := range s.Rejected {
		m.rejected.WithLabelValues(by, check).Inc()
	}
}

// fellBack counts a text that the fallback is asked for.
func (m *metrics) fellBack(why *apierror.Error) {
	cause := "unavailable"
	switch why.Reason { //nolint:exhaustive // The others are no failures of summarizers.
	case compactordv1.ErrorReason_ERROR_REASON_SUMMARY_REJECTED:
		cause = "rejected"
	case compactordv1.ErrorReason_ERROR_REASON_SUMMARIZER_REFUSED:
		cause = "refused"
	case compactordv1.ErrorReason_ERROR_REASON_DEADLINE_EXCEEDED:
		cause = "timeout"
	case compactordv1.ErrorReason_ERROR_REASON_INTERNAL:
		cause = "bug"
	}
	m.fallbacks.WithLabelValues(cause).Inc()
}

// freedTokens is what the view lost in tokens. It may gain some where it was to lose bytes.
func freedTokens(c *compactordv1.CompactionCompleted) uint32 {
	before := uint64(c.GetPrune().GetTokensBefore()) + uint64(c.GetCompaction().GetTokensBefore())
	after := uint64(c.GetPrune().GetTokensAfter()) + uint64(c.GetCompaction().GetTokensAfter())
	return uint32(before - min(before, after))
}

func label(name, prefix string) string { return strings.ToLower(strings.TrimPrefix(name, prefix)) }
