package service_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/compactord/compactord/dialects"
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// What users of other tools complain of: histories that the provider answers with 400 after a compaction, for ever. Each
// test is named after what broke.

const (
	chat      = compactordv1.Dialect_DIALECT_OPENAI_CHAT
	responses = compactordv1.Dialect_DIALECT_OPENAI_RESPONSES
	anthropic = compactordv1.Dialect_DIALECT_ANTHROPIC
	gemini    = compactordv1.Dialect_DIALECT_GEMINI
)

// appendJSON appends a provider's JSON.
func (d *daemon) appendJSON(id string, kind compactordv1.Dialect, raw string) *compactordv1.AppendMessagesResponse {
	d.t.Helper()
	answer, err := d.sessions.AppendMessages(d.t.Context(), &compactordv1.AppendMessagesRequest{
		SessionId: id, ProviderJson: &compactordv1.ProviderJson{Dialect: kind, Json: raw},
	})
	require.NoError(d.t, err)
	return answer
}

// render draws the view in a dialect, and judges it anew.
func (d *daemon) render(id string, kind compactordv1.Dialect) *compactordv1.GetLLMViewResponse {
	d.t.Helper()
	answer, err := d.compactions.GetLLMView(d.t.Context(), &compactordv1.GetLLMViewRequest{
		Target: &compactordv1.GetLLMViewRequest_SessionId{SessionId: id}, Dialect: kind, MaxBytes: 64 << 20,
	})
	require.NoError(d.t, err)
	require.Empty(d.t, brokenRules(kind, answer, dialect.History))
	return answer
}

func brokenRules(
	kind compactordv1.Dialect, answer *compactordv1.GetLLMViewResponse, mode dialect.Mode,
) []dialect.Violation {
	shape, _ := dialects.For(kind)
	list := &dialect.List{}
	for _, raw := range answer.GetSystemJson() {
		list.System = append(list.System, json.RawMessage(raw))
	}
	for _, raw := range answer.GetMessagesJson() {
		list.Messages = append(list.Messages, json.RawMessage(raw))
	}
	return shape.Validate(list, mode)
}

func allKinds() []compactordv1.Dialect {
	return []compactordv1.Dialect{chat, responses, anthropic, gemini}
}

// compactKeeping compacts so that about so many tokens are kept, and says whether it did.
func (d *daemon) compactKeeping(id string, recentTokens uint32) bool {
	d.t.Helper()
	events, err := d.compact(compactRequest(id, small(recentTokens)))
	require.NoError(d.t, err)
	return last(d.t, events).GetCompleted() != nil
}

// batches is a conversation whose turns each hold a batch of parallel calls.
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

// Whatever the budget, a cut never leaves a result without its call, nor a call without its result, nor a tail that
// begins with a result; and compacting again always goes on.
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

// deepagentsjs#228: one result of 668,000 characters survived the cut, without its call.
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

// OpenHarness#191: a call that was interrupted stayed in the tail without a result.
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

// oh-my-openagent#6605: calls that were still running were sent without results.
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

// senpi#306: the summarizer's own request was refused for the history in it, and the session was bricked.
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

// wayland-core#75: a result was folded into the summary's message and lost its tool_call_id, and a strict server refused
// the whole list.
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

// Codewhale#6119: a user message that held text beside results was not recognized as theirs.
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

// adk-python#4740: a compaction took a call away that still waited for its confirmation.
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

// claude-code#63898 and #63412: thinking that came back changed, or out of its place, was refused for ever.
func TestThinkingComesBackUnchangedOrNotAtAll(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	loop := func(i int) string {
		return fmt.Sprintf(`{"role":"assistant","content":[
			{"type":"thinking","thinking":"","signature":"c2lnbmF0dXJl%d=="},
			{"type":"redacted_thinking","data":"b3BhcXVl%d"},
			{"type":"text","text":"Step %d."},
			{"type":"tool_use","id":"toolu_%d","name":"read","input":{"n":%d.0}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":"%s"}]}`,
			i, i, i, i, i, i, strings.Repeat("wave ", 400))
	}
	d.appendJSON("s", anthropic, `[{"role":"user","content":"Measure."},`+loop(1)+","+loop(2)+`]`)
	untouched := strings.Join(d.render("s", anthropic).GetMessagesJson(), "\n")
	require.Contains(t, untouched, `"signature":"c2lnbmF0dXJl1=="`)
	require.Contains(t, untouched, `"n":1.0`)

	// An edit before the thinking makes it invalid: then all of the loop goes, and the client is told.
	pruned, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Policy: hideAllBut(1),
	})
	require.NoError(t, err)
	require.NotEmpty(t, pruned.GetPrune().GetEdits())
	after := d.render("s", anthropic)
	require.NotContains(t, strings.Join(after.GetMessagesJson(), "\n"), "thinking")
	require.True(t, after.GetViewReport().GetDisableThinking())
}

