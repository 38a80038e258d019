package service_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
)

// busy returns a conversation with to-dos, files and a long last request, whose parts the budget cannot all hold.
func busy(files, requestTokens int) []*compactordv1.Message {
	var todos []string
	for i := range 8 {
		todos = append(todos, fmt.Sprintf(`{"content":"port step %d of the parser","status":"pending"}`, i))
	}
	messages := []*compactordv1.Message{
		system("Be brief."), user("Please plan the port."),
		assistant("I plan.", call("t", "todo_write", `{"todos":[`+strings.Join(todos, ",")+`]}`)), toolResult("t", "ok"),
	}
	for i := range files {
		tool := []string{"read", "write"}[i%2]
		id := fmt.Sprintf("f%d", i)
		messages = append(messages,
			assistant("Next.", call(id, tool, fmt.Sprintf(`{"path":"internal/module%03d/parser_rules.go"}`, i))), toolResult(id, long(150)))
	}
	return append(messages,
		user("Now port it.\n"+strings.Repeat("Mind rule\n", requestTokens/3)), assistant(long(300)), assistant(long(400)), assistant(long(10)))
}

// max_summary_tokens is for all that the view shows as the summary, by every estimator and at every size: frame, text,
// to-dos, files and the last request.
func TestBudgetIsForTheWholeSummary(t *testing.T) {
	t.Parallel()
	for name, estimator := range map[string]compactordv1.Estimator{"chars4": chars4, "o200k": o200k} {
		for _, placement := range []compactordv1.SummaryPlacement{
			compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_USER, compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_PAIR,
		} {
			for _, tags := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %v, tags %v", name, placement, tags), func(t *testing.T) {
					t.Parallel()
					d := start(t)
					policy := small(5)
					policy.Summary = &compactordv1.SummaryPolicy{Placement: placement.Enum(), FileTags: proto.Bool(tags)}
					d.createBy("s", estimator, policy)
					messages := busy(60, 1500)
					if placement == compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_PAIR {
						// Before a message of the agent no reply stands.
						messages = append(messages, user("And then?"))
					}
					d.append("s", messages...)
					for _, budget := range []uint32{230, 300, 500, 800, 1200, 2000, 4000} {
						events, err := d.compact(compactRequest("s", &compactordv1.Policy{Strategy: &compactordv1.Strategy{
							Kind: &compactordv1.Strategy_Summarize{Summarize: &compactordv1.SummarizeStrategy{
								RecentTokens: proto.Uint32(5), MaxSummaryTokens: proto.Uint32(budget),
							}},
						}}))
						require.NoError(t, err)
						require.NotNil(t, last(t, events).GetCompleted(), "%v", last(t, events))
						shown := shownOf(d)
						require.LessOrEqual(t, shown, budget)
						if budget <= 1200 {
							// A quarter is reserved for slots and files, which may need less.
							require.GreaterOrEqual(t, shown, budget*3/4, "of %d", budget)
						}
						_, err = d.sessions.RevertToCheckpoint(t.Context(), toPoint(uint32(len(messages))))
						require.NoError(t, err)
					}
				})
			}
		}
	}
}

// shownOf returns the tokens of what the view shows as the summary.
func shownOf(d *daemon) uint32 {
	var shown uint32
	for _, vm := range d.view("s") {
		if vm.GetSummaryOf() != "" {
			shown += vm.GetTokens()
		}
	}
	return shown
}

// Of facts that the budget cannot hold a part is shown. The entry has all of them.
func TestFactsBesideASummaryHaveAShareOfItsBudget(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := small(5)
	policy.GetStrategy().GetSummarize().MaxSummaryTokens = proto.Uint32(800)
	d.create("s", policy)
	d.append("s", busy(60, 1500)...)
	entry := d.completed(nil)
	require.NotNil(t, entry.MaxFactsBytes)
	text := session.TextTokens(counterOf(t), entry.GetSummary())
	require.Greater(t, text, uint32(800/2))
	require.LessOrEqual(t, entry.GetMaxFactsBytes(), 4*(800-text), "what the text leaves is theirs")
	require.Len(t, entry.GetSlots().GetOpenTodos(), 8)
	require.Len(t, entry.GetFiles().GetModified(), 30)
	require.Greater(t, len(entry.GetSlots().GetLastUserRequest().GetText()), 4000)
	shown := d.view("s")[1].GetMessage().GetParts()[0].GetText().GetText()
	require.Contains(t, shown, "Further files modified: ")
	require.Contains(t, shown, "characters left out")
	d.requireChecked()

	// A budget that holds all of them bounds nothing.
	d = start(t)
	d.create("s", small(5))
	d.append("s", busy(40, 60)...)
	require.Nil(t, d.completed(nil).MaxFactsBytes)
	require.NotContains(t, d.view("s")[1].GetMessage().GetParts()[0].GetText().GetText(), "characters left out")
}

