package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// turnsWithTools returns a conversation of n turns, each with a tool group and some thinking.
func turnsWithTools(n int) []*compactordv1.Message {
	messages := []*compactordv1.Message{system("Keep to the plan of the harbour.")}
	for i := range n {
		id := fmt.Sprintf("call-%d", i)
		thinking := &compactordv1.Part{Kind: &compactordv1.Part_Thinking{
			Thinking: &compactordv1.ThinkingPart{Text: "The tide table comes first."},
		}}
		asked := assistant("I look it up.", call(id, "read", fmt.Sprintf(`{"path":"tides-%d.txt"}`, i)))
		asked.Parts = append([]*compactordv1.Part{thinking}, asked.GetParts()...)
		messages = append(messages,
			user(fmt.Sprintf("When does ship %d leave? %s", i, strings.Repeat("tide ", 400))), asked,
			toolResult(id, strings.Repeat("water ", 300)), assistant(fmt.Sprintf("Ship %d leaves at %d.", i, i)))
	}
	return messages
}

// keepTurns returns a policy that summarizes all but the newest n turns.
func keepTurns(n uint32) *compactordv1.Policy {
	return &compactordv1.Policy{Strategy: &compactordv1.Strategy{Kind: &compactordv1.Strategy_Summarize{
		Summarize: &compactordv1.SummarizeStrategy{RecentTurns: proto.Uint32(n)},
	}}}
}

func historyTarget(h *compactordv1.InlineHistory) *compactordv1.GetLLMViewRequest {
	return &compactordv1.GetLLMViewRequest{Target: &compactordv1.GetLLMViewRequest_History{History: h}}
}

// A history with the entries of earlier responses has the same view as a session with the same messages and calls.
func TestInlineHistoryHasTheViewOfItsSession(t *testing.T) {
	t.Parallel()
	d := start(t)
	policy := keepTurns(2)
	d.create("s", policy)
	messages := turnsWithTools(8)
	d.append("s", messages[:17]...)
	pruned, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Policy: hideAllBut(1),
	})
	require.NoError(t, err)
	require.NotEmpty(t, pruned.GetPrune().GetEdits())
	d.append("s", messages[17:25]...)
	events, err := d.compact(compactRequest("s", nil))
	require.NoError(t, err)
	completed := last(t, events).GetCompleted()
	require.NotNil(t, completed.GetCompaction())
	d.append("s", messages[25:]...)

	history := &compactordv1.InlineHistory{
		Messages: messages, Compaction: completed.GetCompaction(),
		Prunes: []*compactordv1.PruneEntry{pruned.GetPrune()},
	}
	if completed.GetPrune() != nil {
		history.Prunes = append(history.Prunes, completed.GetPrune())
	}
	again, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Policy: hideAllBut(1),
	})
	require.NoError(t, err)
	require.NotEmpty(t, again.GetPrune().GetEdits(), "a prune behind the compaction")
	history.Prunes = append(history.Prunes, again.GetPrune())
	answer, err := d.compactions.GetLLMView(t.Context(), historyTarget(history))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(d.view("s"), answer.GetMessages(), protocmp.Transform()))
	require.Empty(t, answer.GetViewToken())
	require.Empty(t, answer.GetFindings())
}

