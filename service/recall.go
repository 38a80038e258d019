package service

import (
	"context"
	"errors"
	"maps"
	"strconv"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/recall"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/tracing"
)

// RecallContent implements SessionService.
func (s *Service) RecallContent(
	ctx context.Context, req *compactordv1.RecallContentRequest,
) (*compactordv1.RecallContentResponse, error) {
	wanted, err := recall.RequestedReference(req)
	if err != nil {
		return nil, recallError(err)
	}
	row, err := s.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return nil, err
	}
	if id := wanted.SessionID; id != "" && id != row.GetSessionId() {
		if row, err = s.children.Below(ctx, row, id); err != nil {
			return nil, err
		}
	}
	if req.GetMatch() != nil {
		matching, permit, err := s.admittedSearch(ctx)
		if err != nil {
			return nil, err
		}
		defer permit.Leave()
		ctx = matching
	}
	ctx, span := tracing.Begin(ctx, "read content")
	answer, err := s.recalled(ctx, row, wanted, req)
	span.EndWith(err)
	return answer, err
}

// recalled returns content of a message, or of a context block, of a session.
func (s *Service) recalled(
	ctx context.Context, row *storagev1.Session, wanted recall.Reference, req *compactordv1.RecallContentRequest,
) (*compactordv1.RecallContentResponse, error) {
	if wanted.Block != "" {
		return s.recallBlock(ctx, row, wanted, req)
	}
	next := row.GetHead().GetNextIndex()
	if wanted.Index >= next {
		return nil, apierror.NoMessage(wanted.Index, next)
	}
	l, err := s.logs.Message(ctx, row, wanted.Index)
	if err != nil {
		return nil, err
	}
	answer, err := recall.Answer(ctx, l, wanted, req, s.searchedEnough())
	if errors.Is(err, recall.ErrNoContent) {
		return nil, noPart(wanted, next, err)
	}
	if err != nil {
		return nil, recallError(err)
	}
	answer.State = session.StateOf(row.GetHead(), wanted.Index)
	if row.GetSessionId() != req.GetSessionId() {
		answer.SessionId = row.GetSessionId()
	}
	return answer, nil
}

// recallBlock returns content of a context block in force, whatever views show of it.
func (s *Service) recallBlock(
	ctx context.Context, row *storagev1.Session, wanted recall.Reference, req *compactordv1.RecallContentRequest,
) (*compactordv1.RecallContentResponse, error) {
	blocks, _, err := s.logs.ContextBlocks(ctx, row, row.GetHead())
	if err != nil {
		return nil, err
	}
	b := session.BlockNamed(blocks, wanted.Block)
	if b == nil {
		e := apierror.NoMessage(0, row.GetHead().GetNextIndex())
		e.Message = "reference: the session has no context block of this name now"
		return nil, e
	}
	content := &compactordv1.LoggedMessage{Message: &compactordv1.Message{Parts: b.GetParts()}}
	answer, err := recall.Answer(ctx, content, wanted, req, s.searchedEnough())
	switch {
	case errors.Is(err, recall.ErrNoContent):
		return nil, apierror.InvalidField("part", "the context block has no such part")
	case err != nil:
		return nil, recallError(err)
	}
	answer.Block = wanted.Block
	return answer, nil
}

// recallError turns an error about a field into the API's error.
func recallError(err error) error {
	var field *recall.FieldError
	if errors.As(err, &field) {
		return apierror.InvalidField(field.Field, field.Description)
	}
	return err
}

// noPart returns the error for a message without such a part, or a part without such a piece.
func noPart(wanted recall.Reference, next uint32, err error) *apierror.Error {
	var part uint32
	if wanted.Part != nil {
		part = *wanted.Part
	}
	e := apierror.NoMessage(wanted.Index, next)
	e.Message = err.Error()
	e.Metadata = maps.Clone(e.Metadata)
	e.Metadata["part"] = strconv.FormatUint(uint64(part), 10)
	return e
}
