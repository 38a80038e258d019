package service_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
)

// nowhere takes spans and drops them.
type nowhere struct{}

func (nowhere) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (nowhere) Shutdown(context.Context) error                             { return nil }

// BenchmarkWithTraces compares appends and views of a daemon without traces, of one that records none of its calls, and of one
// that records all. They take turns with each call, and the medians are reported, so that all see the same machine.
func BenchmarkWithTraces(b *testing.B) {
	provider := func(sampler sdktrace.Sampler) option {
		p := sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler), sdktrace.WithBatcher(nowhere{}))
		b.Cleanup(func() {
			if err := p.Shutdown(context.WithoutCancel(b.Context())); err != nil {
				b.Error(err)
			}
		})
		return func(o *service.ServerOptions) { o.Traces = p }
	}
	sides := []*tracedSide{
		{name: "off", daemon: start(b)},
		{name: "unsampled", daemon: start(b, provider(sdktrace.NeverSample()))},
		{name: "recorded", daemon: start(b, provider(sdktrace.AlwaysSample()))},
	}
	// A session stays short, so that the calls cost the same from the first to the last.
	const each = 50
	for number := 0; b.Loop(); number++ {
		for i := range sides {
			if err := sides[(i+number)%len(sides)].call(b.Context(), fmt.Sprintf("s-%d", number/each), number%each == 0); err != nil {
				b.Fatal(err)
			}
		}
	}
	for _, side := range sides {
		b.ReportMetric(float64(side.median().Nanoseconds()), side.name+"-ns")
		b.ReportMetric(float64(side.median())/float64(sides[0].median()), side.name+"-ratio")
	}
}

type tracedSide struct {
	name   string
	daemon *daemon
	took   []time.Duration
}

// call appends a message to a session, and reads the view.
func (s *tracedSide) call(ctx context.Context, id string, first bool) error {
	if first {
		if _, err := s.daemon.sessions.CreateSession(ctx, &compactordv1.CreateSessionRequest{SessionId: id}); err != nil {
			return err
		}
	}
	begun := time.Now()
	_, err := s.daemon.sessions.AppendMessages(ctx, &compactordv1.AppendMessagesRequest{
		SessionId: id, Messages: []*compactordv1.Message{user("a short message")},
	})
	if err == nil {
		_, err = s.daemon.compactions.GetLLMView(ctx, &compactordv1.GetLLMViewRequest{
			Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: id},
		})
	}
	s.took = append(s.took, time.Since(begun))
	return err
}

func (s *tracedSide) median() time.Duration {
	slices.Sort(s.took)
	return s.took[len(s.took)/2]
}
