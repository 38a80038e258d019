package service_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/prompts"
)

func (d *daemon) plan(req *compactordv1.PlanCompactionRequest) *compactordv1.PlanCompactionResponse {
	d.t.Helper()
	answer, err := d.compactions.PlanCompaction(d.t.Context(), req)
	require.NoError(d.t, err)
	return answer
}

func (d *daemon) commitPlan(req *compactordv1.CommitCompactionRequest) *compactordv1.CompactionCompleted {
	d.t.Helper()
	answer, err := d.compactions.CommitCompaction(d.t.Context(), req)
	require.NoError(d.t, err)
	require.NotNil(d.t, answer.GetCompleted(), "%v", answer)
	return answer.GetCompleted()
}

// sectioned returns a summary with a text in its first section.
func sectioned(kind compactordv1.SummaryPromptKind, says string) string {
	of := summarizers.History
	if kind == compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_TURN_PREFIX {
		of = summarizers.TurnPrefix
	}
	return summarizers.Headings(of, session.StandardSections())[0].Line() + "\n" + says
}

// answersTo returns answers to the final prompts, as a model that writes little.
func answersTo(plan *compactordv1.PlanCompactionResponse) []string {
	var answers []string
	for _, p := range plan.GetPrompts() {
		switch {
		case !p.GetFinal():
		case p.GetKind() == compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_OBSERVATION:
			answers = append(answers, "All is well there.")
		case p.GetKind() == compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_FOLD:
			answers = append(answers, "## Sub-task\nLook into it.\n\n## Outcome\n- All is well there.")
		default:
			answers = append(answers, sectioned(p.GetKind(), "Look into the modules [#1]."))
		}
	}
	return answers
}

func commitment(plan *compactordv1.PlanCompactionResponse, answers ...string) *compactordv1.CommitCompactionRequest {
	return &compactordv1.CommitCompactionRequest{SessionId: "s", PlanToken: plan.GetPlanToken(), Answers: answers}
}

// withPlan returns a daemon with a session s, and a plan for it.
func withPlan(t *testing.T, options ...option) (*daemon, *compactordv1.PlanCompactionResponse) {
	t.Helper()
	d := start(t, options...)
	d.create("s", keepTurns(3))
	d.append("s", working(10, 2000)...)
	return d, d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s"})
}

// The client model's text is committed like that of a summarizer of the daemon.
func TestCommitIsWhatCompactWouldWrite(t *testing.T) {
	t.Parallel()
	text := sectioned(compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_HISTORY, "Look into the modules [#1].")
	d, plan := withPlan(t, withSummarizer(writes(text)))
	d.fork(&compactordv1.ForkSessionRequest{SessionId: "s", NewSessionId: "twin"})
	events, err := d.compact(compactRequest("twin", by("writer", noFallback, &compactordv1.Policy{})))
	require.NoError(t, err)
	want := last(t, events).GetCompleted().GetCompaction()

	require.Len(t, plan.GetPrompts(), int(plan.GetPlan().GetChunks()))
	require.False(t, plan.GetHasMore())
	require.Less(t, len(plan.GetPlanToken()), 1000)
	require.Equal(t, want.GetFirstKeptIndex(), plan.GetPlan().GetCut().GetFirstKeptIndex())
	for i, p := range plan.GetPrompts() {
		require.Equal(t, compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_HISTORY, p.GetKind())
		require.Equal(t, i == len(plan.GetPrompts())-1, p.GetFinal())
		require.NotEmpty(t, p.GetSystem())
		require.NotZero(t, p.GetTokens())
		require.Nil(t, p.ViewMessages)
	}
	req := commitment(plan, "<think>\nHm.\n</think>\n"+text+"\n")
	req.Model, req.SummarizerCalls, req.CostUsd = "their-model", 3, proto.Float64(0.25)
	req.Usage = &compactordv1.Usage{InputTokens: 900, OutputTokens: 70}
	done := d.commitPlan(req)
	got := done.GetCompaction()
	provenance := got.GetProvenance()
	require.Equal(t, "client", provenance.GetSummarizer())
	require.Equal(t, "their-model", provenance.GetModel())
	require.Equal(t, uint32(3), provenance.GetSummarizerCalls())
	require.InDelta(t, 0.25, provenance.GetCostUsd(), 1e-9)
	require.Equal(t, uint32(900), provenance.GetUsage().GetInputTokens())
	require.Equal(t, uint32(prompts.Version), provenance.GetPromptVersion())
	require.Equal(t, d.view("s")[0].GetTokens()+tokensOf(d.view("s")[1:]), done.GetReport().GetTokens())
	require.True(t, proto.Equal(got, d.lastRecord("s").GetCompaction()))

	// Everything but the writer is the same.
	for _, e := range []*compactordv1.CompactionEntry{want, got} {
		e.Id, e.CreatedAt, e.Sequence = "", nil, 0
		by := e.GetProvenance()
		by.OperationId, by.Summarizer, by.Model, by.Duration = "", "", "", nil
		by.SummarizerCalls, by.CostUsd, by.Usage, by.PromptVersion = 0, nil, nil, 0
	}
	require.Empty(t, cmp.Diff(want, got, protocmp.Transform()))
	requireSameMessages(t, d.view("twin"), d.view("s"))
	d.requireSound(t)
}