// In presets whose systems have a budget for the text alone, the text gets all of it.
func TestBudgetOfTheTextAlone(t *testing.T) {
	t.Parallel()
	for preset, whole := range map[string]bool{"pi": false, "klaude": false, "default": true} {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			writer := &scripted{name: "writer", do: faithful}
			d := start(t, withSummarizer(writer))
			d.create("s", &compactordv1.Policy{
				Preset: proto.String(preset), ContextWindow: proto.Uint32(200_000),
				Summary:  &compactordv1.SummaryPolicy{Summarizer: proto.String("writer"), FileTags: proto.Bool(false)},
				Strategy: keepMessages(4).GetStrategy(),
			})
			policy := &compactordv1.Policy{Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
				Summarize: &compactordv1.SummarizeStrategy{RecentMessages: proto.Uint32(4), MaxSummaryTokens: proto.Uint32(800)},
			}}}
			d.append("s", busy(60, 300)...)
			entry := d.completed(policy)
			require.Equal(t, whole, writer.seen()[0].MaxTokens < 800, "%d", writer.seen()[0].MaxTokens)
			require.Equal(t, whole, entry.MaxFactsBytes != nil)
			require.Equal(t, whole, shownOf(d) <= 800)
			require.LessOrEqual(t, session.TextTokens(counterOf(t), entry.GetSummary()), uint32(800))
		})
	}
}

// The summary that a client writes by itself may have all of the plan's budget. Facts have their share beside it.
func TestClientMayUseTheWholeBudget(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := small(5)
	policy.GetStrategy().GetSummarize().MaxSummaryTokens = proto.Uint32(800)
	d.create("s", policy)
	d.append("s", busy(60, 300)...)
	plan := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s"})
	require.Equal(t, uint32(800), plan.GetPlan().GetCut().GetMaxSummaryTokens())
	require.Less(t, plan.GetPrompts()[0].GetMaxAnswerTokens(), uint32(800))
	req := commitment(plan)
	req.Summary = sectioned(compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_HISTORY, strings.Repeat("said ", 605)+"so")
	tokens := session.TextTokens(counterOf(t), req.GetSummary())
	require.Greater(t, tokens, uint32(750))
	entry := d.commitPlan(req).GetCompaction()
	require.Equal(t, req.GetSummary(), entry.GetSummary())
	shown := shownOf(d)
	require.Greater(t, shown, tokens+100)
	require.LessOrEqual(t, shown, tokens+50+800/4)
	d.requireSound(t)
}

func counterOf(t *testing.T) session.Counter {
	t.Helper()
	counter, err := session.CounterFor(chars4)
	require.NoError(t, err)
	return counter
}

// The summary of a revert is written for the view that the revert leaves: it knows what that shows, and the budget holds
// the whole message.
func TestRevertsSummaryKnowsTheViewAndKeepsToTheBudget(t *testing.T) {
	t.Parallel()
	d, recorder := recording(t, 20000)
	policy := by("recorder", noFallback, small(600))
	policy.GetStrategy().GetSummarize().MaxSummaryTokens = proto.Uint32(800)
	d.create("r", policy)
	d.append("r", working(4, 2000)...)
	events, err := d.compact(compactRequest("r", nil))
	require.NoError(t, err)
	entry := last(t, events).GetCompleted().GetCompaction()
	point := d.session("r").GetSession().GetPoint()
	d.append("r", busy(20, 300)[1:]...)
	recorder.requests = nil
	_, err = d.sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: "r", Summarize: true, Target: &compactordv1.RevertToCheckpointRequest_Point{Point: point},
	})
	require.NoError(t, err)

	req := recorder.seen()[0]
	var known []uint32
	for _, l := range req.Kept[:len(req.Kept)-1] {
		known = append(known, l.GetIndex())
	}
	require.Equal(t, span(entry.GetFirstKeptIndex(), 17), known)
	require.Equal(t, entry.GetSummary(), textOf(req.Kept[len(req.Kept)-1].GetMessage()))
	view := d.view("r")
	require.Less(t, req.MaxTokens, uint32(800))
	require.LessOrEqual(t, view[len(view)-1].GetTokens(), uint32(800))
}
