package anthropic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// inTwoParts renders messages in two parts, the second from a position on.
func inTwoParts(t *testing.T, cut int, messages []*compactordv1.Message) (first, second *dialect.Rendered) {
	t.Helper()
	first, err := anthropic.New().Render(messages[:cut], dialect.RenderOptions{More: true})
	require.NoError(t, err)
	if first.After == nil {
		return first, nil
	}
	second, err = anthropic.New().Render(messages[cut:], dialect.RenderOptions{Before: first.After})
	require.NoError(t, err)
	return first, second
}

// A program's use and its result are in different messages, which no cut may separate.
func TestNoCutWhereAProgramWaits(t *testing.T) {
	t.Parallel()
	messages := parse(t, `[{"role":"user","content":"Hi."},
		{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"code_execution","input":{}},
			{"type":"tool_use","id":"t","name":"n","input":{},"caller":{"type":"code_execution_20250825","tool_id":"s"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]},
		{"role":"assistant","content":[{"type":"code_execution_tool_result","tool_use_id":"s","content":{}},
			{"type":"text","text":"Done."}]},
		{"role":"user","content":"And?"},
		{"role":"assistant","content":[{"type":"text","text":"That."}]}]`).Messages
	require.Equal(t, compactordv1.Role_ROLE_TOOL, messages[2].GetRole())
	first, _ := inTwoParts(t, 3, messages)
	require.Nil(t, first.After)
	first, second := inTwoParts(t, 5, messages)
	require.NotNil(t, second, "the program has its result")
	require.Equal(t, list(request(t, messages...)),
		list(&dialect.Rendered{List: dialect.List{Messages: append(first.Messages, second.Messages...)}}))
}

// A mark for an hour is shortened after a shorter one, also where a cut is between them.
func TestMarksBeforeACut(t *testing.T) {
	t.Parallel()
	long := with(textPart("Two."), attachment("cache_control", `{"type":"ephemeral","ttl":"1h"}`))
	messages := []*compactordv1.Message{user(markedPart("One.")), assistant(long), user(textPart("Three."))}
	first, second := inTwoParts(t, 1, messages)
	require.Equal(t, list(request(t, messages...)),
		list(&dialect.Rendered{List: dialect.List{Messages: append(first.Messages, second.Messages...)}}))
	require.NotContains(t, string(second.Messages[0]), "1h")
}
