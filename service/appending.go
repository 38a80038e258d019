package service

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// appending adds the messages of a request to what is pending, one after the other.
type appending struct {
	service   *Service
	pending   *pending
	input     *input
	counter   session.Counter
	viewPoint *uint32
	now       *timestamppb.Timestamp
	// callers are the messages of the log with the calls that results answer, as far as they were read.
	callers map[uint32]*compactordv1.LoggedMessage
}

func (s *Service) appending(p *pending, in *input, viewPoint *uint32) (*appending, error) {
	counter, err := in.counter(p.before.GetEstimator())
	if err != nil {
		return nil, err
	}
	return &appending{
		service: s, pending: p, input: in, counter: counter, viewPoint: viewPoint, now: s.now(),
		callers: make(map[uint32]*compactordv1.LoggedMessage),
	}, nil
}

// append adds messages to what is pending.
func (s *Service) append(ctx context.Context, p *pending, in *input, viewPoint *uint32) error {
	a, err := s.appending(p, in, viewPoint)
	if err != nil {
		return err
	}
	for i := range in.messages {
		if _, err := a.append(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// append adds one message to what is pending.
func (a *appending) append(ctx context.Context, i int) (*compactordv1.LoggedMessage, error) {
	p := a.pending
	l := session.Link(p.head(), a.counter, a.input.messages[i], a.viewPoint)
	l.AppendedAt = a.now
	a.input.linked(p.head(), l, i)
	if err := a.onAppend(ctx, l); err != nil {
		return nil, err
	}
	session.Advance(p.head(), a.counter, p.before.GetResolvedPolicy(), l)
	p.commit.Messages = append(p.commit.Messages, l)
	return l, nil
}
