package summaries

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/summarizers"
)

// Metrics count texts and their costs. Labels have few values: never a tenant, a session or a model's text.
type Metrics struct {
	calls      *prometheus.CounterVec
	retries    *prometheus.CounterVec
	tokens     *prometheus.CounterVec
	cost       *prometheus.CounterVec
	rejected   *prometheus.CounterVec
	fallbacks  *prometheus.CounterVec
	failures   *prometheus.CounterVec
	faults     *prometheus.CounterVec
	redactions prometheus.Counter
}

// NewMetrics returns metrics, and registers them if registerer is not nil.
func NewMetrics(registerer prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
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
			Help: "Texts that the fallback was asked for, by why: rejected, refused, unavailable, timeout, limit or bug.",
		}, []string{"cause"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "compactord_summarizer_failures_total",
			Help: "Texts that a summarizer did not write, by summarizer and why: rejected, refused, unavailable, timeout, limit or bug.",
		}, []string{"summarizer", "cause"}),
		faults: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "compactord_summarizer_faults_total",
			Help: "What summarizers left out by a bug of theirs, by summarizer and what it was: a message, or a step.",
		}, []string{"summarizer", "what"}),
		redactions: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "compactord_redactions_total",
			Help: "Secrets that were replaced on the way to summarizers and in what they wrote.",
		}),
	}
	if registerer == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{
		m.calls, m.retries, m.tokens, m.cost, m.rejected, m.fallbacks, m.failures, m.faults, m.redactions,
	} {
		if err := registerer.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}

// Prepare makes the counters of summarizers with these names visible before anything is counted. Costs are left out: not
// each summarizer has a price.
func (m *Metrics) Prepare(names []string) {
	for _, by := range names {
		m.calls.WithLabelValues(by)
		m.retries.WithLabelValues(by)
		for _, kind := range []string{kindInput, kindCacheRead, kindCacheWrite, kindOutput} {
			m.tokens.WithLabelValues(by, kind)
		}
		for _, check := range summarizers.Checks() {
			m.rejected.WithLabelValues(by, check)
		}
		for _, stage := range summarizers.Stages() {
			m.faults.WithLabelValues(by, stage)
		}
	}
	for _, cause := range []string{causeRejected, causeRefused, causeTimeout, causeBug, causeLimit, causeUnavailable} {
		m.fallbacks.WithLabelValues(cause)
		for _, by := range names {
			m.failures.WithLabelValues(by, cause)
		}
	}
}

// The kinds of tokens, and why the fallback was asked for, as the metrics name them.
const (
	kindInput, kindCacheRead, kindCacheWrite, kindOutput = "input", "cache_read", "cache_write", "output"

	causeRejected, causeRefused, causeUnavailable = "rejected", "refused", "unavailable"
	causeTimeout, causeBug, causeLimit            = "timeout", "bug", "limit"
)

// spent counts the costs of an operation, also where it failed.
func (m *Metrics) spent(by string, spent Spent) {
	if spent.Calls > 0 {
		m.calls.WithLabelValues(by).Add(float64(spent.Calls))
	}
	for kind, tokens := range map[string]uint32{
		kindInput: spent.Usage.GetInputTokens(), kindCacheRead: spent.Usage.GetCacheReadTokens(),
		kindCacheWrite: spent.Usage.GetCacheWriteTokens(), kindOutput: spent.Usage.GetOutputTokens(),
	} {
		if tokens > 0 {
			m.tokens.WithLabelValues(by, kind).Add(float64(tokens))
		}
	}
	if spent.CostUSD != nil {
		m.cost.WithLabelValues(by).Add(max(0, *spent.CostUSD))
	}
}

// refused counts a text that did not pass a check. It ignores other errors.
func (m *Metrics) refused(by string, err error) {
	var failed *summarizers.CheckError
	if errors.As(err, &failed) {
		m.rejected.WithLabelValues(by, failed.Check).Inc()
	}
}

// repeated counts the retries and refused texts inside of a summarizer.
func (m *Metrics) repeated(by string, s *summarizers.Summary) {
	if s.Retries > 0 {
		m.retries.WithLabelValues(by).Add(float64(s.Retries))
	}
	for _, check := range s.Rejected {
		m.rejected.WithLabelValues(by, check).Inc()
	}
}

// fellBack counts a text that the fallback is asked for.
func (m *Metrics) fellBack(why *apierror.Error) { m.fallbacks.WithLabelValues(causeOf(why)).Inc() }

// failed counts a text that a summarizer did not write.
func (m *Metrics) failed(by string, why *apierror.Error) {
	m.failures.WithLabelValues(by, causeOf(why)).Inc()
}

func causeOf(why *apierror.Error) string {
	switch why.Reason {
	case compactordv1.ErrorReason_ERROR_REASON_SUMMARY_REJECTED:
		return causeRejected
	case compactordv1.ErrorReason_ERROR_REASON_SUMMARIZER_REFUSED:
		return causeRefused
	case compactordv1.ErrorReason_ERROR_REASON_DEADLINE_EXCEEDED:
		return causeTimeout
	case compactordv1.ErrorReason_ERROR_REASON_INTERNAL:
		return causeBug
	case compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED:
		return causeLimit
	default:
		return causeUnavailable
	}
}
