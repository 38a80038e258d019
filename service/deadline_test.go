package service_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/storage/memory"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// clock can be moved by a test.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *clock) pass(d time.Duration) { c.ahead.Add(int64(d)) }

// untilGone returns a summarizer that signals when it is asked, and then waits until its context ends.
func untilGone(asked chan<- struct{}) *scripted {
	return &scripted{name: "model", do: func(
		ctx context.Context, _ *summarizers.Request, _ summarizers.Progress,
	) (*summarizers.Summary, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}}
}

// ended is how a compaction ended, everywhere that this is reported.
type ended struct {
	event   *compactordv1.CompactionEvent
	attempt *compactordv1.CompactionAttempt
	// outcome is the label in the metrics.
	outcome string
}

// givenUp runs a compaction with a deadline of an hour, which the client leaves after some time.
func givenUp(t *testing.T, after time.Duration) ended {
	t.Helper()
	asked, clock, metrics := make(chan struct{}, 1), &clock{}, prometheus.NewRegistry()
	d := start(t, withSummarizer(untilGone(asked)), withHooks(service.Hooks{Now: clock.now}),
		func(o *service.ServerOptions) { o.Metrics = metrics })
	d.create("s", by("model", noFallback, small(1000)))
	d.append("s", working(10, 2000)...)
	before := d.view("s")
	watch := d.watch(&compactordv1.WatchSessionRequest{SessionId: "s", Events: true})

	ctx, leave := context.WithTimeout(t.Context(), time.Hour)
	defer leave()
	go func() {
		<-asked
		clock.pass(after)
		leave()
	}()
	_, err := d.compactCtx(ctx, compactRequest("s", nil))
	require.Equal(t, codes.Canceled, statusCode(err), "to the client it is a cancel: it has said so itself")

	var end ended
	for end.event == nil || end.attempt == nil {
		item := watch.next()
		if record := item.GetRecord(); record != nil {
			end.attempt = record.GetAttempt()
		}
		if e := item.GetEvent(); e.GetFailed() != nil || e.GetCancelled() != nil {
			end.event = e
		}
	}
	requireSameView(t, before, d.view("s"))
	d.shutdown()
	end.outcome = outcomeOf(t, metrics)
	return end
}

// outcomeOf returns the outcome of the one compaction in the metrics.
func outcomeOf(t *testing.T, metrics *prometheus.Registry) string {
	t.Helper()
	families, err := metrics.Gather()
	require.NoError(t, err)
	var outcomes []string
	for _, family := range families {
		if family.GetName() != "compactord_compactions_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				if label.GetName() == "outcome" && m.GetCounter().GetValue() > 0 {
					outcomes = append(outcomes, label.GetValue())
				}
			}
		}
	}
	require.Len(t, outcomes, 1)
	require.InDelta(t, 1, valueOf(t, metrics, "compactord_compactions_total"), 0)
	return outcomes[0]
}

// A client whose deadline passes resets the stream, like one that cancels. It must not be reported as a cancel.
func TestDeadlineOfAClientIsNoCancel(t *testing.T) {
	t.Parallel()
	end := givenUp(t, time.Hour-mostGivenUp)
	require.Equal(t, compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_FAILED, end.attempt.GetOutcome())
	require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_DEADLINE_EXCEEDED, end.attempt.GetErrorReason())
	require.Equal(t, int32(codes.DeadlineExceeded), end.attempt.GetStatusCode())
	require.Contains(t, end.attempt.GetMessage(), "the deadline that the client set")
	require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_DEADLINE_EXCEEDED, end.event.GetFailed().GetReason())
	require.Equal(t, "deadline", end.outcome)
}

// mostGivenUp is how long before a distant deadline a client's cancel still counts as giving up.
const mostGivenUp = time.Second