func requireSameMessages(t require.TestingT, want, got []*compactordv1.ViewMessage) {
	require.Len(t, got, len(want))
	for i := range want {
		require.True(t, proto.Equal(want[i].GetMessage(), got[i].GetMessage()), "message %d: %v, not %v", i, got[i], want[i])
		require.Equal(t, want[i].GetTokens(), got[i].GetTokens())
	}
}

// I13: messages that are appended between plan and commit are in the view after the summary.
func TestAppendsBetweenPlanAndCommit(t *testing.T) {
	t.Parallel()
	d, plan := withPlan(t)
	before := d.view("s")
	d.append("s", user("And one more thing."), assistant("Yes?"))
	entry := d.commitPlan(commitment(plan, answersTo(plan)...)).GetCompaction()
	require.Equal(t, plan.GetPlan().GetCut().GetFirstKeptIndex(), entry.GetFirstKeptIndex())
	after := d.view("s")
	require.Equal(t, "And one more thing.", textOf(after[len(after)-2].GetMessage()))
	require.Equal(t, entry.GetId(), after[1].GetSummaryOf())
	kept := after[2:]
	requireSameBytes(t, before[len(before)-len(kept)+2:], kept[:len(kept)-2])
	d.requireSound(t)
}

// A commit of a plan that can no longer be carried out writes nothing, not even an attempt.
func TestCommitOfAnOldPlan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(d *daemon)
		code      codes.Code
		reason    string
	}{
		"reverted": {func(d *daemon) {
			d.revert(&compactordv1.RevertToCheckpointRequest{
				SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Turns{Turns: 1},
			})
		}, codes.Aborted, "STATE_CHANGED"},
		"reverted and undone": {func(d *daemon) {
			d.revert(&compactordv1.RevertToCheckpointRequest{
				SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Turns{Turns: 1},
			})
			d.revert(&compactordv1.RevertToCheckpointRequest{
				SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_Undo{Undo: true},
			})
		}, codes.Aborted, "STATE_CHANGED"},
		"compacted": {func(d *daemon) {
			_, err := d.compact(compactRequest("s", nil))
			require.NoError(d.t, err)
		}, codes.Aborted, "STATE_CHANGED"},
		"another cut by another policy": {func(d *daemon) {
			_, err := d.sessions.UpdateSession(d.t.Context(), &compactordv1.UpdateSessionRequest{
				SessionId: "s", UpdateMask: mask("policy"), Policy: keepTurns(4),
			})
			require.NoError(d.t, err)
		}, codes.Aborted, "STATE_CHANGED"},
		"other sections by another policy": {func(d *daemon) {
			policy := keepTurns(3)
			policy.Summary = &compactordv1.SummaryPolicy{Sections: &compactordv1.SectionList{Sections: sessiontest.CodeSections()}}
			_, err := d.sessions.UpdateSession(d.t.Context(), &compactordv1.UpdateSessionRequest{
				SessionId: "s", UpdateMask: mask("policy"), Policy: policy,
			})
			require.NoError(d.t, err)
		}, codes.Aborted, "STATE_CHANGED"},
		"created anew": {func(d *daemon) { recreate(d, small(1000)) }, codes.Aborted, "STATE_CHANGED"},
		"shorter when created anew": {func(d *daemon) {
			d.delete("s")
			d.create("s", small(1000))
		}, codes.Aborted, "STATE_CHANGED"},
		"deleted": {func(d *daemon) { d.delete("s") }, codes.NotFound, "SESSION_NOT_FOUND"},
	} {
		t.Run(name, func(t *testing.T) {
			d, plan := withPlan(t)
			c.meanwhile(d)
			commit := func() {
				_, err := d.compactions.CommitCompaction(t.Context(), commitment(plan, answersTo(plan)...))
				requireReason(t, err, c.code, c.reason)
			}
			if c.code == codes.NotFound {
				commit()
				return
			}
			d.requireUnchanged(t, commit)
		})
	}
}

