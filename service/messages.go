package service

import (
	"context"
	"errors"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/storage"
)

// AppendMessages implements SessionService.
func (s *Service) AppendMessages(
	ctx context.Context, req *compactordv1.AppendMessagesRequest,
) (*compactordv1.AppendMessagesResponse, error) {
	ctx, permit, err := s.admittedAppend(ctx, req)
	if err != nil {
		return nil, err
	}
	defer permit.Leave()
	appended, err := s.intake.Append(ctx, req)
	if err != nil {
		return nil, err
	}
	s.compactor.Metrics.Pruned(appended.Pruned)
	s.metrics.appended(appended.Answer.GetReport())
	s.heavy.note(ctx, req.GetSessionId(), isHeavy(appended.Head, appended.Policy))
	return appended.Answer, nil
}

// ListMessages implements SessionService.
func (s *Service) ListMessages(
	ctx context.Context, req *compactordv1.ListMessagesRequest,
) (*compactordv1.ListMessagesResponse, error) {
	ctx, permit, err := s.admittedList(ctx, req)
	if err != nil {
		return nil, err
	}
	defer permit.Leave()
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
	goesOn, err := s.fill(ctx, row, page, next)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, apierror.SessionNotFound(req.GetSessionId())
	}
	if err != nil {
		return nil, err
	}
	answer := &compactordv1.ListMessagesResponse{Messages: page.messages}
	if goesOn != nil {
		answer.NextPageToken = pageToken(pageOfMessages, *goesOn)
	}
	return answer, nil
}

// fill adds the messages of a log from an index on, and returns where the next page begins; nil where there is none.
func (s *Service) fill(
	ctx context.Context, row *storagev1.Session, page *messagePage, next uint32,
) (goesOn *uint32, err error) {
	end := row.GetHead().GetNextIndex()
	for next < end {
		if !page.dialogue && len(page.messages) == page.limit {
			return &next, nil
		}
		messages, bytes := page.toRead()
		chunk, err := s.logs.Messages(ctx, row, next, min(end, next+messages), bytes)
		if err != nil {
			return nil, err
		}
		for _, l := range chunk {
			if !page.add(l) {
				return &l.Index, nil
			}
			next = l.GetIndex() + 1
		}
	}
	return nil, nil
}

// messagePage is a page of a listing.
type messagePage struct {
	head     *storagev1.Head
	dialogue bool
	limit    int
	bytes    int

	messages []*compactordv1.LoggedMessage
	size     int
}

// scanned is how many messages of a dialogue are read at a time, most of which may not be listed, and scannedBytes their
// size.
const (
	scanned      = 100
	scannedBytes = 256 << 10
)

// toRead returns how many messages to read next, and how many bytes of them.
func (p *messagePage) toRead() (messages uint32, bytes int) {
	if p.dialogue {
		return scanned, min(p.bytes, scannedBytes)
	}
	return uint32(p.limit - len(p.messages)), max(1, p.bytes-p.size)
}

// add adds a message if it is listed. It returns false where the page is full.
func (p *messagePage) add(l *compactordv1.LoggedMessage) bool {
	l.State, l.Pinned = session.StateOf(p.head, l.GetIndex()), session.Pinned(p.head, l.GetIndex())
	if p.dialogue && !keepDialogue(l) {
		return true
	}
	size := proto.Size(l)
	if len(p.messages) > 0 && (len(p.messages) >= p.limit || p.size+size > p.bytes) {
		return false
	}
	p.messages = append(p.messages, l)
	p.size += size
	return true
}

// keepDialogue reduces a message to what user or assistant said. It returns false where that is nothing, or the message
// is not active.
func keepDialogue(l *compactordv1.LoggedMessage) bool {
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
