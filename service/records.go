package service

import (
	"context"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
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

// headAt returns the head at a point of the session's log, or says that the point in that field is beyond its end.
func headAt(
	ctx context.Context, logs *sessionlog.Logs, row *storagev1.Session, point uint32, field string,
) (*storagev1.Head, error) {
	if last := session.Point(row.GetHead()); point > last {
		return nil, apierror.PointOutOfRange(field, point, last)
	}
	return logs.HeadAt(ctx, row, point)
}
