package service

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/redaction"
)

// author has texts written for one operation, by the summarizer of a policy or its fallback, and keeps what holds for all
// of them: the time limits, the secrets that were replaced, and whether the summarizer is out of reach.
type author struct {
	service *Service
	policy  *compactordv1.SummaryPolicy
	// redactor replaces secrets; nil where the policy wants none replaced. Pieces that are only shown go through streamed,
	// so that nothing counts twice.
	redactor, streamed *redaction.Redactor
	// try limits one request to the summarizer, total all of them, which is over at the deadline. The fallback has no limit: it is what is left then.
	try, total time.Duration
	deadline   time.Time
	// operation is its id, under which the log has what fails by a bug.
	operation string
	// payer is who pays for what is spent, where that is not the summarizer that was asked.
	payer string

	// mu guards what follows: several texts may be written at a time.
	mu sync.Mutex
	// asked is the summarizer, once it was asked.
	asked string
	// gone is why the summarizer's provider is not asked again in this operation; nil where it may be.
	gone error
	// told says that the log has the provider's failure, toldAsText that it has why the agent's own prompt was not used,
	// and toldFallback that the fallback had to write.
	told, toldAsText, toldFallback bool
}

// newAuthor returns the author for an operation on the session with this uid. Its time begins now. Once ctx has ended
// it redacts nothing more.
func (s *Service) newAuthor(ctx context.Context, p *compactordv1.Policy, uid, operation string) *author {
	a := &author{service: s, policy: p.GetSummary(), operation: operation}
	a.try, a.total = s.summaryLimits(a.policy)
	a.deadline = time.Now().Add(a.total)
	if a.policy.GetRedact() {
		a.redactor, a.streamed = redaction.New(ctx, uid), redaction.New(ctx, uid)
	}
	return a
}

// summaryLimits are the time limits of one request to the summarizer and of all: the policy's, else the summarizer's own,
// else the daemon's.
func (s *Service) summaryLimits(p *compactordv1.SummaryPolicy) (try, total time.Duration) {
	if chosen, err := s.summarizers.Get(p.GetSummarizer()); err == nil {
		if own, has := chosen.(summarizers.Persistent); has {
			try, total = own.Timeouts()
		}
	}
	if try == 0 {
		try = defaultTryTimeout
	}
	if total == 0 {
		total = defaultTotalTimeout
	}
	return duration(p.GetTryTimeout(), try), duration(p.GetTotalTimeout(), total)
}

// redact replaces the secrets in what is sent to a summarizer or stored.
func (a *author) redact(text string) string {
	if a.redactor == nil {
		return text
	}
	return a.redactor.Text(text)
}

// asRedacted is a request that counts texts as they are once their secrets are replaced: what stands for a short one is
// longer, and a text that just fitted would be over its budget.
func (a *author) asRedacted(req *summarizers.Request) *summarizers.Request {
	asked := *req
	asked.Count = func(text string) uint32 { return req.Count(a.streamed.Text(text)) }
	return &asked
}

// redactions counts the secrets that were replaced so far.
func (a *author) redactions() uint32 {
	if a.redactor == nil {
		return 0
	}
	return a.redactor.Count()
}

// request fills in what all requests of the operation have in common.
func (a *author) request(req *summarizers.Request, counter session.Counter) *summarizers.Request {
	req.Count = func(text string) uint32 { return session.TextTokens(counter, text) }
	req.TryTimeout = a.try
	req.Input = inputOf(a.policy.GetInput())
	req.Focus = a.redact(req.Focus)
	if req.Kind != summarizers.Observation {
		req.PromptOverride = a.policy.GetPromptOverride()
	}
	for _, text := range a.policy.GetExtraContext().GetTexts() {
		req.ExtraContext = append(req.ExtraContext, a.redact(text))
	}
	if a.redactor != nil {
		req.Redact = a.redactor.Text
	}
	return req
}

