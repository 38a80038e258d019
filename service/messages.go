package service

import (
	"context"
	"errors"
	"strconv"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

// AppendMessages implements SessionService.
func (s *Service) AppendMessages(
	ctx context.Context, req *compactordv1.AppendMessagesRequest,
) (*compactordv1.AppendMessagesResponse, error) {
	if err := checkImports(req); err != nil {
		return nil, err
	}
	sent, err := s.appended(req)
	if err != nil {
		return nil, err
	}
	if err := s.countAhead(ctx, req, sent); err != nil {
		return nil, err
	}
	answer := &compactordv1.AppendMessagesResponse{}
	var folded *compactordv1.PruneEntry
	err = s.logs.Update(ctx, req.GetSessionId(), func(row *storagev1.Session) (*sessionlog.Write, error) {
		folded = nil
		if known, err := s.recordedAppend(ctx, row, req, answer); known || err != nil {
			return nil, err
		}
		in, p := sent.fresh(), s.logs.Begin(row)
		if req.GetModelAnswer() {
			answer.Answer = s.judgeAnswer(in, row)
		}
		if err := s.appendRequest(ctx, p, in, req); err != nil {
			return nil, err
		}
		if folded, err = s.compactor.OnUserMessage(ctx, p); err != nil {
			return nil, err
		}
		answer.FirstIndex, answer.NextIndex = row.GetHead().GetNextIndex(), p.Head().GetNextIndex()
		answer.Point = session.Point(p.Head())
		answer.Report, answer.Findings = p.Report(), in.report()
		if answer.GetAnswer() != nil {
			describeAnswer(answer.GetAnswer(), in.messages[len(in.messages)-1], answer.GetNextIndex()-1)
		}
		return p, rememberAppended(p, req, answer)
	})
	if err != nil {
		return nil, err
	}
	s.compactor.Metrics.Pruned(folded)
	return answer, nil
}

// appendRequest adds the messages of a request to what is to be written, and the records that came with them.
func (s *Service) appendRequest(
	ctx context.Context, p *sessionlog.Write, in *input, req *compactordv1.AppendMessagesRequest,
) error {
	next := p.Head().GetNextIndex()
	if req.ExpectedNextIndex != nil && req.GetExpectedNextIndex() != next {
		return wrongNextIndex(next)
	}
	viewPoint, err := viewPointOf(req.GetViewToken(), p.Before())
	if err != nil {
		return err
	}
	if len(req.GetImportedRecords()) > 0 {
		err = s.appendWithRecords(ctx, p, in, req.GetImportedRecords(), viewPoint)
	} else {
		err = in.appendTo(ctx, p, viewPoint, nil)
	}
	if err != nil {
		return err
	}
	return in.verdict()
}

func wrongNextIndex(next uint32) *apierror.Error {
	return apierror.New(compactordv1.ErrorReason_ERROR_REASON_WRONG_NEXT_INDEX,
		map[string]string{"next_index": strconv.FormatUint(uint64(next), 10)},
		"expected_next_index: the next message gets index %d", next)
}

// appended is what a request wants appended.
func (s *Service) appended(req *compactordv1.AppendMessagesRequest) (in *input, err error) {
	if req.GetProviderJson() != nil {
		in, err = s.providerInput(req.GetProviderJson(), req.GetStrict())
	} else {
		in, err = neutralInput(req.GetMessages(), req.GetStrict())
	}
	if err == nil && req.GetModelAnswer() {
		err = in.demandAnswer()
	}
	return in, err
}

// viewPointOf reads the point of the view that messages were made from; nil where no token was given.
func viewPointOf(token string, row *storagev1.Session) (*uint32, error) {
	if token == "" {
		return nil, nil
	}
	t, err := session.ParseViewToken(token)
	if err != nil || t.UID != row.GetUid() || t.Point >= row.GetHead().GetNextSequence() {
		return nil, apierror.InvalidToken("view_token")
	}
	if t.Point < row.GetHead().GetLastRevert() {
		return nil, apierror.New(compactordv1.ErrorReason_ERROR_REASON_HISTORY_REVERTED, nil,
			"view_token: the history was reverted after this view was made; get a new view and try the turn again")
	}
	return &t.Point, nil
}

// ListMessages implements SessionService.
func (s *Service) ListMessages(
	ctx context.Context, req *compactordv1.ListMessagesRequest,
) (*compactordv1.ListMessagesResponse, error) {
	row, err := s.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	next, err := pageStart(pageOfMessages, req.GetPageToken(), req.GetFromIndex())
	if err != nil {
		return nil, err
	}
	page := &messagePage{
		head: row.GetHead(), limit: int(pageSize(req.GetPageSize())), bytes: answerBytes(req.GetMaxBytes()),
		dialogue: req.GetListing() == compactordv1.MessageListing_MESSAGE_LISTING_DIALOGUE,
	}
	end := row.GetHead().GetNextIndex()
	for next < end {
		chunk, err := s.logs.Messages(ctx, row, next, end, page.bytes)
		if errors.Is(err, storage.ErrNotFound) {
			return nil, apierror.SessionNotFound(req.GetSessionId())
		}
		if err != nil {
			return nil, err
		}
		for _, l := range chunk {
			if !page.take(l) {
				return &compactordv1.ListMessagesResponse{
					Messages: page.taken, NextPageToken: pageToken(pageOfMessages, l.GetIndex()),
				}, nil
			}
			next = l.GetIndex() + 1
		}
	}
	return &compactordv1.ListMessagesResponse{Messages: page.taken}, nil
}

// messagePage is a page of a listing while it fills.
type messagePage struct {
	head     *storagev1.Head
	dialogue bool
	limit    int
	bytes    int

	taken []*compactordv1.LoggedMessage
	size  int
}

// take adds a message if it is listed; false where the page is full.
func (p *messagePage) take(l *compactordv1.LoggedMessage) bool {
	l.State, l.Pinned = session.StateOf(p.head, l.GetIndex()), session.Pinned(p.head, l.GetIndex())
	if p.dialogue && !spoken(l) {
		return true
	}
	size := proto.Size(l)
	if len(p.taken) > 0 && (len(p.taken) >= p.limit || p.size+size > p.bytes) {
		return false
	}
	p.taken = append(p.taken, l)
	p.size += size
	return true
}

// spoken reduces a message to what user or assistant said, and says whether they said anything on the active path.
func spoken(l *compactordv1.LoggedMessage) bool {
	m := l.GetMessage()
	role := m.GetRole()
	if l.GetState() == compactordv1.MessageState_MESSAGE_STATE_PUT_ASIDE || session.Failed(m) ||
		m.GetOrigin() == compactordv1.Origin_ORIGIN_MARKER ||
		role != compactordv1.Role_ROLE_USER && role != compactordv1.Role_ROLE_ASSISTANT {
		return false
	}
	var text []*compactordv1.Part
	var sizes []uint32
	for i, part := range m.GetParts() {
		if part.GetText().GetText() != "" {
			text, sizes = append(text, part), append(sizes, l.GetPartSizes()[i])
		}
	}
	m.Parts, l.PartSizes = text, sizes
	return len(text) > 0
}
