package faults_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/compactord/compactord/e2e/daemontest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/llm"
	"github.com/compactord/compactord/summarizers/llm/llmtest"
)

// outcome is the error of a compaction without a fallback.
type outcome struct {
	code   codes.Code
	reason string
	// check is the check that refused the summary; empty if there was no summary.
	check string
	// status is the provider's HTTP status, or 0.
	status int
	// named is the error's code in the metadata; empty if it is not compared.
	named string
	// retry is the retry delay for the client.
	retry time.Duration
	// requests is the number of HTTP requests that the provider gets.
	requests int
}

// fault is a provider's behaviour at every request of a compaction.
type fault struct {
	reply llmtest.Reply
	want  outcome
	// answered says that the provider's answers have usage.
	answered bool
	// closed says that the daemon closes the answers without reading them.
	closed bool
	// unreached says that requests may end before the provider gets them, as they may on a busy machine.
	unreached bool
	// waits is the shortest wait before each further request; 0 if there are none at an interval.
	waits time.Duration
	// change changes the model's settings for this fault.
	change func(*llm.Profile, *daemontest.Server)
}

// half is the text of a model that fails while it writes.
const half = "## Goal\nHalf of a"

func outOfReach(httpStatus int) outcome {
	return outcome{code: codes.Unavailable, reason: "SUMMARIZER_UNAVAILABLE", status: httpStatus, retry: 30 * time.Second, requests: tries}
}

func refused(httpStatus int) outcome {
	return outcome{code: codes.FailedPrecondition, reason: "SUMMARIZER_REFUSED", status: httpStatus, requests: 1}
}

func rejected(check string) outcome {
	return outcome{code: codes.FailedPrecondition, reason: "SUMMARY_REJECTED", check: check, requests: 2}
}

// limit is the time limit of a request without an answer.
const limit = 500 * time.Millisecond

