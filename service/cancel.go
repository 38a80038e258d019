package service

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

// CancelCompaction implements CompactionService. It also finds the operations of daemons that use the same store.
func (s *Service) CancelCompaction(
	ctx context.Context, req *compactordv1.CancelCompactionRequest,
) (*compactordv1.CancelCompactionResponse, error) {
	row, err := s.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	op := s.operations.Find(row.GetUid(), req.GetOperationId())
	if op == nil {
		answer, err := s.compactor.CancelElsewhere(ctx, row, req.GetOperationId())
		if answer == nil && err == nil {
			err = operationNotFound(req.GetOperationId())
		}
		return answer, err
	}
	op.Cancel(apierror.ErrCancelled)
	if err := op.Wait(ctx); err != nil {
		return nil, err
	}
	return &compactordv1.CancelCompactionResponse{OperationId: op.ID, Ending: op.Ending}, nil
}

func operationNotFound(id string) *apierror.Error {
	if id == "" {
		return apierror.New(compactordv1.ErrorReason_ERROR_REASON_OPERATION_NOT_FOUND, nil,
			"no compaction of this session runs")
	}
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_OPERATION_NOT_FOUND,
		map[string]string{"operation_id": id}, "operation_id: no compaction %q of this session runs", id)
}
