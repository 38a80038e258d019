package anthropic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestResponse(t *testing.T) {
	t.Parallel()
	parsed := parse(t, string(readFile(t, "response.json")))
	require.True(t, parsed.Response)
	require.Len(t, parsed.Messages, 1)
	m := parsed.Messages[0]
	require.Equal(t, compactordv1.Role_ROLE_ASSISTANT, m.GetRole())
	require.Equal(t, "model-1", m.GetModel())
	require.Equal(t, compactordv1.StopReason_STOP_REASON_TOOL_USE, m.GetStopReason())
	require.Equal(t, []uint32{12, 7, 56, 34}, []uint32{
		m.GetUsage().GetInputTokens(), m.GetUsage().GetOutputTokens(),
		m.GetUsage().GetCacheReadTokens(), m.GetUsage().GetCacheWriteTokens(),
	})
	require.Empty(t, m.GetAttachments(), "the response's own fields must not get into a request")
	require.JSONEq(t, `{"role":"assistant","content":[
		{"type":"thinking","thinking":"Look first.","signature":"c2lnbmVk"},
		{"type":"text","text":"I look.","citations":null},
		{"type":"tool_use","id":"toolu_1","name":"look","input":{"n":1.50}}]}`,
		string(asWritten(t, parsed.Messages).Messages[0]))
}

func TestStopReasons(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]compactordv1.StopReason{
		`"end_turn"`:                      compactordv1.StopReason_STOP_REASON_END,
		`"max_tokens"`:                    compactordv1.StopReason_STOP_REASON_LENGTH,
		`"stop_sequence"`:                 compactordv1.StopReason_STOP_REASON_STOP_SEQUENCE,
		`"tool_use"`:                      compactordv1.StopReason_STOP_REASON_TOOL_USE,
		`"pause_turn"`:                    compactordv1.StopReason_STOP_REASON_PAUSE,
		`"refusal"`:                       compactordv1.StopReason_STOP_REASON_REFUSAL,
		`"model_context_window_exceeded"`: compactordv1.StopReason_STOP_REASON_LENGTH,
		`"something_new"`:                 compactordv1.StopReason_STOP_REASON_UNSPECIFIED,
		`null`:                            compactordv1.StopReason_STOP_REASON_UNSPECIFIED,
	} {
		parsed := parse(t, `{"type":"message","role":"assistant","content":"x","stop_reason":`+word+`}`)
		require.Equal(t, want, parsed.Messages[0].GetStopReason(), word)
	}
}

// Clients keep whole responses in their lists. Their model, usage and stop reason are read and exported, but are not in
// a request.
func TestResponseWithinAList(t *testing.T) {
	t.Parallel()
	raw := `[{"role":"user","content":"Hi"},{"id":"msg_1","type":"message","role":"assistant","model":"model-1","content":"Hello",
		"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}},{"role":"user","content":"Bye"}]`
	parsed := parse(t, raw)
	require.False(t, parsed.Response)
	require.Equal(t, "model-1", parsed.Messages[1].GetModel())
	require.EqualValues(t, 3, parsed.Messages[1].GetUsage().GetInputTokens())
	require.JSONEq(t, raw, string(rawjson.EncodeArray(asWritten(t, parsed.Messages).Messages)))

	r := request(t, parsed.Messages...)
	require.JSONEq(t, `{"role":"assistant","content":"Hello"}`, string(r.Messages[1]))
	require.Equal(t, []dialect.Repair{{
		Rule: "anthropic.message-fields", Message: 1, What: "fields that the provider does not accept are left out",
	}}, r.Repairs)
}