// A changed policy that leads to the same plan and prompts does not prevent the commit.
func TestCommitUnderAPolicyThatPlansTheSame(t *testing.T) {
	t.Parallel()
	d, plan := withPlan(t)
	policy := keepTurns(3)
	policy.Summary = &compactordv1.SummaryPolicy{
		Fallback: noFallback.Enum(), Placement: compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_SYSTEM.Enum(),
	}
	_, err := d.sessions.UpdateSession(t.Context(), &compactordv1.UpdateSessionRequest{
		SessionId: "s", UpdateMask: mask("policy"), Policy: policy,
	})
	require.NoError(t, err)
	d.commitPlan(commitment(plan, answersTo(plan)...))
	d.requireSound(t)
}

// Where another compaction commits while the texts are checked, the first commit wins.
func TestCommitThatIsOvertaken(t *testing.T) {
	t.Parallel()
	var d *daemon
	overtake := true
	d, plan := withPlan(t, withHooks(service.Hooks{BeforeCommit: func(ctx context.Context) {
		if overtake {
			overtake = false
			_, err := d.compactCtx(ctx, compactRequest("s", nil))
			require.NoError(t, err)
		}
	}}))
	_, err := d.compactions.CommitCompaction(t.Context(), commitment(plan, answersTo(plan)...))
	info := requireReason(t, err, codes.Aborted, "STATE_CHANGED")
	attempts := d.attempts()
	require.Len(t, attempts, 1)
	require.Equal(t, info.GetMetadata()["operation_id"], attempts[0].GetProvenance().GetOperationId())
	require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_STATE_CHANGED, attempts[0].GetErrorReason())
	require.Equal(t, "client", attempts[0].GetProvenance().GetSummarizer())
	d.requireSound(t)
}

// Each check of a summary refuses a client model's text, and says in a sentence what is wrong.
func TestAnswersThatDoNotPass(t *testing.T) {
	t.Parallel()
	good := sectioned(compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_HISTORY, "Look into the modules [#1].")
	for check, text := range map[string]string{
		summarizers.CheckEmpty:     "<think>What did they want?</think>",
		summarizers.CheckToolCall:  good + "\n<tool_call>{}</tool_call>",
		summarizers.CheckErrorText: "I'm sorry, but I can't help with that.",
		summarizers.CheckCutOff:    good + "\n## Goal",
		summarizers.CheckBudget:    good + strings.Repeat(" and so on", 20_000),
		summarizers.CheckSections:  "They looked into some modules.",
	} {
		t.Run(check, func(t *testing.T) {
			d, plan := withPlan(t)
			before := d.view("s")
			_, err := d.compactions.CommitCompaction(t.Context(), commitment(plan, text))
			info := requireReason(t, err, codes.FailedPrecondition, "SUMMARY_REJECTED")
			require.Equal(t, map[string]string{"summarizer": "client", "check": check, "prompt": "0"}, info.GetMetadata())
			require.Contains(t, status.Convert(err).Message(), "no summary by client passed the checks: The ")
			requireSameBytes(t, before, d.view("s"))
			attempts := d.attempts()
			require.Len(t, attempts, 1)
			require.Equal(t, compactordv1.ErrorReason_ERROR_REASON_SUMMARY_REJECTED, attempts[0].GetErrorReason())

			// A better text is accepted with the same plan.
			entry := d.commitPlan(commitment(plan, good)).GetCompaction()
			require.Equal(t, good, unquoted(entry.GetSummary()))
			d.requireSound(t)
		})
	}
}

