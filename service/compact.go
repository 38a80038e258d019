package service

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/apierror"
	"github.com/compactord/compactord/service/compaction"
)

// Compact implements CompactionService.
func (s *Service) Compact(
	req *compactordv1.CompactRequest, stream grpc.ServerStreamingServer[compactordv1.CompactResponse],
) error {
	if req.GetHistory() != nil {
		return s.compactInline(req, stream)
	}
	if req.GetView() != nil {
		return apierror.InvalidField("view", "goes with a history: call GetLLMView for a session")
	}
	return s.compact(s.compactor, req, stream, nil)
}

// compact runs a compaction of a session. Its first event has the findings.
func (s *Service) compact(
	c *compaction.Compactor, req *compactordv1.CompactRequest,
	stream grpc.ServerStreamingServer[compactordv1.CompactResponse], findings []*compactordv1.Finding,
) error {
	run, recorded, err := c.Start(stream.Context(), req, findings)
	switch {
	case err != nil:
		return err
	case recorded != nil:
		return stream.Send(&compactordv1.CompactResponse{Event: recorded})
	default:
		return s.relay(stream.Context(), func(e *compactordv1.CompactionEvent) error {
			return stream.Send(&compactordv1.CompactResponse{Event: e})
		}, run, req.GetDetach())
	}
}

// relay sends the events of a compaction, and heartbeats between them, until the compaction has ended. If the client is
// gone it still waits for the end, since the stream's context has cancelled the compaction. It does not wait for a
// detached one.
func (s *Service) relay(
	ctx context.Context, send func(*compactordv1.CompactionEvent) error, run *compaction.Run, detached bool,
) error {
	heartbeat := time.NewTicker(s.heartbeat)
	defer heartbeat.Stop()
	var gone <-chan struct{}
	if detached {
		gone = ctx.Done()
	}
	var sendErr error
	for {
		select {
		case e, more := <-run.Events():
			if !more {
				return errors.Join(run.Err(), sendErr)
			}
			run.Received()
			if sendErr == nil {
				sendErr = send(e)
				heartbeat.Reset(s.heartbeat)
			}
		case <-heartbeat.C:
			run.Heartbeat()
		case <-gone:
			return context.Cause(ctx)
		}
	}
}
