package service

import (
	"context"

	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// ListRecords implements SessionService.
func (s *Service) ListRecords(
	ctx context.Context, req *compactordv1.ListRecordsRequest,
) (*compactordv1.ListRecordsResponse, error) {
	row, err := s.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	next, err := pageStart(pageOfRecords, req.GetPageToken(), req.GetFromSequence())
	if err != nil {
		return nil, err
	}
	answer := &compactordv1.ListRecordsResponse{}
	size, end := 0, row.GetHead().GetNextSequence()
	for next < end {
		chunk, err := s.logs.Records(ctx, row, next, end)
		if err != nil {
			return nil, err
		}
		if len(chunk) == 0 {
			break
		}
		for _, stored := range chunk {
			r := stored.GetRecord()
			size += proto.Size(r)
			full := len(answer.GetRecords()) >= int(pageSize(req.GetPageSize())) || size > answerBytes(req.GetMaxBytes())
			if len(answer.GetRecords()) > 0 && full {
				answer.NextPageToken = pageToken(pageOfRecords, r.GetSequence())
				return answer, nil
			}
			answer.Records = append(answer.Records, r)
			next = r.GetSequence() + 1
		}
	}
	return answer, nil
}
