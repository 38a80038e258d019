package service_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// allPrompts returns the prompts of a plan, read page by page, and checks the limits of each page.
func (d *daemon) allPrompts(req *compactordv1.PlanCompactionRequest) (*compactordv1.PlanCompactionResponse, int) {
	d.t.Helper()
	req = proto.CloneOf(req)
	all := d.plan(req)
	pages := 1
	for more := all; more.GetHasMore(); pages++ {
		req.FromPrompt = uint32(len(all.GetPrompts()))
		more = d.plan(req)
		require.NotEmpty(d.t, more.GetPrompts())
		require.Equal(d.t, all.GetPlanToken(), more.GetPlanToken())
		require.True(d.t, proto.Equal(all.GetPlan(), more.GetPlan()), "the plan is the same on each page")
		size := 0
		for _, p := range more.GetPrompts() {
			size += proto.Size(p)
		}
		require.True(d.t, size <= 3<<20 || len(more.GetPrompts()) == 1)
		all.Prompts = append(all.Prompts, more.GetPrompts()...)
		all.HasMore, all.Redactions = more.GetHasMore(), all.GetRedactions()+more.GetRedactions()
	}
	return all, pages
}

// What does not fit into one prompt for the client's model is folded: each prompt has the answer to the one before.
func TestFoldedPrompts(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", keepTurns(3))
	d.append("s", working(40, 2000)...)
	whole := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s"})
	require.Len(t, whole.GetPrompts(), 1)
	require.Nil(t, whole.GetPrompts()[0].TextBeforeAnswer)

	folded := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s", MaxPromptTokens: proto.Uint32(6000)})
	require.Greater(t, len(folded.GetPrompts()), 2)
	require.Len(t, folded.GetPrompts(), int(folded.GetPlan().GetChunks()))
	var tokens uint32
	for i, p := range folded.GetPrompts() {
		require.Equal(t, i > 0, p.TextBeforeAnswer != nil, "prompt %d", i)
		require.Equal(t, i == len(folded.GetPrompts())-1, p.GetFinal())
		require.LessOrEqual(t, p.GetTokens(), uint32(6000))
		tokens += p.GetTokens()
	}
	require.Equal(t, tokens, folded.GetPlan().GetSummarizerInputTokens())
	// The page and prompt limits do not change the plan.
	require.Equal(t, whole.GetPlanToken(), folded.GetPlanToken())
	entry := d.commitPlan(commitment(folded, answersTo(folded)...)).GetCompaction()
	require.Equal(t, folded.GetPlan().GetCut().GetFirstKeptIndex(), entry.GetFirstKeptIndex())
}

// A page of prompts ends before it is too long for a client, and the client chooses where the next begins.
func TestPagesOfPrompts(t *testing.T) {
	inFull(t)
	t.Parallel()
	d := start(t)
	d.create("s", &compactordv1.Policy{
		ContextWindow: proto.Uint32(1_000_000), Strategy: keepTurns(1).GetStrategy(),
	})
	var turns []*compactordv1.Message
	for i := range 18 {
		turns = append(turns, user(strings.Repeat(fmt.Sprintf("What of module %d? ", i), 20_000)), assistant("It is fine."))
	}
	for _, m := range turns {
		d.append("s", m)
	}
	req := &compactordv1.PlanCompactionRequest{SessionId: "s", MaxPromptTokens: proto.Uint32(300_000)}
	all, pages := d.allPrompts(req)
	require.Greater(t, pages, 1)
	require.Len(t, all.GetPrompts(), int(all.GetPlan().GetChunks()))
	text := ""
	for i, p := range all.GetPrompts() {
		require.Equal(t, i == len(all.GetPrompts())-1, p.GetFinal())
		text += p.GetText() + p.GetTextBeforeAnswer()
	}
	for i := range 17 {
		require.Contains(t, text, fmt.Sprintf("What of module %d?", i))
	}
	// A short text for a long conversation counts as a fragment.
	answers := answersTo(all)
	for i := range answers {
		answers[i] += strings.Repeat(" Module by module all is fine.", 40)
	}
	d.commitPlan(commitment(all, answers...))
}

func TestPromptBeyondTheLast(t *testing.T) {
	t.Parallel()
	d, plan := withPlan(t)
	n := uint32(len(plan.GetPrompts()))
	_, err := d.compactions.PlanCompaction(t.Context(), &compactordv1.PlanCompactionRequest{SessionId: "s", FromPrompt: n})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	require.ErrorContains(t, err, "from_prompt: there are 1 prompts")
}

