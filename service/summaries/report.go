package summaries

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/summarizers"
)

// report tells operators what they need to know of how the texts of an operation were written, however many they are:
// in the log once of each kind, and in the metrics of each text.
type report struct {
	logger    *slog.Logger
	metrics   *Metrics
	operation string

	mu sync.Mutex
	// logged are the kinds that the log has.
	logged map[kind]bool
}

// kind is what the log has once for an operation.
type kind int

const (
	promptNotUsed kind = iota
	providerFailed
	fallbackWrites
)

// first says whether this is the first of its kind.
func (r *report) first(k kind) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.logged[k] {
		return false
	}
	if r.logged == nil {
		r.logged = make(map[kind]bool)
	}
	r.logged[k] = true
	return true
}

// answered tells of what a summarizer says beside its text.
func (r *report) answered(ctx context.Context, by string, s *summarizers.Summary) {
	if s == nil {
		return
	}
	r.metrics.repeated(by, s)
	if s.AsText != "" && r.first(promptNotUsed) {
		r.logger.LogAttrs(ctx, slog.LevelInfo, "agent's own prompt not used",
			slog.String("summarizer", by), slog.String("why", s.AsText))
	}
	for _, f := range s.Faults {
		r.leftOut(ctx, by, f, len(s.Faults))
	}
}

// leftOut tells of a bug that a summarizer got over. The log has each that has a stack of its own.
func (r *report) leftOut(ctx context.Context, by string, f summarizers.Fault, of int) {
	r.metrics.faults.WithLabelValues(by, f.Stage).Inc()
	if f.Stack == "" {
		return
	}
	r.logger.LogAttrs(ctx, slog.LevelWarn, "summarizer left something out by a bug",
		slog.String("id", r.operation), slog.String("summarizer", by), slog.String("what", f.Stage),
		slog.Uint64("index", uint64(f.Index)), slog.Int("of", of), slog.String("panic", f.Cause), slog.String("stack", f.Stack))
}

// failed tells what the provider answered, where that is why a summarizer wrote nothing.
func (r *report) failed(ctx context.Context, by string, failure error) {
	var e *summarizers.ProviderError
	if !errors.As(failure, &e) || !r.first(providerFailed) {
		return
	}
	r.logger.LogAttrs(ctx, slog.LevelWarn, "summarizer failed",
		slog.String("summarizer", by), slog.Int("http_status", e.Status), slog.String("code", e.Code),
		slog.String("param", e.Param), slog.String("host", e.Host))
}

// fellBack tells that the fallback writes, and why.
func (r *report) fellBack(ctx context.Context, by string, why *apierror.Error) {
	r.metrics.fellBack(why)
	if !r.first(fallbackWrites) {
		return
	}
	r.logger.LogAttrs(ctx, slog.LevelWarn, "fallback writes the summary",
		slog.String("summarizer", by), slog.String("fallback", Fallback),
		slog.String("reason", apierror.ReasonName(why.Reason)), slog.String("check", why.Metadata["check"]))
}
