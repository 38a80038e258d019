package service_test

import (
	"context"
	"fmt"
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
// that records all. They take turns, so that all see the same machine.
func BenchmarkWithTraces(b *testing.B) {
	provider := func(sampler sdktrace.Sampler) option {
		p := sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler), sdktrace.WithBatcher(nowhere{}))
		b.Cleanup(func() {
			if err := p.Shutdown(context.Background()); err != nil {
				b.Error(err)
			}
		})
		return func(o *service.ServerOptions) { o.Traces = p }
	}
	sides := []struct {
		name   string
		daemon *daemon
		took   time.Duration
	}{
		{name: "off", daemon: start(b)},
		{name: "unsampled", daemon: start(b, provider(sdktrace.NeverSample()))},
		{name: "recorded", daemon: start(b, provider(sdktrace.AlwaysSample()))},
	}
	const each = 50
	number := 0
	for b.Loop() {
		number++
		for i := range sides {
			// Each side is the first one as often as the others.
			side := &sides[(i+number)%len(sides)]
			id := fmt.Sprintf("s-%d", number)
			begun := time.Now()
			_, err := side.daemon.sessions.CreateSession(b.Context(), &compactordv1.CreateSessionRequest{SessionId: id})
			for n := 0; n < each && err == nil; n++ {
				_, err = side.daemon.sessions.AppendMessages(b.Context(), &compactordv1.AppendMessagesRequest{
					SessionId: id, Messages: []*compactordv1.Message{user("a short message")},
				})
				if err == nil {
					_, err = side.daemon.compactions.GetLLMView(b.Context(), &compactordv1.GetLLMViewRequest{
						Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: id},
					})
				}
			}
			if err != nil {
				b.Fatal(err)
			}
			side.took += time.Since(begun)
		}
	}
	calls := float64(number * (2*each + 1))
	for _, side := range sides {
		b.ReportMetric(float64(side.took.Nanoseconds())/calls, side.name+"-ns/call")
		b.ReportMetric(float64(side.took)/float64(sides[0].took), side.name+"-ratio")
	}
}