// A summary of headings alone would lose everything that it covers. Only `extractive` may find nothing to say.
func TestAnswersThatSayNothing(t *testing.T) {
	t.Parallel()
	nothing := sectioned(compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_HISTORY, "(none)") + "\n\n## Next Steps\n- None"
	for name, commitOf := range map[string]func(plan *compactordv1.PlanCompactionResponse) *compactordv1.CommitCompactionRequest{
		"an answer": func(plan *compactordv1.PlanCompactionResponse) *compactordv1.CommitCompactionRequest {
			return commitment(plan, nothing)
		},
		"the whole summary": func(plan *compactordv1.PlanCompactionResponse) *compactordv1.CommitCompactionRequest {
			req := commitment(plan)
			req.Summary = nothing
			return req
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, plan := withPlan(t)
			before := d.view("s")
			_, err := d.compactions.CommitCompaction(t.Context(), commitOf(plan))
			info := requireReason(t, err, codes.FailedPrecondition, "SUMMARY_REJECTED")
			require.Equal(t, summarizers.CheckEmpty, info.GetMetadata()["check"])
			require.ErrorContains(t, err, "All sections of the summary are empty.")
			requireSameBytes(t, before, d.view("s"))

			req := commitOf(plan)
			req.UseFallback = true
			require.Equal(t, "extractive", d.commitPlan(req).GetCompaction().GetProvenance().GetSummarizer())
		})
	}
	d := start(t, withSummarizer(writes(nothing)))
	d.create("s", by("writer", noFallback, keepTurns(3)))
	d.append("s", working(10, 2000)...)
	_, err := d.compact(compactRequest("s", nil))
	info := requireReason(t, err, codes.FailedPrecondition, "SUMMARY_REJECTED")
	require.Equal(t, summarizers.CheckEmpty, info.GetMetadata()["check"])
}

func TestCommitWithFallback(t *testing.T) {
	t.Parallel()
	d, plan := withPlan(t)
	req := commitment(plan, "I'm sorry, but I can't help with that.")
	req.UseFallback, req.SummarizerCalls, req.Model = true, 1, "their-model"
	entry := d.commitPlan(req).GetCompaction()
	provenance := entry.GetProvenance()
	require.Equal(t, "extractive", provenance.GetSummarizer())
	require.Equal(t, fallingBack, provenance.GetFallback())
	require.Equal(t, "no summary by client passed the checks: The summary is an error message or a refusal.", provenance.GetFallbackCause())
	require.Empty(t, provenance.GetModel())
	require.Equal(t, uint32(1), provenance.GetSummarizerCalls())

	d, _ = withPlan(t)
	d.append("s", user("More."))
	plan = d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s", Policy: &compactordv1.Policy{
		Summary: &compactordv1.SummaryPolicy{Fallback: noFallback.Enum()},
	}})
	req = commitment(plan, "I'm sorry, but I can't help with that.")
	req.UseFallback = true
	_, err := d.compactions.CommitCompaction(t.Context(), req)
	requireReason(t, err, codes.FailedPrecondition, "SUMMARY_REJECTED")
}

// Three refused automatic commits in a row open the breaker, like failed compactions.
func TestRefusedCommitsOpenTheBreaker(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := keepTurns(3)
	policy.Trigger = &compactordv1.Trigger{TriggerTokens: proto.Uint32(4000)}
	d.create("s", policy)
	d.append("s", working(10, 2000)...)
	due := &compactordv1.PlanCompactionRequest{SessionId: "s", Reason: threshold}
	plan := d.plan(due)
	for range 3 {
		_, err := d.compactions.CommitCompaction(t.Context(), commitment(plan, ""))
		requireReason(t, err, codes.FailedPrecondition, "SUMMARY_REJECTED")
	}
	_, err := d.compactions.PlanCompaction(t.Context(), due)
	requireReason(t, err, codes.FailedPrecondition, "BREAKER_OPEN")
	// An earlier plan can still be committed.
	d.commitPlan(commitment(plan, answersTo(plan)...))
}

