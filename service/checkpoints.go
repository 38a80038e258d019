package service

import (
	"context"
	"fmt"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

// CreateCheckpoint implements SessionService.
func (s *Service) CreateCheckpoint(
	ctx context.Context, req *compactordv1.CreateCheckpointRequest,
) (*compactordv1.CreateCheckpointResponse, error) {
	return s.points.Checkpoint(ctx, req)
}

// RevertToCheckpoint implements SessionService.
func (s *Service) RevertToCheckpoint(
	ctx context.Context, req *compactordv1.RevertToCheckpointRequest,
) (*compactordv1.RevertToCheckpointResponse, error) {
	return s.points.Revert(ctx, req)
}

// ClearSession implements SessionService.
func (s *Service) ClearSession(
	ctx context.Context, req *compactordv1.ClearSessionRequest,
) (*compactordv1.ClearSessionResponse, error) {
	return s.points.Clear(ctx, req)
}

// ListCheckpoints implements SessionService.
func (s *Service) ListCheckpoints(
	ctx context.Context, req *compactordv1.ListCheckpointsRequest,
) (*compactordv1.ListCheckpointsResponse, error) {
	row, err := s.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	next, err := pageStart(pageOfCheckpoints, req.GetPageToken(), 1)
	if err != nil {
		return nil, err
	}
	head, answer := row.GetHead(), &compactordv1.ListCheckpointsResponse{}
	if next > head.GetLastCheckpoint() {
		return answer, nil
	}
	first, err := s.logs.CheckpointRecord(ctx, row, next)
	if err != nil {
		return nil, err
	}
	sequence := first.GetSequence()
	for next <= head.GetLastCheckpoint() {
		chunk, err := s.logs.Records(ctx, row, sequence, head.GetNextSequence())
		if err != nil {
			return nil, err
		}
		if len(chunk) == 0 {
			return nil, fmt.Errorf("%w: no record of checkpoint %d", storage.ErrCorrupt, next)
		}
		for _, stored := range chunk {
			r := stored.GetRecord()
			sequence = r.GetSequence() + 1
			if r.GetCheckpoint() == nil {
				continue
			}
			if len(answer.GetCheckpoints()) == int(pageSize(req.GetPageSize())) {
				answer.NextPageToken = pageToken(pageOfCheckpoints, r.GetCheckpoint().GetId())
				return answer, nil
			}
			next = r.GetCheckpoint().GetId() + 1
			answer.Checkpoints = append(answer.Checkpoints, &compactordv1.ListedCheckpoint{
				Checkpoint: r.GetCheckpoint(), PutAside: !session.InForce(head, r.GetSequence()),
				NextIndex: r.GetNextIndex(), CreatedAt: r.GetCreatedAt(),
			})
		}
	}
	return answer, nil
}