// reasoned is a history of OpenAI Responses with reasoning before its calls.
func reasoned(turns int) string {
	items := []string{`{"role":"user","content":"Count."}`}
	for i := range turns {
		items = append(items, fmt.Sprintf(`{"type":"reasoning","id":"rs_%d","summary":[],"encrypted_content":"ZW5j%d"}`, i, i),
			fmt.Sprintf(`{"type":"function_call","id":"fc_%d","call_id":"call_%d","name":"read","arguments":"{}","status":"completed"}`, i, i),
			fmt.Sprintf(`{"type":"function_call_output","call_id":"call_%d","output":"%s"}`, i, strings.Repeat("ship ", 300)))
	}
	return "[" + strings.Join(append(items, `{"role":"user","content":"And?"}`), ",") + "]"
}

// TanStack/ai#1212 and continue#11785: a function_call came without its reasoning item, reasoning without what follows
// it, and ids with another kind's prefix.
func TestReasoningAndItsCallsStayTogether(t *testing.T) {
	t.Parallel()
	for _, thinking := range []compactordv1.ThinkingPolicy{
		compactordv1.ThinkingPolicy_THINKING_POLICY_KEEP_VALID,
		compactordv1.ThinkingPolicy_THINKING_POLICY_KEEP_ALL,
		compactordv1.ThinkingPolicy_THINKING_POLICY_STRIP,
	} {
		t.Run(thinking.String(), func(t *testing.T) {
			d := start(t)
			d.create("s", &compactordv1.Policy{Thinking: thinking.Enum()})
			d.appendJSON("s", responses, reasoned(6))
			for range 2 {
				items := d.render("s", responses).GetMessagesJson()
				requireReasoned(t, items)
				d.compactKeeping("s", 400)
			}
		})
	}
}

func requireReasoned(t *testing.T, items []string) {
	t.Helper()
	reasoning := false
	for _, raw := range items {
		var item struct {
			Type, ID string
		}
		require.NoError(t, json.Unmarshal([]byte(raw), &item))
		switch item.Type {
		case "reasoning":
			require.False(t, reasoning, "reasoning without what follows it")
			reasoning = true
		case "function_call":
			require.Equal(t, reasoning, item.ID != "", "a call has its id if and only if its reasoning is there: %s", raw)
			require.True(t, item.ID == "" || strings.HasPrefix(item.ID, "fc_"))
			reasoning = false
		default:
			require.False(t, reasoning, "reasoning without what follows it")
		}
	}
}

// gptel#1146: after a compaction with Gemini, calls lacked their thought signatures.
func TestSignaturesOfThoughtsSurviveACompaction(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	contents := []string{`{"role":"user","parts":[{"text":"Count."}]}`}
	for i := range 5 {
		contents = append(contents,
			fmt.Sprintf(`{"role":"model","parts":[{"functionCall":{"name":"read","args":{"n":%d}},"thoughtSignature":"c2ln%d"}]}`, i, i),
			fmt.Sprintf(`{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"%s"}}}]}`,
				strings.Repeat("ship ", 300)))
	}
	d.appendJSON("s", gemini, "["+strings.Join(contents, ",")+"]")
	require.True(t, d.compactKeeping("s", 800))
	rendered := d.render("s", gemini)
	require.Empty(t, brokenRules(gemini, rendered, dialect.Request))
	calls := 0
	for _, raw := range rendered.GetMessagesJson() {
		if strings.Contains(raw, "functionCall\"") {
			calls++
			require.Contains(t, raw, "thoughtSignature")
		}
	}
	require.Positive(t, calls)
	// Calls that another model made have none; the documented stand-in is accepted in its place.
	d.create("foreign", nil)
	d.append("foreign", batches(2, 2)...)
	d.append("foreign", user("And?"))
	require.Contains(t, strings.Join(d.render("foreign", gemini).GetMessagesJson(), ""), "skip_thought_signature_validator")
	require.Empty(t, brokenRules(gemini, d.render("foreign", gemini), dialect.Request))
}

// Seed case 143: neighbours of one role are merged before sending.
func TestCase143NeighboursMergeWhereTheProviderDemandsIt(t *testing.T) {
	t.Parallel()
	d := start(t)
	d.create("s", nil)
	d.append("s", user("One."), user("Two."), assistant("Both."), user("Three."))
	for kind, want := range map[compactordv1.Dialect]int{chat: 4, responses: 4, anthropic: 3, gemini: 3} {
		rendered := d.render("s", kind)
		require.Len(t, rendered.GetMessagesJson(), want, kind)
		require.Equal(t, uint32(4-want), rendered.GetViewReport().GetMessagesMerged(), kind)
	}
	var logged []string
	for _, l := range d.messages("s") {
		logged = append(logged, textOf(l.GetMessage()))
	}
	require.Equal(t, []string{"One.", "Two.", "Both.", "Three."}, logged)
	require.Len(t, d.view("s"), 4)
}
