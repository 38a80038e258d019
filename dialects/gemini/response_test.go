package gemini_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestResponse(t *testing.T) {
	t.Parallel()
	content := `{"role":"model","parts":[{"functionCall":{"id":"1","name":"ls","args":{}},"thoughtSignature":"YQ=="}]}`
	parsed := parse(t, `{"candidates":[{"content":`+content+`,"finishReason":"STOP","index":0,"safetyRatings":[]},{"content":`+answer+`}],
		"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":30,"candidatesTokenCount":7,"thoughtsTokenCount":5,
		"toolUsePromptTokenCount":2,"totalTokenCount":114},"modelVersion":"gemini-3-pro","responseId":"r1"}`)
	require.True(t, parsed.Response)
	require.Len(t, parsed.Messages, 1)
	m := parsed.Messages[0]
	require.Equal(t, "gemini-3-pro", m.GetModel())
	require.Equal(t, compactordv1.StopReason_STOP_REASON_TOOL_USE, m.GetStopReason())
	require.True(t, proto.Equal(&compactordv1.Usage{
		InputTokens: 72, CacheReadTokens: 30, OutputTokens: 12, TotalTokens: 114,
	}, m.GetUsage()), m.GetUsage())
	require.Empty(t, m.GetAttachments(), "nothing of the envelope is kept")
	require.Len(t, parsed.Findings, 1)
	require.Equal(t, dialect.InputChoicesLeftOut, parsed.Findings[0].Rule)
	requireWritten(t, &dialect.List{Messages: []json.RawMessage{[]byte(content)}}, parsed.Messages)
}

func TestResponseWithUnderscoresAndWithoutRole(t *testing.T) {
	t.Parallel()
	parsed := parse(t, `{"candidates":[{"content":{"parts":[{"text":"a"}]},"finish_reason":"MAX_TOKENS"}],
		"usage_metadata":{"prompt_token_count":3,"cached_content_token_count":5},"model_version":"gemini-2.5-flash"}`)
	m := parsed.Messages[0]
	require.Equal(t, compactordv1.Role_ROLE_ASSISTANT, m.GetRole())
	require.Equal(t, compactordv1.StopReason_STOP_REASON_LENGTH, m.GetStopReason())
	require.Equal(t, "gemini-2.5-flash", m.GetModel())
	require.True(t, proto.Equal(&compactordv1.Usage{CacheReadTokens: 5}, m.GetUsage()), m.GetUsage())
	requireWritten(t, &dialect.List{Messages: []json.RawMessage{[]byte(`{"role":"model","parts":[{"text":"a"}]}`)}}, parsed.Messages)
}

func TestStopReasons(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]compactordv1.StopReason{
		"STOP":                    compactordv1.StopReason_STOP_REASON_END,
		"MAX_TOKENS":              compactordv1.StopReason_STOP_REASON_LENGTH,
		"SAFETY":                  compactordv1.StopReason_STOP_REASON_REFUSAL,
		"IMAGE_SAFETY":            compactordv1.StopReason_STOP_REASON_REFUSAL,
		"MALFORMED_FUNCTION_CALL": compactordv1.StopReason_STOP_REASON_ERROR,
		"SOMETHING_NEW":           compactordv1.StopReason_STOP_REASON_UNSPECIFIED,
	} {
		parsed := parse(t, `{"candidates":[{"content":`+answer+`,"finishReason":"`+reason+`","finishMessage":"why"}]}`)
		require.Equal(t, want, parsed.Messages[0].GetStopReason(), reason)
		require.Nil(t, parsed.Messages[0].GetUsage())
		require.Equal(t, want == compactordv1.StopReason_STOP_REASON_ERROR, parsed.Messages[0].GetErrorText() == "why", reason)
	}
	stopped := parse(t, `{"candidates":[{"finishReason":"SAFETY"}]}`)
	require.Empty(t, stopped.Messages[0].GetParts())
	require.Equal(t, compactordv1.StopReason_STOP_REASON_REFUSAL, stopped.Messages[0].GetStopReason())
}
