package service

import (
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// callMetrics count what calls return. Labels have few values: never a tenant, a session or a text of a client.
type callMetrics struct {
	views, viewBytes, blocked *prometheus.CounterVec
}

// The kinds of answers with views, as the metrics name them.
const (
	viewWhole = "whole"
	viewDelta = "delta"
	viewSame  = "same"
)

func newCallMetrics(registerer prometheus.Registerer) (*callMetrics, error) {
	m := &callMetrics{
		views: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "compactord_views_total",
			Help: "Pages of views, by what they have: whole for messages from the beginning on, delta for new ones, same for none.",
		}, []string{"kind"}),
		viewBytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "compactord_view_bytes_total",
			Help: "Bytes of the messages in these pages, by the same kinds.",
		}, []string{"kind"}),
		blocked: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "compactord_triggers_blocked_total",
			Help: "Appends after which a compaction could not be due, by what blocks the trigger.",
		}, []string{"by"}),
	}
	for _, kind := range []string{viewWhole, viewDelta, viewSame} {
		m.views.WithLabelValues(kind)
		m.viewBytes.WithLabelValues(kind)
	}
	for number := range compactordv1.BlockedBy_name {
		if by := compactordv1.BlockedBy(number); by != compactordv1.BlockedBy_BLOCKED_BY_UNSPECIFIED {
			m.blocked.WithLabelValues(blockedLabel(by))
		}
	}
	if registerer == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.views, m.viewBytes, m.blocked} {
		if err := registerer.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics: %w", err)
		}
	}
	return m, nil
}

func blockedLabel(by compactordv1.BlockedBy) string {
	return strings.ToLower(strings.TrimPrefix(by.String(), "BLOCKED_BY_"))
}

// viewed counts a page of a view.
func (m *callMetrics) viewed(answer *compactordv1.GetLLMViewResponse) {
	bytes, messages := 0, len(answer.GetMessages())+len(answer.GetMessagesJson())
	for _, rendered := range answer.GetMessagesJson() {
		bytes += len(rendered)
	}
	for _, message := range answer.GetMessages() {
		// The page was filled by these sizes.
		bytes += proto.MarshalOptions{UseCachedSize: true}.Size(message)
	}
	kind := viewDelta
	switch {
	case answer.GetUnchangedPrefix() == 0:
		kind = viewWhole
	case messages == 0:
		kind = viewSame
	}
	m.views.WithLabelValues(kind).Inc()
	m.viewBytes.WithLabelValues(kind).Add(float64(bytes))
}

// appended counts the triggers that are blocked after an append.
func (m *callMetrics) appended(report *compactordv1.ContextReport) {
	for _, by := range report.GetBlockedBy() {
		m.blocked.WithLabelValues(blockedLabel(by)).Inc()
	}
}
