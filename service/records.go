package service

import (
	"context"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/sessionlog"
)

// maxRecordBytesRead is the most bytes of records that one call reads.
const maxRecordBytesRead = 64 << 20

// ListRecords implements SessionService.
func (s *Service) ListRecords(
	ctx context.Context, req *compactordv1.ListRecordsRequest,
) (*compactordv1.ListRecordsResponse, error) {
	row, err := s.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	query := sessionlog.RecordQuery{
		Kinds: req.GetKinds(), CompactionID: req.GetCompactionId(), NewestFirst: req.GetNewestFirst(), From: req.FromSequence,
		Limit: int(pageSize(req.GetPageSize())), MaxBytes: answerBytes(req.GetMaxBytes()), MaxRead: maxRecordBytesRead,
	}
	order := byte(pageOfRecords)
	if req.GetNewestFirst() {
		order = pageOfNewestRecords
	}
	if req.GetPageToken() != "" {
		from, err := pageStart(order, req.GetPageToken(), 0)
		if err != nil {
			return nil, err
		}
		query.From = &from
	}
	page, err := s.logs.RecordPage(ctx, row, query)
	if err != nil {
		return nil, err
	}
	answer := &compactordv1.ListRecordsResponse{Records: page.Records}
	if page.Next != nil {
		answer.NextPageToken = pageToken(order, *page.Next)
	}
	return answer, nil
}
