package service_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/redaction/redactiontest"
)

// persistent is a scripted summarizer that tries again by itself, with its own time limits.
type persistent struct {
	*scripted
	try, total time.Duration
}

func (p *persistent) Timeouts() (try, total time.Duration) { return p.try, p.total }

func persisting(
	do func(context.Context, *summarizers.Request, summarizers.Progress) (*summarizers.Summary, error),
) *persistent {
	return &persistent{scripted: &scripted{name: "model", do: do}}
}

// fails returns a summarizer's function that fails with costs.
func fails(err error) func(context.Context, *summarizers.Request, summarizers.Progress) (*summarizers.Summary, error) {
	return func(context.Context, *summarizers.Request, summarizers.Progress) (*summarizers.Summary, error) {
		return &summarizers.Summary{
			Calls: 3, Usage: &compactordv1.Usage{InputTokens: 70}, CostUSD: proto.Float64(0.5),
		}, err
	}
}

// The provider's answer decides the status. The attempt has the costs, and nothing of the provider's text.
func TestProvidersErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		err      error
		code     codes.Code
		reason   string
		metadata map[string]string
		retry    time.Duration
		says     string
	}{
		{
			"throttled, with a time", &summarizers.ProviderError{Status: 429, Code: "rate_limit_error", Retryable: true, RetryAfter: 7 * time.Second},
			codes.Unavailable, "SUMMARIZER_UNAVAILABLE",
			map[string]string{"summarizer": "model", "http_status": "429", "code": "rate_limit_error"},
			7 * time.Second,
			"summarizer model is out of reach: the provider answered with HTTP status 429 (rate_limit_error)",
		},
		{
			"broken connection", &summarizers.ProviderError{Retryable: true, Err: context.DeadlineExceeded},
			codes.Unavailable, "SUMMARIZER_UNAVAILABLE",
			map[string]string{"summarizer": "model"},
			30 * time.Second,
			"summarizer model is out of reach: the provider gave no answer",
		},
		{
			"wrong key", &summarizers.ProviderError{Status: 401, Code: "authentication_error"},
			codes.FailedPrecondition, "SUMMARIZER_REFUSED",
			map[string]string{"summarizer": "model", "http_status": "401", "code": "authentication_error"},
			0,
			"summarizer model refuses the request, and would again: the provider answered with HTTP status 401",
		},
		{
			"overflow", &summarizers.ProviderError{Status: 400, Overflow: true},
			codes.FailedPrecondition, "SUMMARIZER_REFUSED",
			map[string]string{"summarizer": "model", "http_status": "400"},
			0,
			"too long for the model's window, also after it was halved",
		},
		{
			"limit of a request", &summarizers.ProviderError{Code: "timeout", Retryable: true, Err: &summarizers.TimeLimitError{Limit: 20 * time.Second}},
			codes.DeadlineExceeded, "DEADLINE_EXCEEDED",
			map[string]string{"summarizer": "model", "deadline": "summarizer"},
			0,
			"summarizer model did not answer within its time limit of 20s",
		},
		{
			"refused text", &summarizers.CheckError{Check: summarizers.CheckEmpty, Detail: "The summary is empty."},
			codes.FailedPrecondition, "SUMMARY_REJECTED",
			map[string]string{"summarizer": "model", "check": "empty"},
			0,
			"no summary by model passed the checks: The summary is empty.",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			model := persisting(fails(c.err))
			d := start(t, withSummarizer(model), func(o *service.ServerOptions) {
				o.Logger = slog.New(slog.NewTextHandler(&log, nil))
			})
			d.create("s", by("model", noFallback, small(1000)))
			d.append("s", working(10, 2000)...)
			before := d.view("s")
			req := compactRequest("s", nil)
			req.Focus = "the tests"
			_, err := d.compact(req)
			info := requireReason(t, err, c.code, c.reason)
			require.Equal(t, c.metadata, info.GetMetadata())
			require.Contains(t, err.Error(), c.says)
			require.Equal(t, c.retry, retryInfo(err))
			requireSameView(t, before, d.view("s"))
			require.Len(t, model.seen(), 1, "it has tried again itself")
			attempt := d.lastRecord("s").GetAttempt().GetProvenance()
			require.Equal(t, "model", attempt.GetSummarizer())
			require.Equal(t, uint32(3), attempt.GetSummarizerCalls())
			require.Equal(t, uint32(70), attempt.GetUsage().GetInputTokens())
			require.InDelta(t, 0.5, attempt.GetCostUsd(), 0)
			require.Equal(t, "the tests", attempt.GetFocus())

			// The fallback's entry has the same sentence.
			events, err := d.compact(compactRequest("s", &compactordv1.Policy{
				Summary: &compactordv1.SummaryPolicy{Fallback: fallingBack.Enum()},
			}))
			require.NoError(t, err)
			entry := last(t, events).GetCompleted().GetCompaction().GetProvenance()
			require.Equal(t, failureOf(d), entry.GetFallbackCause())
			require.Equal(t, "extractive", entry.GetSummarizer())
			require.Equal(t, uint32(3*(len(model.seen())-1)), entry.GetSummarizerCalls())
			require.NotNil(t, attempt.GetStrategy())
			require.Empty(t, cmp.Diff(entry.GetStrategy(), attempt.GetStrategy(), protocmp.Transform()))
			d.stop()
			var provider *summarizers.ProviderError
			if errors.As(c.err, &provider) {
				require.Equal(t, 2, strings.Count(log.String(), "summarizer failed"), "once for each compaction")
				require.Contains(t, log.String(), "summarizer=model")
				require.Contains(t, log.String(), "code="+provider.Code)
			}
		})
	}
}

