package service_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// What users of other tools complain about: after a compaction the provider answers every request with 400. Each test
// is named after what broke.

// compactKeeping compacts so that about recentTokens are kept, and says whether it did.
func (d *daemon) compactKeeping(id string, recentTokens uint32) bool {
	d.t.Helper()
	events, err := d.compact(compactRequest(id, small(recentTokens)))
	require.NoError(d.t, err)
	return last(d.t, events).GetCompleted() != nil
}

// batches returns a conversation whose turns each have parallel calls.
func batches(turns, parallel int) []*compactordv1.Message {
	messages := []*compactordv1.Message{system("You count ships.")}
	for i := range turns {
		asked := assistant("I look.")
		var results []*compactordv1.Message
		for j := range parallel {
			id := fmt.Sprintf("call_%d_%d", i, j)
			asked.Parts = append(asked.Parts, assistant("", call(id, "read", fmt.Sprintf(`{"pier":%d}`, j))).GetParts()[1])
			results = append(results, toolResult(id, strings.Repeat("ship ", 100)))
		}
		messages = append(messages, user(fmt.Sprintf("Count the ships at pier %d.", i)), asked)
		messages = append(append(messages, results...), assistant(fmt.Sprintf("There are %d.", i)))
	}
	return messages
}

// With any budget, a cut never leaves a result without its call, a call without its result, or a kept part that begins
// with a result. Compacting again is always possible.
func TestACutAtAnyBudgetKeepsCallsAndResultsTogether(t *testing.T) {
	t.Parallel()
	for name, recent := range map[string]uint32{
		"safe cutoff keeps orphaned tool messages":  300,
		"split turn picks a cut by budget":          140,
		"keep recent by position begins at results": 60,
		"assistant is split from its tool messages": 500,
		"nothing is kept but the last message":      0,
	} {
		t.Run(name, func(t *testing.T) {
			d := start(t)
			d.create("s", nil)
			messages := batches(6, 3)
			for round := 0; round < len(messages); round += 7 {
				d.append("s", messages[round:min(round+7, len(messages))]...)
				if len(d.view("s")) == 0 || d.openCalls("s") > 0 {
					continue
				}
				d.compactKeeping("s", recent)
				for _, kind := range allKinds() {
					d.render("s", kind)
				}
			}
			require.NotEmpty(t, d.view("s")[1].GetSummaryOf())
		})
	}
}

func (d *daemon) openCalls(id string) uint32 {
	d.t.Helper()
	answer, err := d.sessions.GetSession(d.t.Context(), &compactordv1.GetSessionRequest{SessionId: id})
	require.NoError(d.t, err)
	return answer.GetReport().GetOpenCallCount()
}

// deepagentsjs#228: a result of 668,000 characters survived the cut without its call.
func TestAHugeResultDoesNotSurviveTheCutWithoutItsCall(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("Read the log."), assistant("", call("c", "read", `{}`)), toolResult("c", strings.Repeat("x", 668_000)),
		assistant("It is full of x."), user("Thanks. What now?"))
	require.True(t, d.compactKeeping("s", 100))
	for _, kind := range allKinds() {
		require.Less(t, d.render("s", kind).GetViewReport().GetBytes(), uint32(20_000))
	}
}

// OpenHarness#191: an interrupted call stayed in the kept part without a result.
func TestAnInterruptedCallGetsAResult(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.appendJSON("s", anthropic, `[
		{"role":"user","content":"Build it."},
		{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"bash","input":{"command":"make"}}]}]`)
	answer := d.appendJSON("s", anthropic, `{"role":"user","content":"Stop. What is the matter?"}`)
	require.Empty(t, answer.GetFindings(), "the result may still come")
	for _, kind := range allKinds() {
		rendered := d.render("s", kind)
		require.Empty(t, brokenRules(kind, rendered, dialect.Request))
	}
	answer = d.appendJSON("s", anthropic, `{"role":"assistant","content":"Nothing; it was slow."}`)
	require.Equal(t, dialect.InputCallUnanswered, answer.GetFindings()[0].GetRule())
}

