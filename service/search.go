package service

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/recall"
	"github.com/compactord/compactord/service/admission"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/children"
	"github.com/compactord/compactord/service/sessionlog"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/tracing"
)

// SearchMessages implements SessionService.
func (s *Service) SearchMessages(
	ctx context.Context, req *compactordv1.SearchMessagesRequest,
) (*compactordv1.SearchMessagesResponse, error) {
	search, err := recall.NewSearch(req)
	if err != nil {
		return nil, recallError(err)
	}
	root, err := s.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	first := root
	if id := req.GetChildSessionId(); id != "" {
		if first, err = s.children.Below(ctx, root, id); err != nil {
			return nil, err
		}
	}
	ctx, permit, err := s.admittedSearch(ctx)
	if err != nil {
		return nil, err
	}
	defer permit.Leave()
	ctx, span := tracing.Begin(ctx, "search")
	var answer *compactordv1.SearchMessagesResponse
	if req.GetIncludeChildren() {
		answer, err = search.PageOfAll(ctx, &searchedTree{s, first, s.children.Walk(first)}, s.searchedEnough())
	} else {
		answer, err = search.Page(ctx, &searchedLog{s.logs, first}, s.searchedEnough())
	}
	span.Set(attribute.Int("compactord.hits", len(answer.GetHits())))
	span.EndWith(err)
	if errors.Is(err, recall.ErrPageToken) {
		return nil, apierror.InvalidToken("page_token")
	}
	if err != nil {
		return nil, recallError(err)
	}
	for _, hit := range answer.GetHits() {
		if hit.GetSessionId() == "" && first != root {
			hit.SessionId = first.GetSessionId()
		}
	}
	return answer, nil
}

// admittedSearch waits until the messages of a session may be searched. The caller must leave the permit.
func (s *Service) admittedSearch(ctx context.Context) (context.Context, *admission.Permit, error) {
	_, span := tracing.Begin(ctx, "wait for the pool")
	working, permit, err := s.admission.Searches.Enter(ctx, wholeCore, nil)
	span.EndWith(err)
	return working, permit, err
}

// searchedTree implements recall.Logs for a session and those below it.
type searchedTree struct {
	service *Service
	root    *storagev1.Session
	walk    *children.Walk
}

// First implements recall.Logs.
func (t *searchedTree) First() recall.Log { return &searchedLog{t.service.logs, t.root} }

// Seek implements recall.Logs.
func (t *searchedTree) Seek(ctx context.Context, sessionID string) (recall.Log, error) {
	if sessionID == t.root.GetSessionId() {
		return t.First(), nil
	}
	row, err := t.walk.Seek(ctx, sessionID)
	if apierror.IsSessionNotFound(err) || err == nil && row == nil {
		return nil, nil
	}
	return &searchedLog{t.service.logs, row}, err
}

// Next implements recall.Logs.
func (t *searchedTree) Next(ctx context.Context) (recall.Log, error) {
	row, err := t.walk.Next(ctx)
	if err != nil || row == nil {
		return nil, err
	}
	return &searchedLog{t.service.logs, row}, nil
}

// searchTime is how long one call searches.
const searchTime = time.Second

// searchedEnough returns a function that says whether a search that begins now has searched long enough for one call.
func (s *Service) searchedEnough() func() bool {
	began := s.hooks.Now()
	return func() bool { return s.hooks.Now().Sub(began) >= searchTime }
}

// searchedLog implements recall.Log for a session.
type searchedLog struct {
	logs *sessionlog.Logs
	row  *storagev1.Session
}

// SessionID implements recall.Log.
func (l *searchedLog) SessionID() string { return l.row.GetSessionId() }

// UID implements recall.Log.
func (l *searchedLog) UID() string { return l.row.GetUid() }

// Head implements recall.Log.
func (l *searchedLog) Head() *storagev1.Head { return l.row.GetHead() }

// Messages implements recall.Log.
func (l *searchedLog) Messages(
	ctx context.Context, start, end uint32, maxBytes int,
) ([]*compactordv1.LoggedMessage, error) {
	messages, err := l.logs.Messages(ctx, l.row, start, end, maxBytes)
	if err == nil && len(messages) == 0 {
		return nil, sessionlog.MissingMessage(start)
	}
	return messages, err
}

// Edits implements recall.Log.
func (l *searchedLog) Edits(ctx context.Context, index uint32) ([]*compactordv1.Edit, error) {
	all, err := l.logs.Edits(ctx, l.row, index, index+1)
	if err != nil {
		return nil, err
	}
	var inForce []*compactordv1.Edit
	for _, of := range all {
		if session.InForce(l.row.GetHead(), of.Sequence) {
			inForce = append(inForce, of.Edits...)
		}
	}
	return inForce, nil
}
