package service_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/summarizers"
)

// byList returns a turn in which an agent works off a list of three items, each with a result of this many characters.
// Item n begins with the list in message 2+4n, and message 14 completes the last one.
func byList(chars int) []*compactordv1.Message {
	messages := []*compactordv1.Message{system("You are a careful assistant."), user("Look into the three modules.")}
	list := func(done int) *compactordv1.ToolCall {
		var items []string
		for i := range 3 {
			status := "pending"
			switch {
			case i < done:
				status = "completed"
			case i == done:
				status = "in_progress"
			}
			items = append(items, fmt.Sprintf(`{"content":"Look into module %d","status":"%s"}`, i, status))
		}
		return call(fmt.Sprintf("list-%d", done), "todo_write", `{"todos":[`+strings.Join(items, ",")+`]}`)
	}
	for i := range 3 {
		id := fmt.Sprintf("call-%d", i)
		messages = append(messages,
			assistant("", list(i)), toolResult(fmt.Sprintf("list-%d", i), "ok"),
			assistant("I read it.", call(id, "read", fmt.Sprintf(`{"path":"pkg/module%d.go"}`, i))),
			toolResult(id, strings.Repeat(fmt.Sprintf("line of module %d\n", i), chars/18+1)))
	}
	return append(messages, assistant("", list(3)), toolResult("list-3", "ok"), assistant("All three are fine."))
}

func foldsSubtasks(bounds compactordv1.SubtaskBounds) *compactordv1.Policy {
	return &compactordv1.Policy{Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_FoldSubtasks{
		FoldSubtasks: &compactordv1.FoldSubtasksStrategy{Bounds: bounds.Enum(), MinimumTokens: proto.Uint32(100)},
	}}}
}

const (
	byTodoItems   = compactordv1.SubtaskBounds_SUBTASK_BOUNDS_TODO_ITEMS
	byCheckpoints = compactordv1.SubtaskBounds_SUBTASK_BOUNDS_CHECKPOINTS
)

// foldsIn returns the folds that the view shows, as ranges.
func (d *daemon) foldsIn(id string) (ranges []string) {
	d.t.Helper()
	for _, vm := range d.view(id) {
		if f := vm.GetFolded(); f != nil {
			ranges = append(ranges, fmt.Sprintf("%d to %d", f.GetStart(), f.GetEnd()-1))
		}
	}
	return ranges
}

// Finished sub-tasks are folded where they stand, each with its own text, and the newest one stays.
func TestSubtasksAreFolded(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", foldsSubtasks(byTodoItems))
	d.append("s", byList(8000)...)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	requireGrammar(t, events)
	require.Equal(t, uint32(2), events[0].GetStarted().GetPlan().GetChunks())
	require.Empty(t, lastAttemptText(events), "of several texts no pieces are sent")
	prune := last(t, events).GetCompleted().GetPrune()
	require.Equal(t, []string{"2 to 5", "6 to 9"}, d.foldsIn("s"))
	require.Equal(t, tokensOf(d.view("s")), prune.GetTokensAfter())
	requireWriter(t, prune, "extractive", "")
	require.True(t, strings.HasPrefix(prune.GetEdits()[4].GetReplacement(), wording.Fold(6, 10, "## Sub-task\n- Look into module 1 [#6]\n")))
	require.NotContains(t, prune.GetEdits()[4].GetReplacement(), "module 2")
	d.requireSound(t)

	events, err = d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.Equal(t, compactordv1.SkipReason_SKIP_REASON_NOTHING_TO_COMPACT, last(t, events).GetSkipped().GetReason())
	_, err = d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"},
		Policy: &compactordv1.Policy{PruneStrategy: foldsSubtasks(byTodoItems).GetStrategy()},
	})
	requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
}

// Between checkpoints in force, too: also for a client's model, and after a revert.
func TestSubtasksBetweenCheckpointsAreFolded(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", foldsSubtasks(byCheckpoints))
	for _, m := range byList(8000) {
		if m.GetRole() == compactordv1.Role_ROLE_ASSISTANT && strings.Contains(m.String(), "todo_write") {
			_, err := d.sessions.CreateCheckpoint(t.Context(), &compactordv1.CreateCheckpointRequest{SessionId: "s"})
			require.NoError(t, err)
		}
		d.append("s", m)
	}
	events, err := d.compact(&compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_SessionId{SessionId: "s"}, DryRun: true,
	})
	require.NoError(t, err)
	require.Len(t, last(t, events).GetPlanned().GetEdits(), 8)
	plan := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s"})
	require.Equal(t, []compactordv1.SummaryPromptKind{
		compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_FOLD, compactordv1.SummaryPromptKind_SUMMARY_PROMPT_KIND_FOLD,
	}, kindsOf(plan))
	require.Equal(t, uint32(6), plan.GetPrompts()[1].GetEdit().GetIndex())
	require.Contains(t, plan.GetPrompts()[1].GetText(), "<current-task>\nLook into the three modules.")
	require.NotContains(t, plan.GetPrompts()[1].GetText(), "line of module 2")
	d.commitPlan(commitment(plan, answersTo(plan)...))
	require.Equal(t, []string{"2 to 5", "6 to 9"}, d.foldsIn("s"))

	answer, err := d.sessions.RevertToCheckpoint(t.Context(), &compactordv1.RevertToCheckpointRequest{
		SessionId: "s", Target: &compactordv1.RevertToCheckpointRequest_CheckpointId{CheckpointId: 2},
	})
	require.NoError(t, err)
	require.NotNil(t, answer)
	require.Empty(t, d.foldsIn("s"))
	events, err = d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetSkipped(), "one sub-task is left, and that stays")
}