// oh-my-openagent#6605: running calls were sent without results.
func TestRunningCallsAreNeverSentWithoutResults(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.appendJSON("s", chat, `[{"role":"user","content":"Both."},{"role":"assistant","content":null,"tool_calls":[
		{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},
		{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"a","content":"done"}]`)
	for _, kind := range allKinds() {
		_, err := d.compactions.GetLLMView(t.Context(), &compactordv1.GetLLMViewRequest{
			Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: "s"}, Dialect: kind,
		})
		info := requireReason(t, err, codes.FailedPrecondition, "TOOL_CALLS_OPEN")
		require.Equal(t, "b", info.GetMetadata()["call_ids"])
	}
	require.NotEmpty(t, d.view("s"), "the neutral view shows them")
}

// senpi#306: the summarizer's own request was refused because of the history in it, and the session could not go on.
func TestAMalformedHistoryCanBeSummarized(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	answer := d.appendJSON("s", chat, `[
		{"role":"tool","tool_call_id":"nobody","content":"`+strings.Repeat("late ", 500)+`"},
		{"role":"user","content":"Go on."},
		{"role":"assistant","content":null,"tool_calls":[
			{"id":"a","type":"function","function":{"name":"f","arguments":"{not json"}},
			{"id":"a","type":"function","function":{"name":"f","arguments":""}}]},
		{"role":"tool","tool_call_id":"a","content":"`+strings.Repeat("one ", 500)+`"},
		{"role":"tool","tool_call_id":"a","content":"two"},
		{"role":"tool","tool_call_id":"a","content":"three"},
		{"role":"assistant","content":""},
		{"role":"user","content":"And now?"}]`)
	require.NotEmpty(t, answer.GetFindings())
	for _, kind := range allKinds() {
		require.Empty(t, brokenRules(kind, d.render("s", kind), dialect.Request))
	}
	require.True(t, d.compactKeeping("s", 20))
	for _, kind := range allKinds() {
		require.Empty(t, brokenRules(kind, d.render("s", kind), dialect.Request))
	}
}

// wayland-core#75: a result was merged into the summary's message and lost its tool_call_id, and a strict server
// refused the whole list.
func TestTheSummaryHoldsNoResult(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", batches(5, 2)...)
	require.True(t, d.compactKeeping("s", 300))
	var seen bool
	for _, raw := range d.render("s", chat).GetMessagesJson() {
		var m map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(raw), &m))
		if string(m["role"]) == `"tool"` {
			seen = true
			require.Regexp(t, `^"call_\d_\d"$`, string(m["tool_call_id"]))
		}
	}
	require.True(t, seen)
	require.NotContains(t, d.render("s", anthropic).GetMessagesJson()[0], "tool_result")
}

// Codewhale#6119: a user message with text and results was not recognized as holding the results.
func TestAUserMessageMayHoldResultsAndText(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	mixed := `{"role":"user","content":[
		{"type":"tool_result","tool_use_id":"toolu_1","content":"ok"},
		{"type":"text","text":"And what about the second pier?"}]}`
	answer := d.appendJSON("s", anthropic, `[{"role":"user","content":"Look."},
		{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"look","input":{}}]},`+mixed+`]`)
	require.Empty(t, answer.GetFindings())
	require.JSONEq(t, mixed, d.render("s", anthropic).GetMessagesJson()[2])
	for _, kind := range allKinds() {
		require.Empty(t, brokenRules(kind, d.render("s", kind), dialect.Request))
	}
}

// adk-python#4740: a compaction removed a call that still waited for its confirmation.
func TestACompactionKeepsTheCallThatWaits(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", batches(4, 2)...)
	d.append("s", user("Transfer the money."), assistant("", call("confirm", "transfer", `{"sum":1}`)))
	require.True(t, d.compactKeeping("s", 0))
	d.append("s", toolResult("confirm", "confirmed"))
	require.Zero(t, d.openCalls("s"))
	for _, kind := range allKinds() {
		require.Empty(t, brokenRules(kind, d.render("s", kind), dialect.Request))
	}
	view := d.view("s")
	require.Equal(t, compactordv1.Role_ROLE_TOOL, view[len(view)-1].GetMessage().GetRole())
}