// failureOf returns the message of the last attempt.
func failureOf(d *daemon) string {
	for _, r := range d.records("s") {
		if r.GetAttempt() != nil {
			return r.GetAttempt().GetMessage()
		}
	}
	return ""
}

func retryInfo(err error) time.Duration {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			return info.GetRetryDelay().AsDuration()
		}
	}
	return 0
}

// A provider that refuses all requests is asked once in a compaction, not for each text.
func TestProviderThatRefusesAllIsAskedOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err   *summarizers.ProviderError
		calls int
	}{
		"no such model":            {&summarizers.ProviderError{Status: 404, RefusesAll: true}, 1},
		"no money":                 {&summarizers.ProviderError{Status: 400, Code: "credit_balance_too_low", RefusesAll: true}, 1},
		"out of reach":             {&summarizers.ProviderError{Status: 503, Retryable: true}, 1},
		"about one of the results": {&summarizers.ProviderError{Status: 400}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			model := persisting(fails(c.err))
			d := start(t, withSummarizer(model), withStrategy(&shortener{results: []uint32{7, 11}, cut: proto.Uint32(5)}))
			policy := shortening(fallingBack)
			policy.Summary.Summarizer = proto.String("model")
			d.create("s", policy)
			d.append("s", working(3, 3000)...)
			events, err := d.compact(compactRequest("s", nil))
			require.NoError(t, err)
			require.NotNil(t, last(t, events).GetCompleted())
			require.Len(t, model.seen(), c.calls)
		})
	}
}

// The time limits are the policy's, else the summarizer's own, else the daemon's.
func TestTimeLimits(t *testing.T) {
	t.Parallel()
	hang := func(ctx context.Context, _ *summarizers.Request, _ summarizers.Progress) (*summarizers.Summary, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	for name, c := range map[string]struct {
		own, policy time.Duration
		want        time.Duration
	}{
		"the daemon's":     {0, 0, 2 * time.Minute},
		"the summarizer's": {3 * time.Second, 0, 3 * time.Second},
		"the policy's":     {3 * time.Second, 200 * time.Millisecond, 200 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			model := persisting(faithful)
			model.try = c.own
			d := start(t, withSummarizer(model))
			policy := by("model", noFallback, small(1000))
			if c.policy > 0 {
				policy.Summary.TryTimeout = durationpb.New(c.policy)
			}
			d.create("s", policy)
			d.append("s", working(10, 2000)...)
			_, err := d.compact(compactRequest("s", nil))
			require.NoError(t, err)
			require.Equal(t, c.want, model.seen()[0].TryTimeout)
		})
	}
	for name, own := range map[string]bool{"its own limit for all": true, "the policy's limit for all": false} {
		t.Run(name, func(t *testing.T) {
			model := persisting(hang)
			policy := by("model", noFallback, small(1000))
			if own {
				model.total = 100 * time.Millisecond
			} else {
				model.total = time.Hour
				policy.Summary.TotalTimeout = durationpb.New(100 * time.Millisecond)
			}
			d := start(t, withSummarizer(model))
			d.create("s", policy)
			d.append("s", working(10, 2000)...)
			_, err := d.compact(compactRequest("s", nil))
			requireReason(t, err, codes.DeadlineExceeded, "DEADLINE_EXCEEDED")
			require.ErrorContains(t, err, "within its time limit of 100ms")
			require.Len(t, model.seen(), 1)
		})
	}
}