func TestCancelBeforeTheDeadlineIsACancel(t *testing.T) {
	t.Parallel()
	end := givenUp(t, time.Hour-time.Minute)
	require.Equal(t, compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_CANCELLED, end.attempt.GetOutcome())
	require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_CANCELLED, end.attempt.GetErrorReason())
	require.Contains(t, end.event.GetCancelled().GetMessage(), "the client ended the call")
	require.Equal(t, "cancelled", end.outcome)
}

// The daemon may notice the deadline before the client does.
func TestDeadlineThatTheDaemonNoticesFirst(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	registry, err := strategies.NewRegistry(strategies.Builtin()...)
	require.NoError(t, err)
	writers, err := summarizers.NewRegistry(extractive.New(), untilGone(asked))
	require.NoError(t, err)
	s, err := service.New(service.Options{
		Store: memory.New(), Strategies: registry, Summarizers: writers, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	defer s.Close()
	_, err = s.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{
		SessionId: "s", Policy: by("model", noFallback, small(1000)),
	})
	require.NoError(t, err)
	_, err = s.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{SessionId: "s", Messages: working(10, 2000)})
	require.NoError(t, err)
	ctx, end := context.WithCancelCause(t.Context())
	go func() {
		<-asked
		end(context.DeadlineExceeded)
	}()
	stream := newMemoryStream(ctx)
	info := requireReason(t, s.Compact(compactRequest("s", nil), stream), codes.DeadlineExceeded, "DEADLINE_EXCEEDED")
	failed := last(t, stream.events)
	require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_DEADLINE_EXCEEDED, failed.GetFailed().GetReason())
	require.Equal(t, map[string]string{"deadline": "call", "operation_id": failed.GetOperationId()}, info.GetMetadata())
}

// A call without events and attempts shows its deadline in the log and in the status.
func TestDeadlineOfAnyCallIsLoggedAsOne(t *testing.T) {
	t.Parallel()
	for code, after := range map[string]time.Duration{"DeadlineExceeded": time.Hour, "Canceled": time.Minute} {
		for name, call := range map[string]func(ctx context.Context, d *daemon) error{
			"RevertToCheckpoint": func(ctx context.Context, d *daemon) error {
				_, err := d.sessions.RevertToCheckpoint(ctx, summarized(toPoint(3)))
				return err
			},
			"Compact": func(ctx context.Context, d *daemon) error {
				_, err := d.compactCtx(ctx, compactRequest("s", nil))
				return err
			},
			"Compact of a history": func(ctx context.Context, d *daemon) error {
				_, err := d.compactCtx(ctx, &compactordv1.CompactRequest{
					Target: &compactordv1.CompactRequest_History{History: &compactordv1.InlineHistory{Messages: working(10, 2000)}},
					Policy: by("model", noFallback, small(1000)),
				})
				return err
			},
			"Compact, detached": func(ctx context.Context, d *daemon) error {
				_, err := d.compactCtx(ctx, detached("s"))
				return err
			},
		} {
			t.Run(name+" "+code, func(t *testing.T) {
				var log bytes.Buffer
				asked, clock := make(chan struct{}, 1), &clock{}
				d := start(t, withSummarizer(untilGone(asked)), withHooks(service.Hooks{Now: clock.now}),
					func(o *service.ServerOptions) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
				d.create("s", by("model", noFallback, small(1000)))
				d.append("s", working(10, 2000)...)
				ctx, leave := context.WithTimeout(t.Context(), time.Hour)
				defer leave()
				go func() {
					<-asked
					clock.pass(after)
					leave()
				}()
				require.Error(t, call(ctx, d))
				if strings.HasSuffix(name, "detached") {
					_, err := d.cancelRunning("s", "")
					require.NoError(t, err, "it goes on")
				}
				d.shutdown()
				method, _, _ := strings.Cut(name, " ")
				method = strings.TrimSuffix(method, ",")
				told := ""
				for line := range strings.Lines(log.String()) {
					if strings.Contains(line, "grpc.method="+method) {
						told = line
					}
				}
				require.Contains(t, told, "grpc.code="+code)
			})
		}
	}
}
