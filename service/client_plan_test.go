package service_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers/prompts"
)

func hides(index uint32, by string) *compactordv1.Edit {
	return &compactordv1.Edit{Index: index, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: by, TokensFreed: 1 << 30}
}

func shortens(index uint32) *compactordv1.Edit {
	return &compactordv1.Edit{Index: index, Kind: compactordv1.EditKind_EDIT_KIND_COMPRESS_RESULT, BySummarizer: true}
}

// A client plan with a cut, edits and results that the client's model shortens. The daemon computes the rest, as for
// its own strategies.
func TestStrategyOfTheClient(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(6, 2000)...)
	// Turn n is messages 4n+1 to 4n+4: request, call, result, answer.
	own := &compactordv1.ClientPlan{
		Strategy: "theirs-2", FirstKeptIndex: proto.Uint32(12),
		Edits: []*compactordv1.Edit{hides(15, "[gone]"), shortens(19)},
	}
	req := &compactordv1.PlanCompactionRequest{SessionId: "s", ClientPlan: own, Policy: &compactordv1.Policy{
		Trigger: &compactordv1.Trigger{ReserveTokens: proto.Uint32(1000)},
	}}
	plan := d.plan(req)
	cut := plan.GetPlan().GetCut()
	require.Equal(t, uint32(12), cut.GetFirstKeptIndex())
	require.Equal(t, uint32(9), cut.GetSplitTurnStart())
	require.Equal(t, uint32(800), cut.GetMaxSummaryTokens())
	require.Equal(t, uint32(1), cut.GetSummarized().GetStart())
	require.Equal(t, uint32(12), cut.GetSummarized().GetEnd())
	logged := d.messages("s")
	require.Equal(t, logged[15].GetTokens()-2, plan.GetPlan().GetEdits()[0].GetTokensFreed())
	require.Equal(t, logged[19].GetTokens()-logged[19].GetTokens()/4, plan.GetPlan().GetEdits()[1].GetTokensFreed())
	require.Equal(t, []compactordv1.SummaryPromptKind{
		compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_OBSERVATION,
		compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_HISTORY,
		compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_TURN_PREFIX,
	}, kindsOf(plan))
	observation := plan.GetPrompts()[0]
	require.Equal(t, uint32(19), observation.GetEdit().GetIndex())
	require.Contains(t, observation.GetText(), "line of module 4")

	commit := commitment(plan, answersTo(plan)...)
	_, err := d.compactions.CommitCompaction(t.Context(), commit)
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
	commit.ClientPlan, commit.Model = own, "their-model"
	done := d.commitPlan(commit)
	prune, entry := done.GetPrune(), done.GetCompaction()
	require.Equal(t, "theirs-2", entry.GetProvenance().GetClientStrategy())
	require.Nil(t, entry.GetProvenance().GetStrategy())
	require.Equal(t, "theirs-2", prune.GetProvenance().GetClientStrategy())
	require.Nil(t, prune.GetProvenance().GetStrategy())
	requireWriter(t, prune, "client", "their-model")
	require.Equal(t, uint32(prompts.Version), prune.GetProvenance().GetPromptVersion())
	require.True(t, strings.HasPrefix(prune.GetEdits()[1].GetReplacement(), "All is well there.\n"))
	require.Contains(t, prune.GetEdits()[1].GetReplacement(), "recall index 19, part 0")
	d.requireSound(t)
}

// Edits with known texts need no prompt, and become a PruneEntry.
func TestEditsOfTheClient(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(6, 2000)...)
	own := &compactordv1.ClientPlan{Strategy: "theirs", Edits: []*compactordv1.Edit{hides(3, "[gone]"), hides(7, "[gone]")}}
	plan := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s", ClientPlan: own})
	require.Empty(t, plan.GetPrompts())
	commit := commitment(plan)
	commit.ClientPlan = own
	commit.Summary = "x"
	_, err := d.compactions.CommitCompaction(t.Context(), commit)
	require.ErrorContains(t, err, "summary: the plan has no cut")
	commit.Summary = ""
	// One of their messages is pinned now.
	d.pin("s", 3)
	done := d.commitPlan(commit)
	require.Nil(t, done.GetCompaction())
	require.Len(t, done.GetPrune().GetEdits(), 1)
	require.Equal(t, uint32(7), done.GetPrune().GetEdits()[0].GetIndex())
	require.Empty(t, done.GetPrune().GetProvenance().GetSummarizer())
	require.Equal(t, done.GetPrune().GetTokensBefore()-done.GetPrune().GetEdits()[0].GetTokensFreed(), done.GetPrune().GetTokensAfter())

	// Before another commit everything has been done already.
	plan = d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s", ClientPlan: &compactordv1.ClientPlan{
		Strategy: "theirs", Edits: []*compactordv1.Edit{hides(11, "[gone]")},
	}})
	d.pin("s", 11)
	commit = commitment(plan)
	commit.ClientPlan = &compactordv1.ClientPlan{Strategy: "theirs", Edits: []*compactordv1.Edit{hides(11, "[gone]")}}
	answer, err := d.compactions.CommitCompaction(t.Context(), commit)
	require.NoError(t, err)
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_OVERTAKEN, answer.GetSkipped().GetReason())
	d.requireSound(t)
}

