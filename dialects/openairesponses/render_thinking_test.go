package openairesponses_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The provider accepts a call without its reasoning only without the call's id (TanStack/ai#1212,
// continuedev/continue#11785).
func TestReasoningDropped(t *testing.T) {
	t.Parallel()
	messages := parse(t, reasoned).Messages
	messages[1] = withoutPart(messages[1], 0)
	require.Equal(t, []string{
		`{"content":"a","role":"user"}`,
		`{"content":[{"text":"b","type":"output_text"}],"role":"assistant","status":"completed","type":"message"}`,
		`{"arguments":"{}","call_id":"c1","name":"f","type":"function_call"}`,
		`{"call_id":"c1","output":"c","type":"function_call_output"}`,
	}, items(t, rendered(t, messages).Messages))
}

// Reasoning whose item was replaced is no longer followed by its own item (vercel/ai#7099). Encrypted, it needs no id.
func TestReasoningOfCollapsedGroup(t *testing.T) {
	t.Parallel()
	messages := parse(t, reasoned).Messages
	messages[1] = withPart(messages[1], 3, text("[f was called]"))
	r := rendered(t, messages[:2])
	require.Equal(t, []string{
		`{"content":"a","role":"user"}`,
		`{"encrypted_content":"x","summary":[],"type":"reasoning"}`,
		`{"content":[{"text":"b","type":"output_text"}],"role":"assistant","status":"completed","type":"message"}`,
		`{"content":"[f was called]","role":"assistant"}`,
	}, items(t, r.Messages))
	require.Len(t, r.Dropped, 1)
}

// A whole tool loop belongs to the reasoning at its start, up to the user's next message.
func TestReasoningDroppedEarlierInTheLoop(t *testing.T) {
	t.Parallel()
	messages := parse(t, reasoned[:len(reasoned)-1]+`,
		{"type":"function_call","id":"fc_2","call_id":"c2","name":"f","arguments":"{}"},
		{"type":"function_call_output","call_id":"c2","output":"c"},
		{"role":"user","content":"d"},
		{"type":"message","role":"assistant","id":"msg_2","content":"e"}]`).Messages
	messages[1] = withoutPart(withoutPart(messages[1], 0), 0)
	require.Equal(t, []string{
		`{"content":"a","role":"user"}`,
		`{"content":[{"text":"b","type":"output_text"}],"role":"assistant","status":"completed","type":"message"}`,
		`{"arguments":"{}","call_id":"c1","name":"f","type":"function_call"}`,
		`{"call_id":"c1","output":"c","type":"function_call_output"}`,
		`{"arguments":"{}","call_id":"c2","name":"f","type":"function_call"}`,
		`{"call_id":"c2","output":"c","type":"function_call_output"}`,
		`{"content":"d","role":"user"}`,
		`{"content":"e","id":"msg_2","role":"assistant","type":"message"}`,
	}, items(t, rendered(t, messages).Messages))
}