// The text of a summarizer that tries again by itself is checked, too.
func TestPersistentSummarizerIsCheckedOnceMore(t *testing.T) {
	t.Parallel()
	model := persisting(func(context.Context, *summarizers.Request, summarizers.Progress) (*summarizers.Summary, error) {
		return &summarizers.Summary{Text: "%%% no sections %%%", Calls: 2}, nil
	})
	d := start(t, withSummarizer(model))
	d.create("s", by("model", noFallback, small(1000)))
	d.append("s", working(10, 2000)...)
	_, err := d.compact(compactRequest("s", nil))
	info := requireReason(t, err, codes.FailedPrecondition, "SUMMARY_REJECTED")
	require.Equal(t, "sections", info.GetMetadata()["check"])
	require.Len(t, model.seen(), 1)
}

// A part that was not shown need not be replaced: for the fallback, earlier parts are not shown again. The second attempt
// is the first part with its quotes.
func TestFallbackVoidsOnlyWhatWasShown(t *testing.T) {
	t.Parallel()
	model := persisting(func(
		_ context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		if req.Kind == summarizers.TurnPrefix {
			return nil, &summarizers.ProviderError{Status: 401, RefusesAll: true}
		}
		var b strings.Builder
		for _, h := range summarizers.Headings(req.Kind, req.Sections) {
			b.WriteString(strings.Repeat("#", h.Level) + " " + h.Title + "\nwritten\n")
		}
		text := strings.TrimSpace(b.String())
		p.Text(text)
		return &summarizers.Summary{Text: text, Calls: 1}, nil
	})
	d := start(t, withSummarizer(model))
	d.create("s", by("model", compactordv1.SummaryFallback_SUMMARY_FALLBACK_EXTRACTIVE, small(20)))
	d.append("s", working(4, 2000)...)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.Len(t, model.seen(), 2, "the turn is split")
	for _, e := range events {
		if delta := e.GetSummaryDelta(); delta != nil {
			require.LessOrEqual(t, delta.GetAttempt(), uint32(2))
		}
	}
	require.Equal(t, events[len(events)-1].GetCompleted().GetCompaction().GetSummary(), lastAttemptText(events))
}

// The policy's settings reach the model, and the model's report reaches the entry. A summary by the policy's own
// instructions is not checked for sections, but the fallback's is.
func TestModelIsAskedAsThePolicySays(t *testing.T) {
	t.Parallel()
	var tools string
	model := persisting(func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		view, err := req.View(ctx, compactordv1.Dialect_DIALECT_ANTHROPIC)
		if err != nil {
			return nil, err
		}
		tools = string(view.Tools)
		p.Text("void")
		p.Again()
		p.Text("All is well.")
		return &summarizers.Summary{
			Text: "All is well.", Model: "small-1", PromptVersion: 4, CachedPrefix: true, Calls: 1,
			Usage: &compactordv1.Usage{InputTokens: 50, CacheReadTokens: 40}, CostUSD: proto.Float64(0.25),
		}, nil
	})
	d := start(t, withSummarizer(model))
	policy := by("model", noFallback, small(1000))
	policy.Summary.PromptOverride = proto.String("Write a haiku.")
	policy.Summary.ExtraContext = &compactordv1.TextList{Texts: []string{"one", "two"}}
	policy.Summary.Input = &compactordv1.SummaryInput{ToolResultChars: proto.Uint32(300), Thinking: proto.Bool(false)}
	policy.Summary.ToolsJson = proto.String(`[{"name":"read"}]`)
	policy.Summary.CachedPrefix = proto.Bool(true)
	d.create("s", policy)
	d.append("s", working(10, 2000)...)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	requireGrammar(t, events)
	require.Equal(t, "All is well.", unquoted(lastAttemptText(events)))
	req := model.seen()[0]
	require.Equal(t, "Write a haiku.", req.PromptOverride)
	require.Equal(t, []string{"one", "two"}, req.ExtraContext)
	require.Equal(t, summarizers.Input{ToolResultChars: 300, ToolArgumentChars: 2000}, req.Input)
	require.JSONEq(t, `[{"name":"read"}]`, tools)
	entry := last(t, events).GetCompleted().GetCompaction()
	provenance := entry.GetProvenance()
	require.Equal(t, "small-1", provenance.GetModel())
	require.Equal(t, uint32(4), provenance.GetPromptVersion())
	require.True(t, provenance.GetCachedPrefix())
	require.Equal(t, uint32(40), provenance.GetUsage().GetCacheReadTokens())
	require.InDelta(t, 0.25, provenance.GetCostUsd(), 0)

	// The resolved policy has the defaults.
	answer, err := d.sessions.GetSession(t.Context(), &compactordv1.GetSessionRequest{SessionId: "s"})
	require.NoError(t, err)
	resolved := answer.GetSession().GetResolvedPolicy().GetSummary()
	require.True(t, resolved.GetRedact())
	require.Equal(t, uint32(2000), resolved.GetInput().GetToolArgumentChars())

	model.do = fails(&summarizers.ProviderError{Status: 503, Retryable: true})
	d.append("s", working(10, 2000)[1:]...)
	events, err = d.compact(compactRequest("s", &compactordv1.Policy{
		Summary: &compactordv1.SummaryPolicy{Fallback: fallingBack.Enum()},
	}))
	require.NoError(t, err)
	entry = last(t, events).GetCompleted().GetCompaction()
	require.Contains(t, entry.GetSummary(), "## Goal")
	require.Zero(t, entry.GetProvenance().GetPromptVersion())
	require.False(t, entry.GetProvenance().GetCachedPrefix())
}

