package service

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

// AppendMessages implements SessionService.
func (s *Service) AppendMessages(
	ctx context.Context, req *compactordv1.AppendMessagesRequest,
) (*compactordv1.AppendMessagesResponse, error) {
	if req.GetProviderJson() != nil {
		return nil, notImplemented("provider_json")
	}
	messages, err := incoming(req.GetMessages())
	if err != nil {
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
		p := s.begin(row)
		if err := s.append(p, messages, viewPoint); err != nil {
			return nil, err
		}
		answer.FirstIndex, answer.NextIndex = head.GetNextIndex(), p.head().GetNextIndex()
		answer.Point = session.Point(p.head())
		answer.Report = report(p)
		return p, p.remember(req, answer)
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// incoming gives messages their origin, and refuses those that only the daemon writes.
func incoming(messages []*compactordv1.Message) ([]*compactordv1.Message, error) {
	taken := make([]*compactordv1.Message, len(messages))
	for i, m := range messages {
		switch m.GetOrigin() {
		case compactordv1.Origin_ORIGIN_CLIENT, compactordv1.Origin_ORIGIN_IMPORT,
			compactordv1.Origin_ORIGIN_CONTINUE:
			taken[i] = m
		case compactordv1.Origin_ORIGIN_UNSPECIFIED:
			taken[i] = proto.CloneOf(m)
			taken[i].Origin = compactordv1.Origin_ORIGIN_CLIENT
		default:
			return nil, invalidField(fmt.Sprintf("messages[%d].origin", i),
				"messages of origin FUTURE and MARKER are written by the daemon")
		}
	}
	return taken, nil
}

// append adds messages to what is pending.
func (s *Service) append(p *pending, messages []*compactordv1.Message, viewPoint *uint32) error {
	counter, err := session.CounterFor(p.before.GetEstimator())
	if err != nil {
		return err
	}
	now := s.now()
	for _, m := range messages {
		l := session.Link(p.head(), counter, m, viewPoint)
		l.AppendedAt = now
		session.Advance(p.head(), counter, p.before.GetResolvedPolicy(), l)
		p.commit.Messages = append(p.commit.Messages, l)
	}
	return nil
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
	l.State = session.StateOf(p.head, l.GetIndex())
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