func TestPlansThatDoNothing(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(1, 100)...)
	plan := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s", Reason: threshold})
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_BELOW_THRESHOLD, plan.GetPlan().GetSkipReason())
	require.Contains(t, plan.GetMessage(), "compaction is due at 15000")
	require.Empty(t, plan.GetPlanToken())
	require.Empty(t, plan.GetPrompts())
	require.NotNil(t, plan.GetReport())

	plan = d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s"})
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT, plan.GetPlan().GetSkipReason())
	require.Equal(t, d.report("s").GetTokens(), plan.GetPlan().GetTokensBefore())

	d.create("full", &compactordv1.Policy{
		ContextWindow: proto.Uint32(20_000), OverheadTokens: proto.Uint32(19_000),
	})
	d.append("full", working(1, 100)...)
	_, err := d.compactions.PlanCompaction(t.Context(), &compactordv1.PlanCompactionRequest{SessionId: "full", Reason: threshold})
	requireReason(t, err, codes.FailedPrecondition, "TARGET_UNREACHABLE")
	_, err = d.compactions.PlanCompaction(t.Context(), &compactordv1.PlanCompactionRequest{SessionId: "s", Replay: proto.Bool(true)})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
}

// A commit that does not match the plan is refused, and changes nothing.
func TestCommitsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	d, plan := withPlan(t)
	good := answersTo(plan)
	other := &compactordv1.ClientPlan{Strategy: "theirs", FirstKeptIndex: proto.Uint32(5)}
	for name, c := range map[string]struct {
		change func(req *compactordv1.CommitCompactionRequest)
		field  string
	}{
		"no answer":           {func(req *compactordv1.CommitCompactionRequest) { req.Answers = nil }, "answers"},
		"two answers":         {func(req *compactordv1.CommitCompactionRequest) { req.Answers = append(req.Answers, "x") }, "answers"},
		"both":                {func(req *compactordv1.CommitCompactionRequest) { req.Summary = "x" }, "answers"},
		"a plan of its own":   {func(req *compactordv1.CommitCompactionRequest) { req.ClientPlan = other }, "client_plan"},
		"an item of nobody":   {func(req *compactordv1.CommitCompactionRequest) { req.ProviderBlock = &compactordv1.OpaquePart{} }, "provider_block.dialect"},
		"an item of gemini":   {withBlock(compactordv1.Dialect_DIALECT_GEMINI, `{"type":"compaction"}`), "provider_block.dialect"},
		"an item of chat":     {withBlock(compactordv1.Dialect_DIALECT_OPENAI_CHAT, `{"type":"compaction"}`), "provider_block.dialect"},
		"a list":              {withBlock(responses, `[]`), "provider_block.json"},
		"no JSON":             {withBlock(responses, `{`), "provider_block.json"},
		"nothing encrypted":   {withBlock(responses, `{"type":"compaction"}`), "provider_block.json"},
		"an id that is bad":   {withBlock(responses, `{"type":"compaction","id":"\u0000","encrypted_content":"x"}`), "provider_block.json"},
		"a message":           {withBlock(responses, `{"type":"message","role":"user","content":"x"}`), "provider_block.type"},
		"a failed compaction": {withBlock(anthropic, `{"type":"compaction","content":null}`), "provider_block.json"},
		"an empty compaction": {withBlock(anthropic, `{"type":"compaction","content":""}`), "provider_block.json"},
		"a content of blocks": {withBlock(anthropic, `{"type":"compaction","content":[]}`), "provider_block.json"},
	} {
		t.Run(name, func(t *testing.T) {
			req := commitment(plan, good...)
			c.change(req)
			d.requireUnchanged(t, func() {
				_, err := d.compactions.CommitCompaction(t.Context(), req)
				requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
				require.Contains(t, status.Convert(err).Message(), c.field)
			})
		})
	}
	_, err := d.compactions.CommitCompaction(t.Context(), commitment(plan))
	require.ErrorContains(t, err, "answers: send 1, one for each final prompt, instead of 0")
}

func withBlock(kind compactordv1.Dialect, raw string) func(req *compactordv1.CommitCompactionRequest) {
	return func(req *compactordv1.CommitCompactionRequest) {
		req.ProviderBlock = &compactordv1.OpaquePart{Dialect: kind, Type: "compaction", Json: raw}
	}
}

