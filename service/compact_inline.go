package service

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/admission"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/views"
)

// inlineAdmitted builds the log of a history. The compaction then enters its own pool.
func (s *Service) inlineAdmitted(ctx context.Context, req *compactordv1.CompactRequest) (*inline, error) {
	ctx, permit, err := s.admission.Views.Enter(ctx, admission.WeightOf(proto.Size(req)), nil)
	if err != nil {
		return nil, err
	}
	defer permit.Leave()
	return s.inline(ctx, req.GetHistory(), req.GetPolicy())
}

// compactInline is Compact of a history.
func (s *Service) compactInline(
	req *compactordv1.CompactRequest, stream grpc.ServerStreamingServer[compactordv1.CompactResponse],
) error {
	err := refuseWithHistory(map[string]bool{
		"request_id": req.GetRequestId() != "", "detach": req.GetDetach(), "preempt": req.GetPreempt(),
	})
	if err != nil {
		return err
	}
	if req.GetView() != nil && req.GetDryRun() {
		return apierror.InvalidField("view", "does not go with dry_run: nothing is compacted")
	}
	if err := checkBreakpoints(req.GetView(), "view.mark_cache_breakpoints"); err != nil {
		return err
	}
	inlined, err := s.inlineAdmitted(stream.Context(), req)
	if err != nil {
		return err
	}
	if err := s.checkView(stream.Context(), inlined, req.GetView()); err != nil {
		return err
	}
	err = s.compact(inlined.compactor, &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: inlineSession},
		Reason: req.GetReason(), Focus: req.GetFocus(), DryRun: req.GetDryRun(), Replay: req.Replay,
		WillRetry: req.GetWillRetry(), Fold: req.GetFold(),
		// The client has the messages, so a message that is appended here would be lost.
		Policy: &compactordv1.Policy{Overflow: &compactordv1.OverflowPolicy{AutoContinue: proto.Bool(false)}},
	}, stream, inlined.findings)
	if err != nil || req.GetView() == nil {
		return err
	}
	view, err := s.viewOf(stream.Context(), inlined, &compactordv1.GetLLMViewRequest{
		Dialect: req.GetView().GetDialect(), Thinking: req.GetView().Thinking, MaxBytes: req.GetView().GetMaxBytes(),
		MarkCacheBreakpoints: req.GetView().GetMarkCacheBreakpoints(),
	})
	if err != nil {
		return err
	}
	return stream.Send(&compactordv1.CompactResponse{View: view})
}

// checkView refuses a compaction whose view could not be rendered afterwards, before a summarizer costs anything.
func (s *Service) checkView(ctx context.Context, inlined *inline, view *compactordv1.CompactedView) error {
	if view.GetDialect() == compactordv1.Dialect_DIALECT_UNSPECIFIED {
		return nil
	}
	if _, err := s.intake.Dialect(view.GetDialect(), "view.dialect"); err != nil {
		return err
	}
	row, err := inlined.logs.Row(ctx, inlineSession)
	if err != nil {
		return err
	}
	return views.CallsAnswered(row.GetHead())
}

// withBreakpoints is a request that can ask for marks of cache breakpoints.
type withBreakpoints interface {
	GetMarkCacheBreakpoints() bool
	GetDialect() compactordv1.Dialect
}

// checkBreakpoints refuses marks without a dialect. field is where the request asks for them.
func checkBreakpoints(req withBreakpoints, field string) error {
	if req.GetMarkCacheBreakpoints() && req.GetDialect() == compactordv1.Dialect_DIALECT_UNSPECIFIED {
		return apierror.InvalidField(field, "needs a dialect: neutral messages have no place for marks")
	}
	return nil
}