// A text that is not written leaves its messages as they are, and the other fold is made.
func TestFoldWithoutATextIsNotMade(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", foldsSubtasks(byTodoItems))
	d.append("s", byList(8000)...)
	plan := d.plan(&compactordv1.PlanCompactionRequest{SessionId: "s"})
	d.commitPlan(commitment(plan, "", answersTo(plan)[1]))
	require.Equal(t, []string{"6 to 9"}, d.foldsIn("s"))
	d.requireSound(t)
}

// The text of a single fold is streamed, and its pieces are what stands below the line in the view.
func TestTextOfAFoldIsStreamed(t *testing.T) {
	t.Parallel()
	model := &scripted{name: "writer", do: func(
		_ context.Context, _ *summarizers.Request, p summarizers.Progress,
	) (*summarizers.Summary, error) {
		text := "## Sub-task\nLook into module 0.\n\n## Outcome\n- It is fine. [#5]"
		p.Text(text[:20])
		p.Text(text[20:])
		return &summarizers.Summary{Text: text, Calls: 1}, nil
	}}
	d := start(t, withSummarizer(model))
	policy := by("writer", noFallback, foldsSubtasks(byTodoItems))
	policy.Strategy.GetFoldSubtasks().KeepSubtasks = proto.Uint32(2)
	policy.Strategy.GetFoldSubtasks().Guidelines = proto.String("Keep outcomes.")
	d.create("s", policy)
	d.append("s", byList(8000)...)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	requireGrammar(t, events)
	edit := last(t, events).GetCompleted().GetPrune().GetEdits()[0]
	require.Equal(t, wording.Fold(2, 6, lastAttemptText(events)), edit.GetReplacement())
	require.Equal(t, "Keep outcomes.", model.seen()[0].Guidelines)
}

// A sub-task whose first call is summarized is folded when it ends, as far as it is kept. The call that began it is found
// in the log, also where a later call, which changed another item only, is kept.
func TestSubtaskThatBeganInTheSummaryIsFolded(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", foldsSubtasks(byTodoItems))
	read := func(id string) []*compactordv1.Message {
		return []*compactordv1.Message{assistant("I read it.", call(id, "read", `{"path":"`+id+`"}`)), toolResult(id, long(600))}
	}
	list := func(id, arguments string) []*compactordv1.Message {
		return []*compactordv1.Message{assistant("", call(id, "todo_write", arguments)), toolResult(id, "ok")}
	}
	d.append("s", user("Look into the modules."))
	d.append("s", list("begin", `{"merge":false,"todos":[{"id":"1","content":"module 1","status":"in_progress"},`+
		`{"id":"2","content":"module 2","status":"pending"}]}`)...)
	for i := range 60 {
		d.append("s", read(fmt.Sprintf("before-%d", i))...)
	}
	require.True(t, d.compactKeeping("s", 700))
	kept := d.session("s").GetSession().GetFirstKeptIndex()
	require.Greater(t, kept, uint32(100), "the call that began it is far back")
	d.append("s", list("change", `{"merge":true,"todos":[{"id":"2","content":"module two"}]}`)...)
	d.append("s", read("after")...)
	end := d.session("s").GetSession().GetNextIndex()
	d.append("s", list("end", `{"merge":true,"todos":[{"id":"1","status":"completed"},{"id":"2","status":"in_progress"}]}`)...)

	all := foldsSubtasks(byTodoItems)
	all.GetStrategy().GetFoldSubtasks().KeepSubtasks = proto.Uint32(0)
	events, err := d.compact(compactRequest("s", all))
	require.NoError(t, err)
	require.NotNil(t, last(t, events).GetCompleted().GetPrune())
	require.Equal(t, []string{fmt.Sprintf("%d to %d", kept, end-1)}, d.foldsIn("s"))
	d.requireSound(t)

	// The whole sub-task can be recalled, and the next summary has the open item alone.
	require.Equal(t, long(600), d.recall(recallOf(end-1)).GetText())
	require.True(t, d.compactKeeping("s", 1))
	todos := d.listCompactions("s")[0].GetSlots().GetOpenTodos()
	require.Len(t, todos, 1)
	require.Equal(t, "module two", todos[0].GetText())
}
