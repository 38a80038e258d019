package service

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Compact implements CompactionService.
func (s *Service) Compact(
	req *compactordv1.CompactRequest, stream grpc.ServerStreamingServer[compactordv1.CompactResponse],
) error {
	if err := compactNotImplemented(req); err != nil {
		return err
	}
	if req.GetHistory() != nil {
		return s.compactInline(req, stream)
	}
	return s.compact(req, stream, nil)
}

// compact runs a compaction of a session. findings are told with its first event.
func (s *Service) compact(
	req *compactordv1.CompactRequest, stream grpc.ServerStreamingServer[compactordv1.CompactResponse],
	findings []*compactordv1.InputFinding,
) error {
	ctx := stream.Context()
	row, err := s.row(ctx, req.GetSessionId())
	if err != nil {
		return err
	}
	before := &compactordv1.CompactResponse{}
	if known, err := s.recorded(ctx, row, req, before); err != nil {
		return err
	} else if known {
		before.GetEvent().Number = 1
		return stream.Send(before)
	}
	// By the life of the session, so that one which was created anew need not wait for the old one's.
	opCtx, id, end, err := s.operations.start(ctx, row.GetUid(), req.GetPreempt())
	if err != nil {
		return err
	}
	// The one that was waited for may have been this very request.
	if known, err := s.recorded(ctx, row, req, before); err != nil || known {
		end()
		if err != nil {
			return err
		}
		before.GetEvent().Number = 1
		return stream.Send(before)
	}
	c := &compaction{
		service: s, req: req, id: id, started: s.hooks.Now(), findings: findings,
		events: make(chan *compactordv1.CompactionEvent, eventsAhead),
	}
	go func() {
		// The session is free before the client hears of the end, so that its next call is not refused.
		defer close(c.events)
		defer end()
		c.err = c.run(opCtx)
	}()
	return s.relay(stream, c)
}

// eventsAhead is how far a compaction may run ahead of its stream; past that the stream sets the pace.
const eventsAhead = 16

// relay sends the events of a compaction until it has ended, with heartbeats in between. Where the stream is gone, it
// still waits for the end: its context has cancelled the compaction.
func (s *Service) relay(stream grpc.ServerStreamingServer[compactordv1.CompactResponse], c *compaction) error {
	heartbeat := time.NewTicker(s.heartbeat)
	defer heartbeat.Stop()
	var sendErr error
	var number uint32
	send := func(e *compactordv1.CompactionEvent) {
		if sendErr != nil {
			return
		}
		number++
		e.Number, e.OperationId, e.Time, e.WillRetry = number, c.id, s.now(), c.req.GetWillRetry()
		if number == 1 {
			e.Findings = c.findings
		}
		sendErr = stream.Send(&compactordv1.CompactResponse{Event: e})
		heartbeat.Reset(s.heartbeat)
	}
	for {
		select {
		case e, more := <-c.events:
			if !more {
				if c.ending != nil {
					send(c.ending)
				}
				return errors.Join(c.err, sendErr)
			}
			send(e)
		case <-heartbeat.C:
			send(&compactordv1.CompactionEvent{
				Event: &compactordv1.CompactionEvent_Heartbeat{Heartbeat: &compactordv1.Heartbeat{}},
			})
		}
	}
}

func compactNotImplemented(req *compactordv1.CompactRequest) error {
	switch {
	case req.GetReason() == compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW:
		return notImplemented("reason")
	case req.GetDetach():
		return notImplemented("detach")
	case req.GetReplay():
		return notImplemented("replay")
	default:
		return nil
	}
}

// emit hands an event to the stream, or drops it once the compaction is to end: only a client that has stopped reading
// or is gone misses it.
func (c *compaction) emit(ctx context.Context, e *compactordv1.CompactionEvent) {
	select {
	case c.events <- e:
	case <-ctx.Done():
	}
}

// conclude leaves the last event for the relay to send after all others. A client that does not read its stream holds
// up the relay, but not the end of the compaction, which others may wait for.
func (c *compaction) conclude(e *compactordv1.CompactionEvent) { c.ending = e }
