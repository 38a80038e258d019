package service

import (
	"context"

	"google.golang.org/protobuf/proto"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/admission"
	"github.com/compactord/compactord/strategies"
)

// What is at most this large enters no pool.
const (
	smallViewBytes      = 256 << 10
	smallAppendBytes    = 128 << 10
	smallAppendMessages = 200
)

// wholeCore is the weight of work that keeps a core busy, such as a page of a search.
const wholeCore = admission.WholeCore

// admittedView waits until a view of this size may be drawn.
func (s *Service) admittedView(ctx context.Context, bytes int) (context.Context, *admission.Permit, error) {
	if bytes <= smallViewBytes {
		return ctx, &admission.Permit{}, nil
	}
	return s.admission.Views.Enter(ctx, admission.WeightOf(bytes), nil)
}

// largeSessionBytes is the size of a view from which each append to a session is much work, where that plans.
const largeSessionBytes = 1 << 20

// isLarge says whether it is much work to check what a request brings, and to add it to a log.
func isLarge(req proto.Message) bool {
	messages := 0
	switch req := req.(type) {
	case *compactordv1.AppendMessagesRequest:
		messages = len(req.GetMessages())
	case *compactordv1.SyncMessagesRequest:
		for _, e := range req.GetElements() {
			if e.GetMessage() != nil {
				messages++
			}
		}
	case *compactordv1.CompactRequest:
		messages = len(req.GetHistory().GetMessages())
	default:
		return false
	}
	return messages > smallAppendMessages || proto.Size(req) > smallAppendBytes
}

// enterLarge waits until a request that brings much may be checked. All of the work of a unary call is in the pool then:
// what the handler enters is part of it. A stream enters once more for its work.
func (s *Service) enterLarge(ctx context.Context, req proto.Message) (_ context.Context, leave func(), err error) {
	if !isLarge(req) {
		return ctx, func() {}, nil
	}
	ctx, permit, err := s.admission.Imports.Enter(ctx, wholeCore, nil)
	if err != nil {
		return nil, nil, err
	}
	return ctx, permit.Leave, nil
}

// admittedAppend waits until an append may work, where that is much work.
func (s *Service) admittedAppend(
	ctx context.Context, req *compactordv1.AppendMessagesRequest,
) (context.Context, *admission.Permit, error) {
	if !isLarge(req) && !s.plansMuch(ctx, req.GetSessionId()) {
		s.admission.Pass()
		return ctx, &admission.Permit{}, nil
	}
	return s.admission.Imports.Enter(ctx, wholeCore, nil)
}

// admittedFork waits until a log may be copied, where that is much work. A child that sees only a part copies nothing.
func (s *Service) admittedFork(
	ctx context.Context, source *storagev1.Session, child *compactordv1.ChildContext,
) (context.Context, *admission.Permit, error) {
	head := source.GetHead()
	copies := child == nil || child.GetSees() == compactordv1.ChildSees_CHILD_SEES_EVERYTHING
	if !copies || head.GetNextIndex() <= smallAppendMessages && max(source.GetLogBytes(), uint64(head.GetViewBytes())) <= smallAppendBytes {
		return ctx, &admission.Permit{}, nil
	}
	return s.admission.Imports.Enter(ctx, wholeCore, nil)
}

// admittedSync waits until a list may be compared with a log, where that may be much work.
func (s *Service) admittedSync(
	ctx context.Context, req *compactordv1.SyncMessagesRequest,
) (context.Context, *admission.Permit, error) {
	if !isLarge(req) && !s.readsAsHeavy(ctx, req.GetSessionId()) {
		s.admission.Pass()
		return ctx, &admission.Permit{}, nil
	}
	return s.admission.Imports.Enter(ctx, wholeCore, nil)
}

// plansMuch reports that an append to a session plans on a large view, by what the last append has noted.
func (s *Service) plansMuch(ctx context.Context, id string) bool {
	if heavy, known := s.heavy.has(ctx, id); known {
		return heavy
	}
	return s.readsAsHeavy(ctx, id)
}

// readsAsHeavy reports that an append to a session plans on a large view, by the session's row. Where that cannot be read, the call
// says why.
func (s *Service) readsAsHeavy(ctx context.Context, id string) bool {
	row, err := s.logs.Row(ctx, id)
	return err == nil && isHeavy(row.GetHead(), row.GetResolvedPolicy())
}

// plans reports that an append to a session plans, whatever the size of its view.
func plans(head *storagev1.Head, policy *compactordv1.Policy) bool {
	return len(policy.GetOnUserMessage().GetStrategies()) > 0 || strategies.ReportPlanned(head, policy, true).GetShouldCompact()
}

// admittedList waits until a listing may be read that wants more than a page by default, or looks for what was said
// among all messages.
func (s *Service) admittedList(
	ctx context.Context, req *compactordv1.ListMessagesRequest,
) (context.Context, *admission.Permit, error) {
	dialogue := req.GetListing() == compactordv1.MessageListing_MESSAGE_LISTING_DIALOGUE
	if bytes := answerBytes(req.GetMaxBytes()); dialogue || bytes > DefaultMaxAnswerBytes {
		return s.admission.Views.Enter(ctx, admission.WeightOf(bytes), nil)
	}
	return ctx, &admission.Permit{}, nil
}

// admittedCount waits until tokens may be counted, where that is much work.
func (s *Service) admittedCount(
	ctx context.Context, req *compactordv1.CountTokensRequest,
) (context.Context, *admission.Permit, error) {
	bytes := proto.Size(req)
	if id := req.GetSessionId(); id != "" {
		row, err := s.logs.Row(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		bytes = int(row.GetHead().GetViewBytes())
	}
	return s.admittedView(ctx, bytes)
}