func TestToolsAreAJSONArray(t *testing.T) {
	t.Parallel()
	d := start(t)
	for _, tools := range []string{`{"name":"read"}`, `[`, `null`, `[] []`, `["read"]`, `[{"name":"read"}, null]`, `[[]]`} {
		_, err := d.sessions.CreateSession(t.Context(), &compactordv1.CreateSessionRequest{
			Policy: &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{ToolsJson: proto.String(tools)}},
		})
		requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
		require.True(t, namesField(status.Convert(err), "policy.summary.tools_json"), tools)
	}
	d.create("s", &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{ToolsJson: proto.String(`[]`)}})
}

// Secrets are replaced in what is sent beside the messages, in the summary and in its stream, whoever writes it. The
// log keeps them.
func TestSummariesAreRedacted(t *testing.T) {
	t.Parallel()
	secret := redactiontest.Credentials(1, 1)[0]
	said := "Please deploy it, always with " + secret.Text + ", and never ask."
	for _, name := range []string{"model", "extractive"} {
		for _, redact := range []bool{true, false} {
			t.Run(name+map[bool]string{true: ", redacted", false: ", as it is"}[redact], func(t *testing.T) {
				model := persisting(faithful)
				d := start(t, withSummarizer(model))
				policy := by(name, noFallback, small(1000))
				policy.Summary.Redact = proto.Bool(redact)
				policy.Summary.ExtraContext = &compactordv1.TextList{Texts: []string{secret.Text}}
				d.create("s", policy)
				d.append("s", user(said), assistant("I will."))
				d.append("s", working(10, 2000)[1:]...)
				req := compactRequest("s", nil)
				req.Focus = secret.Text
				events, err := d.compact(req)
				require.NoError(t, err)
				entry := last(t, events).GetCompleted().GetCompaction()
				require.Equal(t, !redact, strings.Contains(entry.GetSummary(), secret.Secret))
				require.Equal(t, redact, strings.Contains(entry.GetSummary(), "[REDACTED:"))
				require.Equal(t, redact, entry.GetProvenance().GetRedactions() > 0)
				require.Equal(t, !redact, strings.Contains(entry.GetProvenance().GetFocus(), secret.Secret))
				if name == "extractive" {
					require.Equal(t, entry.GetSummary(), lastAttemptText(events))
				} else {
					asked := model.seen()[0]
					require.Equal(t, redact, asked.Redact != nil)
					require.Equal(t, !redact, strings.Contains(asked.Focus+asked.ExtraContext[0], secret.Secret))
					view, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
						Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, AsOf: proto.Uint32(42),
					})
					require.NoError(t, err)
					require.Contains(t, view.String(), secret.Secret, "the log has it, and so has the view of before")
				}
			})
		}
	}
}

// An attempt has the focus without its secrets, also where the compaction was cancelled.
func TestAttemptsAreRedacted(t *testing.T) {
	t.Parallel()
	secret := redactiontest.Credentials(1, 1)[0]
	for _, cancelled := range []bool{false, true} {
		t.Run(fmt.Sprintf("cancelled %v", cancelled), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			d := start(t, withSummarizer(&scripted{name: "model", do: func(
				within context.Context, _ *summarizers.Request, _ summarizers.Progress,
			) (*summarizers.Summary, error) {
				if cancelled {
					cancel()
					<-within.Done()
				}
				return nil, errors.New("no route")
			}}))
			d.create("s", by("model", noFallback, small(1000)))
			d.append("s", working(10, 2000)...)
			req := compactRequest("s", nil)
			req.Focus = "the login with " + secret.Text
			_, err := d.compactCtx(ctx, req)
			require.Error(t, err)
			// It waits for the end of the cancelled one.
			d.compactNothing("s")
			attempt := d.lastRecord("s").GetAttempt().GetProvenance()
			require.NotContains(t, attempt.GetFocus(), secret.Secret)
			require.Positive(t, attempt.GetRedactions())
			require.Contains(t, attempt.GetFocus(), "the login with ")
		})
	}
}