// The characters of a tool result and of a call's arguments that a model is shown, where no policy was resolved.
const defaultInputChars = 2000

func inputOf(p *compactordv1.SummaryInput) summarizers.Input {
	in := summarizers.Input{
		ToolResultChars: defaultInputChars, ToolArgumentChars: defaultInputChars,
		Thinking: p == nil || p.Thinking == nil || p.GetThinking(),
	}
	if p != nil && p.ToolResultChars != nil {
		in.ToolResultChars = int(p.GetToolResultChars())
	}
	if p != nil && p.ToolArgumentChars != nil {
		in.ToolArgumentChars = int(p.GetToolArgumentChars())
	}
	return in
}

// atATime is how many texts the policy's summarizer writes at a time.
func (a *author) atATime() int {
	if chosen, err := a.service.summarizers.Get(a.policy.GetSummarizer()); err == nil {
		if several, can := chosen.(summarizers.Concurrent); can {
			return max(1, several.Concurrency())
		}
	}
	return 1
}

// asks says that a summarizer is asked, or why its provider is not to be asked again.
func (a *author) asks(name string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = name
	return a.gone
}

// fellBack says in the log that the fallback writes, and why: once, however many texts it is that it writes.
func (a *author) fellBack(ctx context.Context, by string, failure *apierror.Error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.toldFallback {
		return
	}
	a.toldFallback = true
	a.service.logger.LogAttrs(ctx, slog.LevelWarn, "fallback writes the summary",
		slog.String("summarizer", by), slog.String("fallback", fallbackSummarizer),
		slog.String("reason", apierror.ReasonName(failure.Reason)), slog.String("check", failure.Metadata["check"]))
}

// failed takes note of why a summarizer wrote nothing. A provider that no request of this operation would reach is not
// asked again, and the log says once what it answered.
func (a *author) failed(ctx context.Context, by string, failure error) {
	var e *summarizers.ProviderError
	if !errors.As(failure, &e) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if e.Retryable || e.RefusesAll {
		a.gone = failure
	}
	if a.told {
		return
	}
	a.told = true
	a.service.logger.LogAttrs(ctx, slog.LevelWarn, "summarizer failed",
		slog.String("summarizer", by), slog.Int("http_status", e.Status), slog.String("code", e.Code),
		slog.String("param", e.Param), slog.String("host", e.Host))
}

// gotOver tells of the bugs that a summarizer got over: each in a line of the log, as long as it has a stack of its own, and
// in the metrics.
func (a *author) gotOver(ctx context.Context, by string, s *summarizers.Summary) {
	if s == nil {
		return
	}
	for _, f := range s.Faults {
		a.service.metrics.faults.WithLabelValues(by, f.Stage).Inc()
		if f.Stack == "" {
			continue
		}
		a.service.logger.LogAttrs(ctx, slog.LevelWarn, "summarizer left something out by a bug",
			slog.String("id", a.operation), slog.String("summarizer", by), slog.String("what", f.Stage),
			slog.Uint64("index", uint64(f.Index)), slog.Int("of", len(s.Faults)), slog.String("panic", f.Cause), slog.String("stack", f.Stack))
	}
}

// sentAsText says in the log why a summary was not written on the agent's own prompt, as the policy has it.
func (a *author) sentAsText(ctx context.Context, by string, s *summarizers.Summary) {
	if s == nil || s.AsText == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.toldAsText {
		return
	}
	a.toldAsText = true
	a.service.logger.LogAttrs(ctx, slog.LevelInfo, "agent's own prompt not used",
		slog.String("summarizer", by), slog.String("why", s.AsText))
}

// count counts what the operation took. Without an author nothing was asked for.
func (a *author) count(spent *written) {
	if a == nil {
		return
	}
	a.service.metrics.summarized(cmp.Or(a.payer, a.asked, summarizers.Client), spent)
	a.service.metrics.redactions.Add(float64(a.redactions()))
}
