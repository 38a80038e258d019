package faults_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers/llm/llmtest"
)

// running is a compaction that waits for its model.
type running struct {
	daemon *daemontest.Daemon
	model  *model
	// hangUp cancels the RPC.
	hangUp context.CancelFunc
	asked  *llmtest.Request
}

// cancels are the ways to end a compaction from outside, with the status of its RPC.
func cancels() map[string]struct {
	end  func(t *testing.T, r *running)
	code codes.Code
	// late says that the RPC's deadline ends it.
	late bool
	// gone says that the session is deleted.
	gone bool
} {
	type way = struct {
		end  func(t *testing.T, r *running)
		code codes.Code
		late bool
		gone bool
	}
	return map[string]way{
		"the RPC is cancelled": {end: func(_ *testing.T, r *running) { r.hangUp() }, code: codes.Canceled},
		"CancelCompaction": {end: func(t *testing.T, r *running) {
			t.Helper()
			answer, err := r.daemon.Compactions.CancelCompaction(t.Context(), &compactordv1.CancelCompactionRequest{SessionId: "s"})
			require.NoError(t, err)
			require.NotNil(t, answer.GetEnding().GetCancelled())
		}, code: codes.Canceled},
		"the RPC's deadline": {end: func(_ *testing.T, r *running) { r.hangUp() }, code: codes.DeadlineExceeded, late: true},
		"the daemon stops":   {end: func(_ *testing.T, r *running) { r.daemon.Restart() }, code: codes.Canceled},
		"DeleteSession": {end: func(t *testing.T, r *running) {
			t.Helper()
			_, err := r.daemon.Sessions.DeleteSession(t.Context(), &compactordv1.DeleteSessionRequest{SessionId: "s"})
			require.NoError(t, err)
		}, code: codes.Canceled, gone: true},
	}
}

// late is a context that ends when the test wants, with DeadlineExceeded.
type late struct {
	value func(key any) any
	over  chan struct{}
}

func lateContext(ctx context.Context) (context.Context, context.CancelFunc) {
	l := &late{value: ctx.Value, over: make(chan struct{})}
	return l, sync.OnceFunc(func() { close(l.over) })
}

func (l *late) Done() <-chan struct{} { return l.over }

func (l *late) Value(key any) any { return l.value(key) }

func (*late) Deadline() (deadline time.Time, ok bool) { return time.Time{}, false }

func (l *late) Err() error {
	select {
	case <-l.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// Ending a compaction ends the provider's request. Only the attempt is recorded.
func TestCancelClosesTheProvidersRequest(t *testing.T) {
	t.Parallel()
	replies := map[string]llmtest.Reply{
		"before the answer": llmtest.Hang(), "within the answer": llmtest.Stall(half), "endless": llmtest.Endless(),
	}
	for name, way := range cancels() {
		for _, p := range llmtest.Protocols() {
			for when, reply := range replies {
				t.Run(name+"/"+when+"/"+p.String(), func(t *testing.T) {
					t.Parallel()
					m := newModel(t, p, func(_ *profileOf, at *daemontest.Server) { at.MaxAnswerBytes = 1 << 40 })
					m.server.Script(reply)
					d := daemontest.Start(t, daemontest.Options{Summarizers: summarizersOf(m), Drain: time.Millisecond})
					d.Create("s", policy(m.Name(), fallingBack), daemontest.Working(8, 500)...)
					view, records := d.View("s"), d.Records("s")
					ctx, hangUp := context.WithCancel(t.Context())
					defer hangUp()
					if way.late {
						ctx, hangUp = lateContext(ctx)
						defer hangUp()
					}
					ended := make(chan error, 1)
					go func() {
						_, err := d.Compact(ctx, daemontest.Request("s"))
						ended <- err
					}()
					r := &running{daemon: d, model: m, hangUp: hangUp, asked: m.server.Await(0)}
					way.end(t, r)
					<-r.asked.Closed()
					<-r.asked.Ended()
					err := <-ended
					require.Equal(t, way.code.String(), status.Code(err).String(), "%v", err)
					require.Len(t, m.server.Requests(), 1, "it is not asked again")
					if way.gone {
						return
					}
					requireOnlyAttempt(t, d, len(records))
					requireSameViews(t, view, d.View("s"))
				})
			}
		}
	}
}

// requireOnlyAttempt requires that the log has one more record, the attempt. After a cancelled RPC the attempt is
// recorded a little later; another compaction waits for that.
func requireOnlyAttempt(t *testing.T, d *daemontest.Daemon, records int) {
	t.Helper()
	again := daemontest.Request("s")
	again.Preempt, again.DryRun = true, true
	_, err := d.Compact(t.Context(), again)
	require.NoError(t, err)
	after := d.Records("s")
	require.Len(t, after, records+1)
	attempt := newest(after).GetAttempt()
	require.Contains(t, []compactordv1.AttemptOutcome{
		compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_CANCELLED, compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_FAILED,
	}, attempt.GetOutcome())
	require.EqualValues(t, 1, attempt.GetProvenance().GetSummarizerCalls())
	requireUnspoken(t, attempt.GetMessage())
}
