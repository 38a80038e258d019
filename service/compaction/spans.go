package compaction

import (
	"go.opentelemetry.io/otel/attribute"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/tracing"
)

// endSpan ends the span of a compaction with its outcome, which is the word of the metrics.
func endSpan(span tracing.Span, ending *compactordv1.CompactionEvent, err error) {
	if span.Recording() {
		span.Set(attribute.String("compactord.outcome", outcomeOf(ending, err)))
	}
	span.EndWith(err)
}

// endStep ends the span of a step. To skip a compaction is no failure.
func endStep(span tracing.Span, err error) {
	if asSkip(err) != nil {
		err = nil
	}
	span.EndWith(err)
}
