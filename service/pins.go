package service

import (
	"context"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
)

// PinMessages implements SessionService.
func (s *Service) PinMessages(
	ctx context.Context, req *compactordv1.PinMessagesRequest,
) (*compactordv1.PinMessagesResponse, error) {
	answer := &compactordv1.PinMessagesResponse{}
	err := s.changePins(ctx, req, answer, func(h *storagev1.Head, members []uint32) (*compactordv1.Record, error) {
		pinned := len(h.GetPins())
		for _, index := range members {
			if !session.Pinned(h, index) {
				pinned++
			}
		}
		switch {
		case pinned == len(h.GetPins()):
			return nil, nil
		case pinned > session.MaxPins:
			return nil, tooManyPins(pinned)
		}
		return &compactordv1.Record{Kind: &compactordv1.Record_Pin{
			Pin: &compactordv1.PinChange{Indexes: sorted(req.GetIndexes()), Members: members},
		}}, nil
	}, func(record *compactordv1.Record, point uint32, report *compactordv1.ContextReport) {
		answer.Record, answer.Point, answer.Report = record, point, report
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// UnpinMessages implements SessionService.
func (s *Service) UnpinMessages(
	ctx context.Context, req *compactordv1.UnpinMessagesRequest,
) (*compactordv1.UnpinMessagesResponse, error) {
	answer := &compactordv1.UnpinMessagesResponse{}
	err := s.changePins(ctx, req, answer, func(h *storagev1.Head, members []uint32) (*compactordv1.Record, error) {
		if !slices.ContainsFunc(members, func(index uint32) bool { return session.Pinned(h, index) }) {
			return nil, nil
		}
		return &compactordv1.Record{Kind: &compactordv1.Record_Unpin{
			Unpin: &compactordv1.PinChange{Indexes: sorted(req.GetIndexes()), Members: members},
		}}, nil
	}, func(record *compactordv1.Record, point uint32, report *compactordv1.ContextReport) {
		answer.Record, answer.Point, answer.Report = record, point, report
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

type pinsRequest interface {
	sessionlog.Identified
	GetSessionId() string
	GetIndexes() []uint32
}

// changePins appends the record that change returns for the messages with their tool groups, or nothing where that is
// nil. fill completes the response.
func (s *Service) changePins(
	ctx context.Context, req pinsRequest, answer proto.Message,
	change func(h *storagev1.Head, members []uint32) (*compactordv1.Record, error),
	fill func(record *compactordv1.Record, point uint32, report *compactordv1.ContextReport),
) error {
	return s.logs.Update(ctx, req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		if known, err := s.logs.Recorded(ctx, row, req, answer); known || err != nil {
			return nil, err
		}
		members, err := s.logs.WithGroups(ctx, row, sorted(req.GetIndexes()))
		if err != nil {
			return nil, err
		}
		record, err := change(row.GetHead(), members)
		if err != nil {
			return nil, err
		}
		if record == nil {
			fill(nil, session.Point(row.GetHead()), sessionlog.Report(row))
			return nil, nil
		}
		w := s.logs.Begin(row)
		if record, err = w.Record(ctx, record, nil); err != nil {
			return nil, err
		}
		report, err := w.Report(ctx)
		if err != nil {
			return nil, err
		}
		fill(record, session.Point(w.Head()), report)
		return w, w.Remember(req, answer)
	})
}

func sorted(indexes []uint32) []uint32 {
	indexes = slices.Clone(indexes)
	slices.Sort(indexes)
	return slices.Compact(indexes)
}

func tooManyPins(count int) *apierror.Error {
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED,
		map[string]string{"limit": "max_pins", "value": strconv.Itoa(session.MaxPins)},
		"indexes: %d messages would be pinned, with their tool groups; a session can have %d", count, session.MaxPins)
}
