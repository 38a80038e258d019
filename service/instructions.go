package service

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
)

// maxInstructionBytes is the most bytes of instructions, in protobuf encoding.
const maxInstructionBytes = 1 << 20

// ReplaceInstructions implements SessionService.
func (s *Service) ReplaceInstructions(
	ctx context.Context, req *compactordv1.ReplaceInstructionsRequest,
) (*compactordv1.ReplaceInstructionsResponse, error) {
	messages, err := instructionsOf(req)
	if err != nil {
		return nil, err
	}
	answer := &compactordv1.ReplaceInstructionsResponse{}
	err = s.logs.Update(ctx, req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		if known, err := s.logs.Recorded(ctx, row, req, answer); known || err != nil {
			return nil, err
		}
		w := s.logs.Begin(row)
		state, err := w.State(ctx)
		if err != nil {
			return nil, err
		}
		if slices.EqualFunc(state.LeadingShown(), messages, func(a, b *compactordv1.Message) bool { return proto.Equal(a, b) }) {
			answer.Point, answer.Report = session.Point(row.GetHead()), sessionlog.Report(row)
			return nil, nil
		}
		record, err := w.Record(ctx, &compactordv1.Record{Kind: &compactordv1.Record_Instructions{
			Instructions: &compactordv1.InstructionsChange{Messages: messages, Replaced: row.GetHead().GetLeadEnd()},
		}}, nil)
		if err != nil {
			return nil, err
		}
		if answer.Report, err = w.Report(ctx); err != nil {
			return nil, err
		}
		answer.Sequence, answer.Point = proto.Uint32(record.GetSequence()), session.Point(w.Head())
		return w, w.Remember(req, answer)
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// instructionsOf returns the messages of a request as they are stored.
func instructionsOf(req *compactordv1.ReplaceInstructionsRequest) ([]*compactordv1.Message, error) {
	var messages []*compactordv1.Message
	size := 0
	for i, m := range req.GetMessages() {
		if !session.Leads(m.GetRole()) {
			return nil, apierror.InvalidField(fmt.Sprintf("messages[%d].role", i), "must be SYSTEM or DEVELOPER")
		}
		switch m.GetOrigin() {
		case compactordv1.Origin_ORIGIN_UNSPECIFIED, compactordv1.Origin_ORIGIN_CLIENT:
		default:
			return nil, apierror.InvalidField(fmt.Sprintf("messages[%d].origin", i), "must be CLIENT")
		}
		m = proto.CloneOf(m)
		m.Origin = compactordv1.Origin_ORIGIN_CLIENT
		messages = append(messages, m)
		size += proto.Size(m)
	}
	if size > maxInstructionBytes {
		return nil, apierror.New(compactordv1.ErrorReason_ERROR_REASON_LIMIT_EXCEEDED,
			map[string]string{"limit": "max_instruction_bytes", "value": strconv.Itoa(maxInstructionBytes)},
			"messages: the instructions have %d bytes; they can have %d", size, maxInstructionBytes)
	}
	return messages, nil
}
