package service

import (
	"context"
	"errors"

	"google.golang.org/grpc"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/listsync"
)

// SyncMessages implements SessionService.
func (s *Service) SyncMessages(
	req *compactordv1.SyncMessagesRequest, stream grpc.ServerStreamingServer[compactordv1.SyncMessagesResponse],
) error {
	if req.GetMarkCacheBreakpoints() && req.GetDialect() == compactordv1.Dialect_DIALECT_UNSPECIFIED {
		return apierror.InvalidField("mark_cache_breakpoints", "needs a dialect: neutral messages have no place for marks")
	}
	outcome, err := s.syncList(stream.Context(), req)
	if err != nil {
		return err
	}
	if outcome.Lacking != nil {
		return stream.Send(&compactordv1.SyncMessagesResponse{
			Step: &compactordv1.SyncMessagesResponse_Lacking{Lacking: outcome.Lacking},
		})
	}
	synced := outcome.Synced
	err = stream.Send(&compactordv1.SyncMessagesResponse{Step: &compactordv1.SyncMessagesResponse_Synced{Synced: synced}})
	if err != nil {
		return err
	}
	if req.GetCompact() && synced.GetReport().GetShouldCompact() {
		if err := s.compactSynced(req.GetSessionId(), stream); err != nil {
			return err
		}
	}
	return s.sendSyncedView(req, stream)
}

// syncList brings the log in line with the list.
func (s *Service) syncList(ctx context.Context, req *compactordv1.SyncMessagesRequest) (*listsync.Outcome, error) {
	ctx, permit, err := s.admittedSync(ctx, req)
	if err != nil {
		return nil, err
	}
	defer permit.Leave()
	syncer := &listsync.Syncer{Logs: s.logs, Intake: s.intake, View: func(
		ctx context.Context, req *compactordv1.GetLLMViewRequest,
	) (*compactordv1.GetLLMViewResponse, error) {
		return s.view(ctx, s.logs, req)
	}}
	outcome, err := syncer.Sync(ctx, req)
	if err != nil {
		return nil, err
	}
	s.compactor.Metrics.Pruned(outcome.Pruned)
	if outcome.Synced != nil {
		s.metrics.appended(outcome.Synced.GetReport())
	}
	return outcome, nil
}

// compactSynced compacts because that is due. Where another client does it already, or it cannot help, nothing is done:
// the report of the view says why.
func (s *Service) compactSynced(
	id string, stream grpc.ServerStreamingServer[compactordv1.SyncMessagesResponse],
) error {
	run, recorded, err := s.compactor.Start(stream.Context(), &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: id},
		Reason: compactordv1.CompactionReason_COMPACTION_REASON_THRESHOLD,
	}, nil)
	send := func(e *compactordv1.CompactionEvent) error {
		return stream.Send(&compactordv1.SyncMessagesResponse{
			Step: &compactordv1.SyncMessagesResponse_Compaction{Compaction: e},
		})
	}
	if err == nil && recorded == nil {
		err = s.relay(stream.Context(), send, run, false)
	}
	if cannotCompactNow(err) {
		return nil
	}
	return err
}

// cannotCompactNow reports that a compaction was refused before it began, and that the next one may do.
func cannotCompactNow(err error) bool {
	refused := &apierror.Error{}
	if !errors.As(err, &refused) {
		return false
	}
	switch refused.Reason {
	case compactordv1.ErrorReason_ERROR_REASON_COMPACTION_RUNNING, compactordv1.ErrorReason_ERROR_REASON_BREAKER_OPEN,
		compactordv1.ErrorReason_ERROR_REASON_TARGET_UNREACHABLE:
		return true
	default:
		return false
	}
}

// sendSyncedView sends the first page of the view, if one is wanted and can be drawn now.
func (s *Service) sendSyncedView(
	req *compactordv1.SyncMessagesRequest, stream grpc.ServerStreamingServer[compactordv1.SyncMessagesResponse],
) error {
	if req.GetLeaveOutView() {
		return nil
	}
	view, err := s.GetLLMView(stream.Context(), &compactordv1.GetLLMViewRequest{
		Target:    &compactordv1.GetLLMViewRequest_SessionId{SessionId: req.GetSessionId()},
		ViewToken: req.GetViewToken(), Dialect: req.GetDialect(), MaxBytes: req.GetMaxBytes(),
		MarkCacheBreakpoints: req.GetMarkCacheBreakpoints(),
	})
	waits := &apierror.Error{}
	if errors.As(err, &waits) && waits.Reason == compactordv1.ErrorReason_ERROR_REASON_TOOL_CALLS_OPEN {
		return nil
	}
	if err != nil {
		return err
	}
	return stream.Send(&compactordv1.SyncMessagesResponse{Step: &compactordv1.SyncMessagesResponse_View{View: view}})
}