func faults() map[string]fault {
	// These limits are in real time, so the requests are sent only once.
	hasty := func(p *llm.Profile, _ *daemontest.Server) { p.TryTimeout, p.Tries = limit, 1 }
	listening := func(p *llm.Profile, s *daemontest.Server) { s.IdleTimeout, p.Tries = limit, 1 }
	all := map[string]fault{
		"cut":                {reply: llmtest.Cut(half), want: outOfReach(0)},
		"no end":             {reply: llmtest.NoEnd(half), want: outOfReach(0)},
		"half an event":      {reply: llmtest.HalfEvent(half), want: outOfReach(0)},
		"malformed event":    {reply: llmtest.MalformedSSE(half), want: outOfReach(0)},
		"error in stream":    {reply: llmtest.StreamError(half), want: outOfReach(0)},
		"hangs up":           {reply: llmtest.HangUp(), want: outOfReach(0)},
		"wrong content type": {reply: llmtest.WrongContentType(), want: refused(http.StatusOK)},
		"stalls": {reply: llmtest.Stall(half), closed: true, change: listening, want: outcome{
			code: codes.Unavailable, reason: "SUMMARIZER_UNAVAILABLE", named: "idle_timeout", retry: 30 * time.Second, requests: 1,
		}},
		"hangs": {reply: llmtest.Hang(), closed: true, unreached: true, change: hasty, want: outcome{
			code: codes.DeadlineExceeded, reason: "DEADLINE_EXCEEDED", requests: 1,
		}},
		"rate limit": {reply: llmtest.Status(http.StatusTooManyRequests), want: outOfReach(http.StatusTooManyRequests)},
		"rate limit with Retry-After": {
			reply: llmtest.Status(http.StatusTooManyRequests).Header("Retry-After", "47"), waits: 47 * time.Second,
			want: outcome{
				code: codes.Unavailable, reason: "SUMMARIZER_UNAVAILABLE", status: http.StatusTooManyRequests, retry: 47 * time.Second, requests: tries,
			},
		},
		"rate limit beyond the time limit": {
			reply: llmtest.Status(http.StatusTooManyRequests).Header("Retry-After", "3600"),
			want: outcome{
				code: codes.Unavailable, reason: "SUMMARIZER_UNAVAILABLE", status: http.StatusTooManyRequests, retry: time.Hour, requests: 1,
			},
		},
		"overflow": {reply: llmtest.Overflow(), want: outcome{
			code: codes.FailedPrecondition, reason: "SUMMARIZER_REFUSED", status: http.StatusBadRequest, requests: 4,
		}},
		"empty":         {reply: llmtest.Empty(), want: rejected(summarizers.CheckEmpty), answered: true},
		"thinking only": {reply: llmtest.ThinkingOnly("Hm. Let me see."), want: rejected(summarizers.CheckEmpty), answered: true},
		"thinks aloud":  {reply: llmtest.Text("<think>Hm. Let me see.</think>"), want: rejected(summarizers.CheckEmpty), answered: true},
		"tool call":     {reply: llmtest.ToolCall("ls", `{"path":"."}`), want: rejected(summarizers.CheckToolCall), answered: true},
		"refusal":       {reply: llmtest.Refusal(), want: rejected(summarizers.CheckErrorText), answered: true},
		"apology":       {reply: llmtest.Text("I'm sorry, but I can't."), want: rejected(summarizers.CheckErrorText), answered: true},
		"cut off":       {reply: llmtest.CutOff(half), want: rejected(summarizers.CheckCutOff), answered: true},
		"endless":       {reply: llmtest.Endless(), want: rejected(summarizers.CheckCutOff), closed: true},
		"no sections":   {reply: llmtest.Text("They looked into some modules."), want: rejected(summarizers.CheckSections), answered: true},
		"over budget": {reply: llmtest.Summary(llmtest.Written{
			Sections: session.StandardSections(), Lines: slices.Repeat([]string{"One line of many."}, 1000),
		}), want: rejected(summarizers.CheckBudget), answered: true},
	}
	// A request that is too large is halved, three times.
	all["status 413"] = fault{reply: llmtest.Status(http.StatusRequestEntityTooLarge), want: outcome{
		code: codes.FailedPrecondition, reason: "SUMMARIZER_REFUSED", status: http.StatusRequestEntityTooLarge, requests: 4,
	}}
	for _, code := range []int{400, 401, 403, 404, 422} {
		all["status "+strconv.Itoa(code)] = fault{reply: llmtest.Status(code), want: refused(code)}
	}
	for _, code := range []int{408, 500, 502, 503, 504, 529} {
		all["status "+strconv.Itoa(code)] = fault{reply: llmtest.Status(code), want: outOfReach(code)}
	}
	return all
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, p := range llmtest.Protocols() {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			table := faults()
			models := map[string]*model{}
			var o daemontest.Options
			for name, f := range table {
				models[name] = newModel(t, p, func(profile *llm.Profile, at *daemontest.Server) {
					if f.change != nil {
						f.change(profile, at)
					}
					profile.Name = identifier(name)
				})
				models[name].server.Handle(func(*llmtest.Request) llmtest.Reply { return f.reply })
				o.Summarizers = append(o.Summarizers, models[name])
			}
			d := daemontest.Start(t, o)
			t.Run("all", func(t *testing.T) {
				for name, f := range table {
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						testFault(t, d, models[name], f)
					})
				}
			})
			for name, f := range table {
				require.Regexp(t, `level=WARN msg="fallback writes the summary" .*summarizer=`+identifier(name)+
					` fallback=extractive reason=`+f.want.reason+` check="?`+f.want.check+`"?\s`, d.Logs())
			}
			require.NotContains(t, d.Logs(), llmtest.Quoted, "what a provider says may quote the conversation")
			require.NotContains(t, d.Logs(), "mark-")
		})
	}
}

// identifier returns a profile's name for a text.
func identifier(name string) string { return strings.ReplaceAll(name, " ", "_") }

func testFault(t *testing.T, d *daemontest.Daemon, m *model, f fault) {
	t.Helper()
	failing, falling := m.Name(), m.Name()+"-falls-back"
	d.Create(failing, policy(m.Name(), noFallback), daemontest.Working(8, 500)...)
	view, records := d.View(failing), d.Records(failing)
	events, err := d.Compact(t.Context(), daemontest.Request(failing))
	requireOutcome(t, m, f.want, err)
	requireRequests(t, m, f)
	failed := ending(events).GetFailed()
	require.Equal(t, int32(f.want.code), failed.GetStatusCode())
	require.Equal(t, "ERROR_REASON_"+f.want.reason, failed.GetReason().String())
	require.Equal(t, f.want.retry, failed.GetRetryAfter().AsDuration())
	requireUnspoken(t, failed.GetMessage())
	requireSameViews(t, view, d.View(failing))
	after := d.Records(failing)
	require.Len(t, after, len(records)+1, "the attempt, and nothing else")
	requireAttempt(t, newest(after).GetAttempt(), m, f)

	d.Create(falling, policy(m.Name(), fallingBack), daemontest.Working(8, 500)...)
	events, err = d.Compact(t.Context(), daemontest.Request(falling))
	require.NoError(t, err)
	requireReceived(t, m, f, 2)
	entry := ending(events).GetCompleted().GetCompaction()
	provenance := entry.GetProvenance()
	require.Equal(t, fallingBack, provenance.GetFallback())
	require.Equal(t, "extractive", provenance.GetSummarizer())
	require.NotEmpty(t, provenance.GetFallbackCause())
	requireUnspoken(t, provenance.GetFallbackCause())
	require.NotContains(t, entry.GetSummary(), "Half of a")
	require.Contains(t, entry.GetSummary(), "## Goal")
	require.NoError(t, summarizers.Check(&summarizers.Request{
		Count: func(text string) uint32 { return uint32(len(text)) }, MaxTokens: 1 << 30, Replaces: 1 << 30,
	}, &summarizers.Summary{Text: entry.GetSummary()}))
	require.Equal(t, entry.GetSummary(), lastAttempt(events))
}

