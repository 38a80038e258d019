package service

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"

	storagev1 "github.com/compactord/compactord/proto/compactord/storage/v1"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/sessionlog"
)

// Compact implements CompactionService.
func (s *Service) Compact(
	req *compactordv1.CompactRequest, stream grpc.ServerStreamingServer[compactordv1.CompactResponse],
) error {
	if err := checkReplay(req); err != nil {
		return err
	}
	if req.GetHistory() != nil {
		return s.compactInline(req, stream)
	}
	return s.compact(req, stream, nil)
}

func checkReplay(req *compactordv1.CompactRequest) error {
	if req.GetReplay() && req.GetReason() != compactordv1.CompactionReason_COMPACTION_REASON_OVERFLOW {
		return apierror.InvalidField("replay", "goes with reason OVERFLOW: only what was too long for the provider is shown again")
	}
	return nil
}

// compact runs a compaction of a session. findings are told with its first event.
func (s *Service) compact(
	req *compactordv1.CompactRequest, stream grpc.ServerStreamingServer[compactordv1.CompactResponse],
	findings []*compactordv1.InputFinding,
) error {
	ctx := stream.Context()
	row, err := s.logs.Row(ctx, req.GetSessionId())
	if err != nil {
		return err
	}
	before := &compactordv1.CompactResponse{}
	if known, err := s.logs.Recorded(ctx, row, req, before); err != nil {
		return err
	} else if known {
		before.GetEvent().Number = 1
		return stream.Send(before)
	}
	// By the life of the session, so that one which was created anew need not wait for the old one's.
	opCtx, op, err := s.operations.start(ctx, row.GetUid(), terms{preempt: req.GetPreempt(), detach: req.GetDetach()})
	if err != nil {
		return err
	}
	// The one that was waited for may have been this very request.
	if known, err := s.logs.Recorded(ctx, row, req, before); err != nil || known {
		s.operations.end(row.GetUid(), op, nil)
		if err != nil {
			return err
		}
		before.GetEvent().Number = 1
		return stream.Send(before)
	}
	c := s.newCompaction(ctx, req, row, op, findings)
	go func() {
		c.err = c.run(opCtx)
		c.events.seal(c.ending)
		// The session is free before the client hears of the end, so that its next call is not refused.
		s.operations.end(row.GetUid(), op, c.ending)
		c.events.end(c.ending)
	}()
	return s.relay(stream, c)
}

func (s *Service) newCompaction(
	ctx context.Context, req *compactordv1.CompactRequest, row *storagev1.Session, op *operation,
	findings []*compactordv1.InputFinding,
) *compaction {
	c := &compaction{
		service: s, req: req, id: op.id, started: s.hooks.Now(), findings: findings, uid: row.GetUid(),
	}
	name := sessionlog.NameOf(ctx, req.GetSessionId())
	ahead := eventsAhead
	if req.GetDetach() {
		ahead = s.watchQueue
	}
	c.events = newTelling(ahead, req.GetDetach(), c.stamp, func(e *compactordv1.CompactionEvent) {
		s.watchers.publish(name, row.GetUid(), e)
	})
	return c
}

// stamp fills in what every event of the compaction has.
func (c *compaction) stamp(e *compactordv1.CompactionEvent) {
	e.OperationId, e.Time, e.WillRetry = c.id, c.service.logs.Now(), c.req.GetWillRetry()
	if e.GetNumber() == 1 {
		e.Findings = c.findings
	}
}

// relay sends the events of a compaction until it has ended, with heartbeats in between. Where the stream is gone, it
// still waits for the end: its context has cancelled the compaction. It does not wait for one that is detached.
func (s *Service) relay(stream grpc.ServerStreamingServer[compactordv1.CompactResponse], c *compaction) error {
	heartbeat := time.NewTicker(s.heartbeat)
	defer heartbeat.Stop()
	var gone <-chan struct{}
	if c.req.GetDetach() {
		gone = stream.Context().Done()
	}
	var sendErr error
	for {
		select {
		case e, more := <-c.events.stream:
			if !more {
				return errors.Join(c.err, sendErr)
			}
			c.events.taken()
			if sendErr == nil {
				sendErr = stream.Send(&compactordv1.CompactResponse{Event: e})
				heartbeat.Reset(s.heartbeat)
			}
		case <-heartbeat.C:
			c.events.beat()
		case <-gone:
			return context.Cause(stream.Context())
		}
	}
}

// emit tells what goes on, where somebody listens.
func (c *compaction) emit(ctx context.Context, e *compactordv1.CompactionEvent) {
	if c.events != nil {
		c.events.tell(ctx, e)
	}
}

// conclude leaves the last event to be told after all others.
func (c *compaction) conclude(e *compactordv1.CompactionEvent) { c.ending = e }