// The responses of Compact and Prune hold everything that the client has to keep of a history.
func TestInlineEntriesCanBeSentBack(t *testing.T) {
	t.Parallel()
	d := start(t)
	messages := turnsWithTools(6)
	pruned, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_History{History: &compactordv1.InlineHistory{Messages: messages}},
		Policy: hideAllBut(1),
	})
	require.NoError(t, err)
	require.Len(t, pruned.GetPrune().GetEdits(), 5)

	history := &compactordv1.InlineHistory{Messages: messages, Prunes: []*compactordv1.PruneEntry{pruned.GetPrune()}}
	events, err := d.compact(&compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_History{History: history}, Policy: keepTurns(1), WillRetry: true,
	})
	require.NoError(t, err)
	completed := last(t, events)
	require.True(t, completed.GetWillRetry())
	entry := completed.GetCompleted().GetCompaction()
	require.Equal(t, pruned.GetReport().GetTokens(), entry.GetTokensBefore())

	history.Compaction = entry
	answer, err := d.compactions.GetLLMView(t.Context(), historyTarget(history))
	require.NoError(t, err)
	require.Equal(t, entry.GetTokensAfter(), answer.GetViewReport().GetTokens())
	require.Equal(t, entry.GetId(), answer.GetMessages()[1].GetSummaryOf())
	require.Equal(t, entry.GetFirstKeptIndex(), answer.GetMessages()[2].GetIndex())

	// The next compaction of the longer history continues this one.
	history.Messages = append(history.GetMessages(), turnsWithTools(3)[1:]...)
	events, err = d.compact(&compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_History{History: history}, Policy: keepTurns(1),
	})
	require.NoError(t, err)
	second := last(t, events).GetCompleted().GetCompaction()
	require.Equal(t, entry.GetId(), second.GetPreviousEntryId())
	require.Equal(t, entry.GetFirstKeptIndex(), second.GetSummarized().GetStart())

	sessions, err := d.sessions.ListSessions(t.Context(), &compactordv1.ListSessionsRequest{})
	require.NoError(t, err)
	require.Empty(t, sessions.GetSessions(), "a history was stored")
}

func TestInlineHistoryHasFindingsOnTheFirstEvent(t *testing.T) {
	t.Parallel()
	d := start(t)
	messages := append(turnsWithTools(4), toolResult("nobody", "late"), user("Go on."))
	history := &compactordv1.InlineHistory{Messages: messages}
	request := &compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_History{History: history}, Policy: keepTurns(1),
	}
	events, err := d.compact(request)
	require.NoError(t, err)
	require.Greater(t, len(events), 1)
	require.Len(t, events[0].GetFindings(), 1)
	require.Equal(t, "input.result-without-call", events[0].GetFindings()[0].GetRule())
	require.Equal(t, uint32(len(messages)-2), events[0].GetFindings()[0].GetMessage())
	for _, e := range events[1:] {
		require.Empty(t, e.GetFindings())
	}
	history.Strict = true
	_, err = d.compact(request)
	info := requireReason(t, err, codes.InvalidArgument, "INPUT_MALFORMED")
	require.Equal(t, "input.result-without-call", info.GetMetadata()["rule"])
}

func TestHistoryRefusesWhatNeedsASessionOrADialect(t *testing.T) {
	t.Parallel()
	d := start(t)
	h := &compactordv1.InlineHistory{Messages: turnsWithTools(1)}
	compact := func(change func(*compactordv1.CompactRequest)) func() error {
		return func() error {
			r := &compactordv1.CompactRequest{Target: &compactordv1.CompactRequest_History{History: h}}
			change(r)
			_, err := d.compact(r)
			return err
		}
	}
	view := func(change func(*compactordv1.GetLLMViewRequest)) func() error {
		return func() error {
			r := historyTarget(h)
			change(r)
			_, err := d.compactions.GetLLMView(t.Context(), r)
			return err
		}
	}
	for name, c := range map[string]struct {
		field string
		call  func() error
	}{
		"compact with request_id": {"request_id", compact(func(r *compactordv1.CompactRequest) { r.RequestId = "r" })},
		"compact with preempt":    {"preempt", compact(func(r *compactordv1.CompactRequest) { r.Preempt = true })},
		"prune with request_id": {"request_id", func() error {
			_, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
				Target: &compactordv1.PruneRequest_History{History: h}, RequestId: "r",
			})
			return err
		}},
		"view with token": {"view_token", view(func(r *compactordv1.GetLLMViewRequest) { r.ViewToken = "t" })},
		"view as of":      {"as_of", view(func(r *compactordv1.GetLLMViewRequest) { r.AsOf = proto.Uint32(0) })},
		"neutral view with breakpoints": {"mark_cache_breakpoints", view(func(r *compactordv1.GetLLMViewRequest) {
			r.MarkCacheBreakpoints = true
		})},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.call()
			requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
			require.True(t, namesField(status.Convert(err), c.field), "%v", err)
		})
	}
	_, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_History{History: h}, MaxBytes: 10,
	})
	info := requireReason(t, err, codes.ResourceExhausted, "LIMIT_EXCEEDED")
	require.Equal(t, map[string]string{"limit": "max_bytes", "value": "10"}, info.GetMetadata())
}

func TestInlineEntriesThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	d := start(t)
	messages := turnsWithTools(3)
	for name, c := range map[string]struct {
		field   string
		history *compactordv1.InlineHistory
	}{
		"cut within a group": {"history.compaction", &compactordv1.InlineHistory{
			Compaction: &compactordv1.CompactionEntry{Summary: "s", FirstKeptIndex: 3, ViewChange: madeAt(9)},
		}},
		"cut behind the end": {"history.compaction", &compactordv1.InlineHistory{
			Compaction: &compactordv1.CompactionEntry{Summary: "s", FirstKeptIndex: 90, ViewChange: madeAt(9)},
		}},
		"no summary": {"history.compaction.summary", &compactordv1.InlineHistory{
			Compaction: &compactordv1.CompactionEntry{FirstKeptIndex: 5, ViewChange: madeAt(9)},
		}},
		"of a longer history": {"history.compaction.view_change.next_index", &compactordv1.InlineHistory{
			Compaction: &compactordv1.CompactionEntry{Summary: "s", FirstKeptIndex: 5, ViewChange: madeAt(14)},
		}},
		"edit of no result": {"history.prunes[0]", &compactordv1.InlineHistory{
			Prunes: []*compactordv1.PruneEntry{{ViewChange: madeAt(9), Edits: []*compactordv1.Edit{
				{Index: 1, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: "x"},
			}}},
		}},
		"both shapes": {"history.messages", &compactordv1.InlineHistory{
			ProviderJson: &compactordv1.ProviderJson{Dialect: compactordv1.Dialect_DIALECT_ANTHROPIC, Json: "[]"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c.history.Messages = messages
			_, err := d.compactions.GetLLMView(t.Context(), historyTarget(c.history))
			requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
			require.True(t, namesField(status.Convert(err), c.field), "%v", status.Convert(err).Details())
		})
	}
}