// The client can send a whole summary instead of the answers, also where a turn is split.
func TestCommitOfAWholeSummary(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", keepMessages(2))
	d.append("s", user("Begin. "+long(400)), assistant(long(400)), user("Go on."), assistant(long(900)), assistant("I do."), assistant("Done."))
	plan := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s"})
	require.Equal(t, uint32(2), plan.GetPlan().GetCut().GetSplitTurnStart())
	require.Equal(t, []compactordv1.SummaryPromptKind{
		compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_HISTORY,
		compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_TURN_PREFIX,
	}, kindsOf(plan))
	text := sectioned(compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_HISTORY, "All of it.")
	req := commitment(plan)
	req.Summary = text
	entry := d.commitPlan(req).GetCompaction()
	require.Equal(t, text, entry.GetSummary())
	require.Equal(t, uint32(2), entry.GetSplitTurnStart())
	require.Zero(t, entry.GetProvenance().GetPromptVersion())
	d.requireSound(t)

	// The error names no prompt.
	d, plan = withPlan(t)
	req = commitment(plan)
	req.Summary = "They worked on the parser."
	_, err := d.compactions.CommitCompaction(t.Context(), req)
	info := requireReason(t, err, codes.FailedPrecondition, "SUMMARY_REJECTED")
	require.Equal(t, map[string]string{"summarizer": "client", "check": "sections"}, info.GetMetadata())
}

func kindsOf(plan *compactordv1.PlanCompactionResponse) []compactordv1.SummaryPromptKind {
	var kinds []compactordv1.SummaryPromptKind
	for _, p := range plan.GetPrompts() {
		if p.GetFinal() {
			kinds = append(kinds, p.GetKind())
		}
	}
	return kinds
}

// The parts of a split turn are joined as Compact joins them. If the first part has no new history, the summary before
// stays as it is, and no prompt asks for it.
func TestCommitOfASplitTurn(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", keepMessages(2))
	d.append("s", user("Begin. "+long(400)), assistant(long(400)), user("Go on."), assistant(long(900)), assistant("I do."), assistant("Done."))
	plan := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s"})
	history, prefix := answersTo(plan)[0], answersTo(plan)[1]
	summary := d.commitPlan(commitment(plan, history, prefix)).GetCompaction().GetSummary()
	require.True(t, strings.HasPrefix(summary, history+"\n\n---\n\n"), summary)
	require.True(t, strings.HasSuffix(summary, "\n\n"+prefix), summary)

	// The next turn is split, and nothing lies between the summary and its first message.
	d = start(t)
	d.create("s", keepMessages(2))
	d.append("s", user("Begin. "+long(400)), assistant(long(400)), user("Next. "+long(400)), assistant("Yes."))
	first := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s"})
	before := d.commitPlan(commitment(first, answersTo(first)...)).GetCompaction()
	require.Nil(t, before.SplitTurnStart)
	d.append("s", assistant(long(900)), assistant("I do."), assistant("Done."))
	plan = d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s"})
	require.Equal(t, []compactordv1.SummaryPromptKind{compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_TURN_PREFIX}, kindsOf(plan))
	summary = d.commitPlan(commitment(plan, prefix)).GetCompaction().GetSummary()
	require.True(t, strings.HasPrefix(summary, before.GetSummary()+"\n\n---\n\n"), summary)
	require.True(t, strings.HasSuffix(summary, prefix), summary)
	d.requireSound(t)
}

// A commit that is sent again returns the recorded response. With other content it is refused.
func TestCommitSentAgain(t *testing.T) {
	t.Parallel()
	d, plan := withPlan(t)
	req := commitment(plan, answersTo(plan)...)
	req.RequestId = "r"
	first := d.commitPlan(req)
	var second *compactordv1.CompactionCompleted
	d.requireUnchanged(t, func() { second = d.commitPlan(req) })
	require.True(t, proto.Equal(first, second))
	req.Model = "another"
	_, err := d.compactions.CommitCompaction(t.Context(), req)
	requireReason(t, err, codes.InvalidArgument, "REQUEST_ID_REUSED")
}