// A secret that an earlier daemon stored in a summary is not sent.
func TestPreviousSummariesAreRedacted(t *testing.T) {
	t.Parallel()
	secret := redactiontest.Credentials(1, 1)[0]
	model := persisting(faithful)
	d := start(t, withSummarizer(model))
	policy := by("model", noFallback, small(1000))
	policy.Summary.Redact = proto.Bool(false)
	d.create("s", policy)
	d.append("s", user("Please deploy it, always with "+secret.Text+", and never ask."), assistant("I will."))
	d.append("s", working(10, 2000)[1:]...)
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	d.append("s", working(10, 2000)[1:]...)
	events, err := d.compact(compactRequest("s", &compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{Redact: proto.Bool(true)}}))
	require.NoError(t, err)
	var previous []string
	for _, req := range model.seen() {
		if req.PreviousSummary != "" {
			previous = append(previous, req.PreviousSummary)
		}
	}
	require.Len(t, previous, 1)
	require.Contains(t, previous[0], "[REDACTED:")
	require.NotContains(t, previous[0], secret.Secret)
	require.NotContains(t, last(t, events).GetCompleted().GetCompaction().GetSummary(), secret.Secret)
}

// The log says once why the agent's own prompt was not used, with the summarizer's name.
func TestLogSaysWhyTextWasSent(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	model := persisting(func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		summary, err := faithful(ctx, req, p)
		summary.AsText = summarizers.AsTextDoesNotFit
		return summary, err
	})
	d := start(t, withSummarizer(model), func(o *service.ServerOptions) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	d.create("s", by("model", noFallback, small(20)))
	d.append("s", working(4, 2000)...)
	_, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.Len(t, model.seen(), 2)
	d.stop()
	require.Equal(t, 1, strings.Count(log.String(), `level=INFO msg="agent's own prompt not used" summarizer=model why=does_not_fit`))
}

// A summary that is not UTF-8 is handled like other bad summaries. A stream may break within a character.
func TestSummaryThatIsNotUTF8(t *testing.T) {
	t.Parallel()
	broken := &scripted{name: "broken", do: func(
		ctx context.Context, req *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		p.Text("\xe4")
		p.Text("\xb8\xad \xff")
		// Except for its last bytes it is good.
		s, err := faithful(ctx, req, unheard{})
		if err == nil {
			s.Text += "\xe4\xb8"
		}
		return s, err
	}}
	d := start(t, withSummarizer(broken))
	d.create("s", by("broken", fallingBack, small(1000)))
	d.append("s", working(10, 2000)...)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.Equal(t, fallingBack, last(t, events).GetCompleted().GetCompaction().GetProvenance().GetFallback())
	var first string
	for _, e := range events {
		if delta := e.GetSummaryDelta(); delta.GetAttempt() == 1 {
			first += delta.GetText()
		}
	}
	require.Equal(t, "中 \uFFFD", first)
}

// Seed case 111: several SYSTEM messages at the start are allowed, and what cannot be summarized is refused before a
// model is asked.
func TestCase111RefusedBeforeAModelIsAsked(t *testing.T) {
	t.Parallel()
	d, writer := caseDaemon(t, 400, system("One."), system("Two."), user(long(2000)), assistant(long(2000)), user(long(1200)))
	refused := func(policy *compactordv1.Policy, code codes.Code, reason string) {
		t.Helper()
		_, err := d.compact(compactRequest("s", policy))
		requireReason(t, err, code, reason)
	}
	refused(&compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{Summarizer: proto.String("nobody")}},
		codes.InvalidArgument, "UNKNOWN_NAME")
	refused(&compactordv1.Policy{Summary: &compactordv1.SummaryPolicy{ToolsJson: proto.String("{}")}},
		codes.InvalidArgument, "INVALID_FIELD")
	_, err := d.sessions.AppendMessages(t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: "s", Messages: []*compactordv1.Message{toolResult("nobody asked", "x"), {}},
	})
	require.Equal(t, codes.InvalidArgument, statusCode(err))
	require.Empty(t, writer.seen())

	entry := d.completed(nil)
	require.Len(t, writer.seen(), 1)
	require.Len(t, writer.seen()[0].Lead, 2)
	require.Equal(t, uint32(2), entry.GetCovered().GetStart())
}
