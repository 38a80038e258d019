package service_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// claude-code#63898 and #63412: thinking that came back changed, or in another place, was refused for ever.
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

	// An edit before the thinking makes it invalid: then all thinking of the tool loop is removed, and the client is told.
	pruned, err := d.compactions.Prune(t.Context(), &compactordv1.PruneRequest{
		Target: &compactordv1.PruneRequest_SessionId{SessionId: "s"}, Policy: hideAllBut(1),
	})
	require.NoError(t, err)
	require.NotEmpty(t, pruned.GetPrune().GetEdits())
	after := d.render("s", anthropic)
	require.NotContains(t, strings.Join(after.GetMessagesJson(), "\n"), "thinking")
	require.True(t, after.GetViewReport().GetDisableThinking())
}

// A compaction within a tool loop removes the thinking that was written before it. What the model writes afterwards is
// kept byte for byte where it thinks adaptively; otherwise the loop loses all, and thinking must be off until it ends.
func TestThinkingWrittenAfterACompactionInAToolLoop(t *testing.T) {
	t.Parallel()
	for _, adaptive := range []bool{false, true} {
		t.Run(fmt.Sprintf("adaptive=%v", adaptive), func(t *testing.T) {
			t.Parallel()
			d := start(t)
			policy := &compactordv1.Policy{}
			if adaptive {
				policy.Thinking = compactordv1.ThinkingPolicy_THINKING_POLICY_ADAPTIVE.Enum()
			}
			d.create("s", policy)
			d.appendJSON("s", anthropic, `[{"role":"user","content":"Measure."}]`)
			d.thinkingSteps("s", 0, 6)
			require.True(t, d.compactKeeping("s", 1200))
			after := d.render("s", anthropic)
			require.Less(t, len(after.GetMessagesJson()), 13)
			require.NotContains(t, strings.Join(after.GetMessagesJson(), "\n"), `"type":"thinking"`, "it was bound to what the summary replaces")
			require.Equal(t, !adaptive, after.GetViewReport().GetDisableThinking())

			written := d.thinkingSteps("s", 6, 9)
			after = d.render("s", anthropic)
			require.Empty(t, brokenRules(anthropic, after, dialect.Request))
			require.Equal(t, !adaptive, after.GetViewReport().GetDisableThinking())
			shown := strings.Join(after.GetMessagesJson(), "\n")
			if !adaptive {
				require.NotContains(t, shown, `"type":"thinking"`)
				return
			}
			last := after.GetMessagesJson()[len(after.GetMessagesJson())-2*len(written):]
			for i, want := range written {
				require.Equal(t, want, last[2*i])
			}
			require.Equal(t, len(written), strings.Count(shown, `"type":"thinking"`))
		})
	}
}

// thinkingSteps appends steps of a tool loop, each made from the newest view, and returns the model's messages.
func (d *daemon) thinkingSteps(id string, from, to int) (written []string) {
	for i := from; i < to; i++ {
		written = append(written, fmt.Sprintf(`{"role":"assistant","content":[`+
			`{"type":"thinking","signature":"c2lnbmF0dXJl%d==","thinking":"Step %d."},`+
			`{"type":"tool_use","id":"toolu_%d","name":"read","input":{"n":%d.0}}]}`, i, i, i, i))
		d.appendJSON(id, anthropic, fmt.Sprintf(`[%s,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":%q}]}]`,
			written[len(written)-1], i, strings.Repeat("wave ", 400)))
	}
	return written
}

// reasoned returns a history of OpenAI Responses with reasoning before its calls.
func reasoned(turns int) string {
	items := []string{`{"role":"user","content":"Count."}`}
	for i := range turns {
		items = append(items, fmt.Sprintf(`{"type":"reasoning","id":"rs_%d","summary":[],"encrypted_content":"ZW5j%d"}`, i, i),
			fmt.Sprintf(`{"type":"function_call","id":"fc_%d","call_id":"call_%d","name":"read","arguments":"{}","status":"completed"}`, i, i),
			fmt.Sprintf(`{"type":"function_call_output","call_id":"call_%d","output":"%s"}`, i, strings.Repeat("ship ", 300)))
	}
	return "[" + strings.Join(append(items, `{"role":"user","content":"And?"}`), ",") + "]"
}

// TanStack/ai#1212 and continue#11785: function_calls came without their reasoning items, reasoning without the item
// after it, and ids with the prefix of another kind.
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
	// Calls of another model have none; the provider's documented replacement is accepted.
	d.create("foreign", nil)
	d.append("foreign", batches(2, 2)...)
	d.append("foreign", user("And?"))
	require.Contains(t, strings.Join(d.render("foreign", gemini).GetMessagesJson(), ""), "skip_thought_signature_validator")
	require.Empty(t, brokenRules(gemini, d.render("foreign", gemini), dialect.Request))
}
