package service

import (
	"context"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
)

// ListCompactions implements CompactionService.
func (s *Service) ListCompactions(
	ctx context.Context, req *compactordv1.ListCompactionsRequest,
) (*compactordv1.ListCompactionsResponse, error) {
	row, err := s.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	before, err := pageStart(pageOfCompactions, req.GetPageToken(), 0)
	if err != nil {
		return nil, err
	}
	size := int(pageSize(req.GetPageSize()))
	// One more than asked for tells whether there is a next page.
	stored, err := s.logs.Compactions(ctx, row, before, size+1)
	if err != nil {
		return nil, err
	}
	answer := &compactordv1.ListCompactionsResponse{}
	bytes := 0
	for _, r := range stored {
		entry := r.GetRecord().GetCompaction()
		bytes += proto.Size(entry)
		n := len(answer.GetCompactions())
		if n == size || n > 0 && bytes > DefaultMaxAnswerBytes {
			answer.NextPageToken = pageToken(pageOfCompactions, answer.GetCompactions()[n-1].GetSequence())
			break
		}
		answer.Compactions = append(answer.Compactions, entry)
	}
	return answer, nil
}

// compactionChunk is how many entries are read at a time: each can hold a long summary.
const compactionChunk = 16

// GetCompaction implements CompactionService.
func (s *Service) GetCompaction(
	ctx context.Context, req *compactordv1.GetCompactionRequest,
) (*compactordv1.GetCompactionResponse, error) {
	row, err := s.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	for before := uint32(0); ; {
		stored, err := s.logs.Compactions(ctx, row, before, compactionChunk)
		if err != nil {
			return nil, err
		}
		for _, r := range stored {
			if entry := r.GetRecord().GetCompaction(); entry.GetId() == req.GetCompactionId() {
				return &compactordv1.GetCompactionResponse{Compaction: entry}, nil
			}
			before = r.GetRecord().GetSequence()
		}
		if len(stored) < compactionChunk {
			break
		}
	}
	return nil, apierror.New(compactordv1.ErrorReason_ERROR_REASON_COMPACTION_NOT_FOUND,
		map[string]string{"compaction_id": req.GetCompactionId()},
		"session %q has no compaction %q", req.GetSessionId(), req.GetCompactionId())
}
