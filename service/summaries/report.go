package summaries

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/summarizers"
)

// report logs and counts how the texts of an operation were written. It logs each kind of message once per operation,
// and counts every text in the metrics.
type report struct {
	logger    *slog.Logger
	metrics   *Metrics
	operation string

	mu sync.Mutex
	// logged are the kinds that were logged.
	logged map[kind]bool
}

// kind is a kind of message that is logged once per operation.
type kind int

const (
	promptNotUsed kind = iota
	providerFailed
	fallbackWrites
)

// first says whether this kind was not logged yet, and notes that it is now.
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

// answered reports what a summarizer says beside its text.
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

// leftOut reports a bug that a summarizer recovered from. It is logged if it has a stack, as its first occurrence does.
func (r *report) leftOut(ctx context.Context, by string, f summarizers.Fault, of int) {
	r.metrics.faults.WithLabelValues(by, f.Stage).Inc()
	if f.Stack == "" {
		return
	}
	r.logger.LogAttrs(ctx, slog.LevelWarn, "summarizer left something out by a bug",
		slog.String("id", r.operation), slog.String("summarizer", by), slog.String("what", f.Stage),
		slog.Uint64("index", uint64(f.Index)), slog.Int("of", of), slog.String("panic", f.Cause), slog.String("stack", f.Stack))
}

// failed logs a provider's answer where that is why the summarizer wrote nothing.
func (r *report) failed(ctx context.Context, by string, failure error) {
	var e *summarizers.ProviderError
	if !errors.As(failure, &e) || !r.first(providerFailed) {
		return
	}
	r.logger.LogAttrs(ctx, slog.LevelWarn, "summarizer failed",
		slog.String("summarizer", by), slog.Int("http_status", e.Status), slog.String("code", e.Code),
		slog.String("param", e.Param), slog.String("host", e.Host))
}

// fellBack reports that the fallback writes, and why.
func (r *report) fellBack(ctx context.Context, by string, why *apierror.Error) {
	r.metrics.fellBack(why)
	if !r.first(fallbackWrites) {
		return
	}
	r.logger.LogAttrs(ctx, slog.LevelWarn, "fallback writes the summary",
		slog.String("summarizer", by), slog.String("fallback", Fallback),
		slog.String("reason", apierror.ReasonName(why.Reason)), slog.String("check", why.Metadata["check"]))
}