func requireOutcome(t *testing.T, m *model, want outcome, err error) {
	t.Helper()
	require.Equal(t, want.code.String(), status.Code(err).String(), "%v", err)
	d := detailsOf(err)
	require.Equal(t, want.reason, d.reason)
	require.Equal(t, want.retry, d.retry)
	require.Equal(t, m.Name(), d.metadata["summarizer"])
	require.Equal(t, want.check, d.metadata["check"])
	if want.status != 0 {
		require.Equal(t, strconv.Itoa(want.status), d.metadata["http_status"])
	}
	if want.named != "" {
		require.Equal(t, want.named, d.metadata["code"])
	}
	requireUnspoken(t, err.Error())
	for _, value := range d.metadata {
		requireUnspoken(t, value)
	}
}

// requireUnspoken requires that a text quotes neither the conversation nor the provider.
func requireUnspoken(t *testing.T, text string) {
	t.Helper()
	require.NotContains(t, text, llmtest.Quoted)
	require.NotContains(t, text, "mark-")
	require.NotContains(t, text, "Half of a")
}

func requireRequests(t *testing.T, m *model, f fault) {
	t.Helper()
	for _, asked := range requireReceived(t, m, f, 1) {
		<-asked.Ended()
		if f.closed {
			<-asked.Closed()
		}
	}
	waited := m.waited()
	if f.want.code == codes.Unavailable {
		require.Len(t, waited, f.want.requests-1)
	}
	for _, wait := range waited {
		require.GreaterOrEqual(t, wait, max(f.waits, 100*time.Millisecond))
		require.LessOrEqual(t, wait, max(f.waits, 30*time.Second))
	}
}

// requireReceived requires that the provider got the requests of so many compactions.
func requireReceived(t *testing.T, m *model, f fault, compactions int) []*llmtest.Request {
	t.Helper()
	requests, want := m.server.Requests(), compactions*f.want.requests
	if f.unreached {
		require.LessOrEqual(t, len(requests), want)
		return requests
	}
	require.Len(t, requests, want)
	return requests
}

func requireAttempt(t *testing.T, attempt *compactordv1.CompactionAttempt, m *model, f fault) {
	t.Helper()
	require.Equal(t, compactordv1.AttemptOutcome_ATTEMPT_OUTCOME_FAILED, attempt.GetOutcome())
	require.Equal(t, int32(f.want.code), attempt.GetStatusCode())
	require.Equal(t, "ERROR_REASON_"+f.want.reason, attempt.GetErrorReason().String())
	provenance := attempt.GetProvenance()
	require.Equal(t, m.Name(), provenance.GetSummarizer())
	require.EqualValues(t, f.want.requests, provenance.GetSummarizerCalls())
	requireUnspoken(t, attempt.GetMessage())
	if f.answered {
		require.EqualValues(t, f.want.requests*int(llmtest.DefaultUsage.Input), provenance.GetUsage().GetInputTokens())
		require.EqualValues(t, f.want.requests*int(llmtest.DefaultUsage.Output), provenance.GetUsage().GetOutputTokens())
	}
}

// newest returns the record with the highest sequence.
func newest(records []*compactordv1.Record) *compactordv1.Record {
	var found *compactordv1.Record
	for _, r := range records {
		if found == nil || r.GetSequence() > found.GetSequence() {
			found = r
		}
	}
	return found
}

// lastAttempt returns the streamed text of the last attempt.
func lastAttempt(events []*compactordv1.CompactionEvent) string {
	attempt, streamed := uint32(0), ""
	for _, event := range events {
		delta := event.GetSummaryDelta()
		switch {
		case delta == nil:
		case delta.GetAttempt() > attempt:
			attempt, streamed = delta.GetAttempt(), delta.GetText()
		case delta.GetAttempt() == attempt:
			streamed += delta.GetText()
		}
	}
	return streamed
}
