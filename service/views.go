package service

import (
	"context"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/service/views"
	"github.com/compactord/compactord/tracing"
)

// GetLLMView implements CompactionService.
func (s *Service) GetLLMView(
	ctx context.Context, req *compactordv1.GetLLMViewRequest,
) (*compactordv1.GetLLMViewResponse, error) {
	if err := checkBreakpoints(req, "mark_cache_breakpoints"); err != nil {
		return nil, err
	}
	switch {
	case req.GetWithSources() && req.GetDialect() == compactordv1.Dialect_DIALECT_UNSPECIFIED:
		return nil, apierror.InvalidField("with_sources", "needs a dialect: each neutral message says itself where it comes from")
	case req.GetHistory() != nil:
		return s.viewInline(ctx, req)
	case req.GetPolicy() != nil:
		return nil, apierror.InvalidField("policy", "goes with a history: a session has its own")
	}
	answer, err := s.view(ctx, s.logs, req)
	if err == nil {
		s.metrics.viewed(answer)
	}
	return answer, err
}

// view returns the view of a session in logs.
func (s *Service) view(
	ctx context.Context, logs *sessionlog.Logs, req *compactordv1.GetLLMViewRequest,
) (answer *compactordv1.GetLLMViewResponse, err error) {
	row, err := logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	head := row.GetHead()
	if req.AsOf != nil {
		if head, err = logs.RequestedHead(ctx, row, req.GetAsOf(), "as_of"); err != nil {
			return nil, err
		}
	}
	r := &views.Request{
		Row: row, Head: head, Thinking: req.GetThinking(), Held: req.GetViewToken(),
		MarkBreakpoints: req.GetMarkCacheBreakpoints(), Sources: req.GetWithSources(), MaxBytes: answerBytes(req.GetMaxBytes()), Rereads: s.rereads,
	}
	// An inline history has no next page and no next view.
	if logs == s.logs {
		r.Kept, r.Trails = s.lists, s.trails
	}
	if err := checkExtraBlocks(head, req.GetExtraBlocks()); err != nil {
		return nil, err
	}
	work := r.WorkBytes(req.GetDialect())
	if len(req.GetExtraBlocks()) > 0 {
		// They are not counted yet, and without that it is not known whether a list of this very view is kept.
		work = int(head.GetViewBytes()) + proto.Size(req)
	}
	_, span := tracing.Begin(ctx, "wait for the pool")
	ctx, permit, err := s.admittedView(ctx, work)
	span.EndWith(err)
	if err != nil {
		return nil, err
	}
	defer permit.Leave()
	ctx, span = tracing.Begin(ctx, "draw view")
	defer func() { span.EndWith(err) }()
	if r.Extra, err = extraBlocks(row, head, req.GetExtraBlocks()); err != nil {
		return nil, err
	}
	if req.GetDialect() == compactordv1.Dialect_DIALECT_UNSPECIFIED {
		return views.Neutral(ctx, logs, r)
	}
	shape, err := s.intake.Dialect(req.GetDialect(), "dialect")
	if err != nil {
		return nil, err
	}
	return views.InDialect(ctx, logs, shape, r)
}
