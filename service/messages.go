package service

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
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
	err = s.update(ctx, req.GetSessionId(), func(row *storagev1.Session) (*pending, error) {
		if known, err := s.recorded(ctx, row, req, answer); known || err != nil {
			return nil, err
		}
		head := row.GetHead()
		if req.ExpectedNextIndex != nil && req.GetExpectedNextIndex() != head.GetNextIndex() {
			return nil, wrongNextIndex(head.GetNextIndex())
		}
		viewPoint, err := viewPointOf(req.GetViewToken(), row)
		if err != nil {
			return nil, err
		}
		in, p := sent.fresh(), s.begin(row)
		if len(req.GetImportedRecords()) > 0 {
			err = s.appendWithRecords(ctx, p, in, req.GetImportedRecords(), viewPoint)
		} else {
			err = s.append(p, in, viewPoint)
		}
		if err == nil {
			err = in.verdict()
		}
		if err != nil {
			return nil, err
		}
		answer.FirstIndex, answer.NextIndex = head.GetNextIndex(), p.head().GetNextIndex()
		answer.Point = session.Point(p.head())
		answer.Report, answer.Findings = report(p), in.report()
		return p, p.remember(req, answer)
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// appended is what a request wants appended.
func (s *Service) appended(req *compactordv1.AppendMessagesRequest) (*input, error) {
	if req.GetProviderJson() != nil {
		return s.providerInput(req.GetProviderJson(), req.GetStrict())
	}
	return neutralInput(req.GetMessages(), req.GetStrict())
}

// append adds messages to what is pending.
func (s *Service) append(p *pending, in *input, viewPoint *uint32) error {
	counter, err := in.counter(p.before.GetEstimator())
	if err != nil {
		return err
	}
	now := s.now()
	for i := range in.messages {
		p.append(counter, in, i, viewPoint, now)
	}
	return nil
}

// append adds one message to what is pending.
func (p *pending) append(
	counter session.Counter, in *input, i int, viewPoint *uint32, now *timestamppb.Timestamp,
) *compactordv1.LoggedMessage {
	l := session.Link(p.head(), counter, in.messages[i], viewPoint)
	l.AppendedAt = now
	in.linked(p.head(), l, i)
	session.Advance(p.head(), counter, p.before.GetResolvedPolicy(), l)
	p.commit.Messages = append(p.commit.Messages, l)
	return l
}

// viewPointOf reads the point of the view that messages were made from; nil where no token was given.
func viewPointOf(token string, row *storagev1.Session) (*uint32, error) {
	if token == "" {
		return nil, nil
	}
	t, err := session.ParseViewToken(token)
	if err != nil || t.UID != row.GetUid() || t.Point >= row.GetHead().GetNextSequence() {
		return nil, invalidToken("view_token")
	}
	if t.Point < row.GetHead().GetLastRevert() {
		return nil, newError(codes.Aborted, compactordv1.ErrorReason_ERROR_REASON_HISTORY_REVERTED, nil,
			"view_token: the history was reverted after this view was made; get a new view and try the turn again")
	}
	return &t.Point, nil
}

// ListMessages implements SessionService.
func (s *Service) ListMessages(
	ctx context.Context, req *compactordv1.ListMessagesRequest,
) (*compactordv1.ListMessagesResponse, error) {
	row, err := s.row(ctx, req.GetSessionId())
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
		chunk, err := s.store.Messages(ctx, storage.RefOf(row), next, end, page.bytes)
		if errors.Is(err, storage.ErrNotFound) {
			return nil, sessionNotFound(req.GetSessionId())
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
