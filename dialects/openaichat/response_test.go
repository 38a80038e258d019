package openaichat_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/openaichat"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestResponse(t *testing.T) {
	t.Parallel()
	const body = `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m-1","service_tier":"default","choices":[
		{"index":0,"message":%s,"logprobs":null,"finish_reason":%q},{"index":1,"message":{"role":"assistant","content":"or"}}],
		"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}`
	parsed := requireKept(t, fmt.Appendf(nil, body, `{"role":"assistant","content":"hi","refusal":null,"annotations":[]}`, "length"))
	require.True(t, parsed.Response)
	require.Len(t, parsed.Messages, 1)
	m := parsed.Messages[0]
	require.Equal(t, "m-1", m.GetModel())
	require.Equal(t, compactordv1.StopReason_STOP_REASON_LENGTH, m.GetStopReason())
	require.True(t, proto.Equal(&compactordv1.Usage{InputTokens: 6, OutputTokens: 2, CacheReadTokens: 4}, m.GetUsage()))
	require.NotContains(t, m.String(), "chatcmpl")
	require.Len(t, parsed.Findings, 1)
	require.Equal(t, dialect.InputChoicesLeftOut, parsed.Findings[0].Rule)

	parsed = requireKept(t, fmt.Appendf(nil, body, `{"role":"assistant","content":null,"refusal":"no"}`, "stop"))
	require.Equal(t, compactordv1.StopReason_STOP_REASON_REFUSAL, parsed.Messages[0].GetStopReason())
	// The message's own fields have precedence over those of the response.
	parsed = requireKept(t, fmt.Appendf(nil, body, `{"role":"assistant","content":"hi","model":"m-2","stop_reason":"aborted","usage":{"input_tokens":1}}`, "stop"))
	require.Equal(t, "m-2", parsed.Messages[0].GetModel())
	require.Equal(t, compactordv1.StopReason_STOP_REASON_ABORTED, parsed.Messages[0].GetStopReason())
	require.Equal(t, uint32(1), parsed.Messages[0].GetUsage().GetInputTokens())
}

func TestUsageLeavesOutWhatWasCached(t *testing.T) {
	t.Parallel()
	for usage, want := range map[string]*compactordv1.Usage{
		`{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":4}}`:   {InputTokens: 6, OutputTokens: 2, CacheReadTokens: 4, TotalTokens: 12},
		`{"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":5}}`:                    {InputTokens: 1, CacheReadTokens: 4, CacheWriteTokens: 5},
		`{"prompt_tokens":10,"prompt_cache_hit_tokens":7,"prompt_cache_miss_tokens":3,"prompt_tokens_details":null}`: {InputTokens: 3, CacheReadTokens: 7},
	} {
		m, _, err := openaichat.ParseMessage([]byte(`{"role":"assistant","content":"hi","usage":` + usage + `}`))
		require.NoError(t, err)
		require.True(t, proto.Equal(want, m.GetUsage()), "%s: %s", usage, m.GetUsage())
	}
}
