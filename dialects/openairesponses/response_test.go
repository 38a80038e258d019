package openairesponses_test

import (
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestResponse(t *testing.T) {
	t.Parallel()
	parsed := parse(t, string(testdata(t, "response.json")))
	require.True(t, parsed.Response)
	require.Equal(t, []string{
		"ASSISTANT thinking() opaque(shell_call) opaque(shell_call_output) text(I ask twice.) call(call_1 read {}) call(call_2 read {})",
	}, outline(parsed.Messages))
	m := parsed.Messages[0]
	require.Equal(t, "gpt-5-2025-08-07", m.GetModel())
	require.Equal(t, compactordv1.StopReason_STOP_REASON_TOOL_USE, m.GetStopReason())
	require.Equal(t, "input_tokens:30 output_tokens:20 cache_read_tokens:64 cache_write_tokens:6 total_tokens:120",
		spaced(m.GetUsage().String()))
	require.NotContains(t, m.String(), "resp_1")
	require.NoError(t, protovalidate.Validate(m))
}

func TestStopReasons(t *testing.T) {
	t.Parallel()
	const said = `"output":[{"role":"assistant","content":"a"}]`
	for _, test := range []struct {
		name, raw string
		want      compactordv1.StopReason
	}{
		{"completed", `{"status":"completed",` + said + `}`, compactordv1.StopReason_STOP_REASON_END},
		{"cut at the limit", `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},` + said + `}`, compactordv1.StopReason_STOP_REASON_LENGTH},
		{"filtered", `{"status":"incomplete","incomplete_details":{"reason":"content_filter"},` + said + `}`, compactordv1.StopReason_STOP_REASON_REFUSAL},
		{"for another reason", `{"status":"incomplete","incomplete_details":null,` + said + `}`, compactordv1.StopReason_STOP_REASON_UNSPECIFIED},
		{"failed", `{"status":"failed","error":{"code":"server_error","message":"It broke."},"output":[]}`, compactordv1.StopReason_STOP_REASON_ERROR},
		{"cancelled", `{"status":"cancelled",` + said + `}`, compactordv1.StopReason_STOP_REASON_ABORTED},
		{"not told", `{` + said + `}`, compactordv1.StopReason_STOP_REASON_UNSPECIFIED},
		{"the last event of a stream", `{"type":"response.completed","response":{"status":"completed",` + said + `}}`, compactordv1.StopReason_STOP_REASON_END},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			parsed := parse(t, test.raw)
			require.True(t, parsed.Response)
			require.Len(t, parsed.Messages, 1)
			require.Equal(t, test.want, parsed.Messages[0].GetStopReason())
			require.Equal(t, test.name == "failed", parsed.Messages[0].GetErrorText() == "It broke.")
			written(t, []byte(test.raw))
		})
	}
}