// The prompts for the client's model have the focus, the extra context and the policy's own instructions, as those for
// the daemon's models do, and no secret.
func TestContentOfPrompts(t *testing.T) {
	t.Parallel()
	const secret = "ghp_" + "x9Kq2LmN8pRs4TuV6wYz1AbC3dEf5GhJ7kM0"
	d := start(t)
	d.create("s", keepTurns(3))
	d.append("s", working(10, 2000)...)
	req := &compactordv1.PlanCompactionRequest{SessionId: "s", Focus: "the tests of module 4", Policy: &compactordv1.Policy{
		Summary: &compactordv1.SummaryPolicy{
			PromptOverride: proto.String("Write a haiku about it."), ExtraContext: &compactordv1.TextList{Texts: []string{"The release is on Friday."}},
		},
	}}
	plan := d.plan(req)
	text := plan.GetPrompts()[0].GetText()
	for _, told := range []string{"the tests of module 4", "Write a haiku about it.", "The release is on Friday.", "[#1 user]", "line of module 0"} {
		require.Contains(t, text, told)
	}
	require.NotContains(t, text, "## Key Decisions")
	require.Zero(t, plan.GetRedactions())
	// With other instructions the sections may be others, too.
	entry := d.commitPlan(commitment(plan, "Ten modules read through,\nall of their tests are still green.\nAutumn leaves fall."))
	require.Equal(t, "the tests of module 4", entry.GetCompaction().GetProvenance().GetFocus())

	d = start(t)
	d.create("s", keepTurns(1))
	d.append("s", user("The token is "+secret+"; use it. "+long(400)), assistant("I use "+secret+"."), user("Go on."))
	told := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s", Policy: &compactordv1.Policy{
		Summary: &compactordv1.SummaryPolicy{Redact: proto.Bool(false)},
	}})
	require.Contains(t, told.GetPrompts()[0].GetText(), secret)
	require.Zero(t, told.GetRedactions())
	plan = d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s"})
	require.NotContains(t, plan.GetPrompts()[0].GetText(), secret)
	require.Equal(t, uint32(2), plan.GetRedactions())
	got := d.commitPlan(commitment(plan,
		sectioned(compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_HISTORY, "Use "+secret+"."))).GetCompaction()
	require.NotContains(t, got.GetSummary(), secret)
	require.NotZero(t, got.GetProvenance().GetRedactions())
}

// The tokens that are sent with the agent's prompt but are not in the log count, so that the prompt fits: the policy's
// tools, or the session's overhead if that is more.
func TestPromptOnTheAgentsOwnCountsWhatGoesWithIt(t *testing.T) {
	t.Parallel()
	planned := func(tools string, overhead, limit uint32) *compactordv1.SummaryPrompt {
		d := start(t)
		policy := keepTurns(3)
		policy.Summary = &compactordv1.SummaryPolicy{CachedPrefix: proto.Bool(true), ToolsJson: proto.String(tools)}
		policy.OverheadTokens = proto.Uint32(overhead)
		d.create("s", policy)
		d.append("s", working(10, 2000)...)
		req := &compactordv1.PlanCompactionRequest{SessionId: "s"}
		if limit > 0 {
			req.MaxPromptTokens = proto.Uint32(limit)
		}
		return d.plan(req).GetPrompts()[0]
	}
	tools := `[{"name":"read","description":"` + strings.Repeat("reads on ", 500) + `"}]`
	alone := planned("", 0, 0).GetTokens()
	ofTools := planned(tools, 0, 0).GetTokens() - alone
	require.Greater(t, ofTools, uint32(900))
	require.Equal(t, alone+ofTools, planned(tools, ofTools-1, 0).GetTokens(), "they are told once")
	require.Equal(t, alone+5000, planned(tools, 5000, 0).GetTokens())
	require.NotNil(t, planned(tools, 0, alone+ofTools).ViewMessages)
	require.Nil(t, planned(tools, 0, alone+ofTools-1).ViewMessages)
}

// With cached_prefix, the client's model is sent what the agent sends, up to the cut, and then one instruction.
func TestPromptOnTheAgentsOwn(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := small(1000)
	policy.Summary = &compactordv1.SummaryPolicy{CachedPrefix: proto.Bool(true)}
	d.create("s", policy)
	d.append("s", working(10, 2000)...)
	req := &compactordv1.PlanCompactionRequest{SessionId: "s", Focus: "the tests of module 4"}
	plan := d.plan(req)
	require.NotNil(t, plan.GetPlan().GetCut().SplitTurnStart, "a turn is split, and still there is one prompt")
	require.Len(t, plan.GetPrompts(), 1)
	p := plan.GetPrompts()[0]
	view := d.view("s")
	require.Equal(t, plan.GetPlan().GetCut().GetFirstKeptIndex(), view[p.GetViewMessages()].GetIndex())
	require.Empty(t, p.GetSystem())
	require.True(t, p.GetFinal())
	require.Contains(t, p.GetText(), "the tests of module 4")
	require.NotContains(t, p.GetText(), "line of module 0")
	require.Greater(t, p.GetTokens(), tokensOf(view[:p.GetViewMessages()]))
	whole := plan.GetPlan().GetCut().GetMaxSummaryTokens()
	require.Less(t, p.GetMaxAnswerTokens(), whole/2, "half is for quotes, and the view's frame, slots and files are in the budget, too")
	require.Greater(t, p.GetMaxAnswerTokens(), whole*3/8-25)
	entry := d.commitPlan(commitment(plan, answersTo(plan)...)).GetCompaction()
	require.True(t, entry.GetProvenance().GetCachedPrefix())

	// Where that does not fit, the conversation is sent as text, for one summary too.
	d.append("s", working(10, 2000)[1:]...)
	req.MaxPromptTokens = proto.Uint32(4000)
	plan = d.plan(req)
	for _, p := range plan.GetPrompts() {
		require.Nil(t, p.ViewMessages)
		require.Equal(t, compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_HISTORY, p.GetKind())
	}
	require.Len(t, kindsOf(plan), 1)
	require.False(t, d.commitPlan(commitment(plan, answersTo(plan)...)).GetCompaction().GetProvenance().GetCachedPrefix())
	d.requireSound(t)
}