// Entries from the time of another on_append are accepted. What on_append makes shorter than their placeholder is shown
// so, and everything else as the entry says.
func TestInlineEntriesOfAnotherOnAppend(t *testing.T) {
	t.Parallel()
	d := start(t)
	messages := slices.Concat(reads("a", 4000), reads("b", 4000), reads("c", 4000))
	prune := func(edits []*compactordv1.Edit, p *compactordv1.Policy) (*compactordv1.PruneResponse, error) {
		history := &compactordv1.InlineHistory{Messages: messages}
		if len(edits) > 0 {
			history.Prunes = []*compactordv1.PruneEntry{{Edits: edits, ViewChange: madeAt(12)}}
		}
		return d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
			Target: &compactordv1.PruneRequest_History{History: history}, Policy: p,
		})
	}
	whole := proto.CloneOf(hideAllBut(3))
	truncated := proto.CloneOf(whole)
	truncated.OnAppend = truncating(100).GetOnAppend()
	long := strings.Repeat("hidden ", 100)
	edits := []*compactordv1.Edit{
		{Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: long},
		{Index: 6, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: "[hidden]"},
		{Index: 9, Kind: compactordv1.EditKind_EDIT_KIND_COLLAPSE_GROUP, Replacement: long},
	}
	tokens := func(edits []*compactordv1.Edit, p *compactordv1.Policy) uint32 {
		answer, err := prune(edits, p)
		require.NoError(t, err)
		return answer.GetReport().GetTokens()
	}
	require.Less(t, tokens(edits, whole), tokens(edits[:2], whole))
	require.Less(t, tokens(edits[:1], whole), tokens(nil, whole))
	require.Equal(t, tokens(nil, truncated), tokens(edits[:1], truncated))
	require.Equal(t, tokens(edits[1:2], truncated), tokens(edits, truncated))
	require.Less(t, tokens(edits, truncated), tokens(nil, truncated), "the second edit is in force")

	// An edit that does not fit for another reason is refused even if on_append has shortened the result, and so is one
	// that frees nothing where nothing was shortened.
	for name, e := range map[string]*compactordv1.Edit{
		"another kind of part": {Index: 2, Kind: compactordv1.EditKind_EDIT_KIND_DROP_THINKING},
		"not shorter": {
			Index: 1, Part: 1, Kind: compactordv1.EditKind_EDIT_KIND_TRUNCATE_ARGUMENTS, Replacement: `{"path":"longer.go"}`,
		},
	} {
		_, err := prune([]*compactordv1.Edit{edits[1], e}, truncated)
		requireReason(t, err, codes.InvalidArgument, "INVALID_FIELD")
		require.ErrorContains(t, err, "history.prunes[0]", name)
	}
}

func madeAt(nextIndex uint32) *compactordv1.ViewChange {
	return &compactordv1.ViewChange{NextIndex: nextIndex}
}

// A provider's whole request can be sent and comes back smaller, without a session and without conversion.
func TestInlineHistoryOfAProvider(t *testing.T) {
	t.Parallel()
	d := start(t)
	var list []string
	for i := range 8 {
		list = append(list, fmt.Sprintf(`{"role":"user","content":"Count pier %d. %s"}`, i, strings.Repeat("tide ", 300)),
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":"toolu_%d","name":"count","input":{"pier":%d.0}}]}`, i, i),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"%s"}]}`, i, strings.Repeat("ship ", 300)),
			`{"role":"assistant","content":[{"type":"text","text":"Nine."}]}`)
	}
	list = append(list, `{"role":"user","content":"And all together?"}`)
	history := &compactordv1.InlineHistory{ProviderJson: &compactordv1.ProviderJson{
		Dialect: anthropic, Json: `{"model":"m","max_tokens":1,"system":"Be brief.","messages":[` + strings.Join(list, ",") + `]}`,
	}}
	rendered := func() *compactordv1.GetLLMViewResponse {
		request := historyTarget(history)
		request.Dialect = anthropic
		answer, err := d.compactions.GetLLMView(t.Context(), request)
		require.NoError(t, err)
		require.Empty(t, brokenRules(anthropic, answer, dialect.Request))
		return answer
	}
	whole := rendered()
	require.Len(t, whole.GetMessagesJson(), len(list))
	for i := range list {
		require.JSONEq(t, list[i], whole.GetMessagesJson()[i])
	}
	require.Equal(t, []string{`{"type":"text","text":"Be brief."}`}, whole.GetSystemJson())

	events, err := d.compact(&compactordv1.CompactRequest{
		Target: &compactordv1.CompactRequest_History{History: history}, Policy: keepTurns(2),
	})
	require.NoError(t, err)
	history.Compaction = last(t, events).GetCompleted().GetCompaction()
	compacted := rendered()
	kept := compacted.GetMessagesJson()
	require.Contains(t, kept[0], "This summary stands in for earlier messages")
	require.Contains(t, kept[0], "Count pier 7.", "the summary and the first kept message are both the user's: one message")
	require.Len(t, kept, 5)
	for i, raw := range kept[1:] {
		require.JSONEq(t, list[len(list)-4+i], raw)
	}
}