// A result that the client's model does not shorten stays as it is.
func TestResultLeftAsItIs(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(6, 2000)...)
	own := &compactordv1.ClientPlan{Strategy: "theirs", Edits: []*compactordv1.Edit{shortens(3), shortens(7)}}
	plan := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s", ClientPlan: own})
	commit := commitment(plan, " ", "It is fine.")
	commit.ClientPlan = own
	prune := d.commitPlan(commit).GetPrune()
	require.Len(t, prune.GetEdits(), 1)
	require.Equal(t, uint32(7), prune.GetEdits()[0].GetIndex())

	own = &compactordv1.ClientPlan{Strategy: "theirs", Edits: []*compactordv1.Edit{shortens(11), shortens(15)}}
	plan = d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s", ClientPlan: own})
	commit = commitment(plan, "", "")
	commit.ClientPlan = own
	answer, err := d.compactions.CommitCompaction(t.Context(), commit)
	require.NoError(t, err)
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_NO_GAIN, answer.GetSkipped().GetReason())
	// The second answer is refused, and the error names it.
	commit.Answers[1] = strings.Repeat("It is long. ", 5000)
	_, err = d.compactions.CommitCompaction(t.Context(), commit)
	info := requireReason(t, err, codes.FailedPrecondition, "SUMMARY_REJECTED")
	require.Equal(t, map[string]string{"summarizer": "client", "check": "budget", "prompt": "1"}, info.GetMetadata())
	commit.Answers, commit.Summary = nil, "x"
	commit.ClientPlan.FirstKeptIndex = nil
	_, err = d.compactions.CommitCompaction(t.Context(), commit)
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
}

// Client plans must keep the invariants.
func TestPlansOfTheClientThatBreakInvariants(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", small(1000))
	d.append("s", working(3, 2000)...)
	d.append("s", user("Go on."), assistant("Wait.", call("open", "read", `{}`)))
	d.pin("s", 7)
	cut := func(at uint32, edits ...*compactordv1.Edit) *compactordv1.ClientPlan {
		return &compactordv1.ClientPlan{Strategy: "theirs", FirstKeptIndex: &at, Edits: edits}
	}
	edit := func(edits ...*compactordv1.Edit) *compactordv1.ClientPlan {
		return &compactordv1.ClientPlan{Strategy: "theirs", Edits: edits}
	}
	for name, c := range map[string]struct {
		own  *compactordv1.ClientPlan
		says string
	}{
		"between call and result":    {cut(3), "I4"},
		"before the lead":            {cut(0), "I1"},
		"before all":                 {cut(1), "I5"},
		"behind the end":             {cut(99), "I1"},
		"within an open group":       {cut(15), "I1"},
		"an edit of what is covered": {cut(5, hides(3, "[gone]")), "does not show"},
		"an edit of what is pinned":  {edit(hides(7, "[gone]")), "pinned"},
		"an edit of nothing":         {edit(hides(99, "[gone]")), "does not show"},
		"a result that is none":      {edit(hides(4, "[gone]")), "no tool result"},
		"a part that is none":        {edit(&compactordv1.Edit{Index: 3, Part: 9, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT}), "parts"},
		"no kind":                    {edit(&compactordv1.Edit{Index: 3}), "no such kind"},
		"twice":                      {edit(shortens(3), shortens(3)), "twice"},
		"longer than it was":         {edit(hides(3, strings.Repeat("x", 9000))), "I5"},
		"hidden by a summarizer": {edit(&compactordv1.Edit{
			Index: 3, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, BySummarizer: true,
		}), "only shorter results"},
	} {
		t.Run(name, func(t *testing.T) {
			d.requireUnchanged(t, func() {
				_, err := d.compactions.PlanCompaction(t.Context(), &compactordv1.PlanCompactionRequest{SessionId: "s", ClientPlan: c.own})
				requireReason(t, err, codes.Aborted, "PLAN_INVALID")
				require.ErrorContains(t, err, c.says)
			})
		})
	}
	_, err := d.compactions.PlanCompaction(t.Context(), &compactordv1.PlanCompactionRequest{SessionId: "s", ClientPlan: edit()})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
}
