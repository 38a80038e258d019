package openaichat_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/openaichat"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// neutral reads a message as it is written in tests: protobuf's JSON, with the names of the contract.
func neutral(t *testing.T, text string) *compactordv1.Message {
	t.Helper()
	m := &compactordv1.Message{}
	require.NoError(t, protojson.Unmarshal([]byte(text), m), text)
	return m
}

func TestMessagesAreReadByTheirMeaning(t *testing.T) {
	t.Parallel()
	const ours = `"dialect":"DIALECT_OPENAI_CHAT"`
	attached := func(key, value string) string {
		quoted, err := json.Marshal(value)
		require.NoError(t, err)
		return fmt.Sprintf(`{%s,"key":%q,"json":%s}`, ours, key, quoted)
	}
	for name, c := range map[string]struct{ raw, want string }{
		"text": {
			`{"role":"user","content":"hi","name":"anna"}`,
			`{"role":"ROLE_USER","name":"anna","parts":[{"text":{"text":"hi"}}]}`,
		},
		"text in an array": {
			`{"role":"system","content":[{"type":"text","text":"hi"}]}`,
			`{"role":"ROLE_SYSTEM","parts":[{"text":{"text":"hi"}}],"attachments":[` + attached("$content", `"array"`) + `]}`,
		},
		"image by address": {
			`{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/a","detail":"low"}}]}`,
			`{"role":"ROLE_USER","parts":[{"media":{"mime_type":"image/*","uri":"https://example.com/a"},"attachments":[` +
				attached("$image_url", `{"detail":"low"}`) + `]}]}`,
		},
		"image by value": {
			`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AQID"}}]}`,
			`{"role":"ROLE_USER","parts":[{"media":{"mime_type":"image/png","data":"AQID"}}]}`,
		},
		"recording": {
			`{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AQID","format":"mp3"}}]}`,
			`{"role":"ROLE_USER","parts":[{"media":{"mime_type":"audio/mpeg","data":"AQID"}}]}`,
		},
		"file by value": {
			`{"role":"user","content":[{"type":"file","file":{"file_data":"data:application/pdf;base64,AQID","filename":"a.pdf"}}]}`,
			`{"role":"ROLE_USER","parts":[{"media":{"mime_type":"application/pdf","name":"a.pdf","data":"AQID"}}]}`,
		},
		"file by id": {
			`{"role":"user","content":[{"type":"file","file":{"file_id":"file-a"}}]}`,
			`{"role":"ROLE_USER","parts":[{"media":{"mime_type":"application/octet-stream","file_id":"file-a","owner":"DIALECT_OPENAI_CHAT"}}]}`,
		},
		"part of another type": {
			`{"role":"user","content":[{"type":"video_url","n":1.0}]}`,
			`{"role":"ROLE_USER","parts":[{"opaque":{` + ours + `,"type":"video_url","json":"{\"type\":\"video_url\",\"n\":1.0}"}}]}`,
		},
		"refusal in its field": {
			`{"role":"assistant","content":null,"refusal":"no"}`,
			`{"role":"ROLE_ASSISTANT","stop_reason":"STOP_REASON_REFUSAL","parts":[{"text":{"text":"no","refusal":true},"attachments":[` +
				attached("$field", `"refusal"`) + `]}]}`,
		},
		"reasoning, text, calls": {
			`{"role":"assistant","reasoning_content":"so","content":"well","tool_calls":[
				{"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}},
				{"id":"b","type":"custom","custom":{"name":"g","input":"x"}}]}`,
			`{"role":"ROLE_ASSISTANT","parts":[
				{"thinking":{"text":"so"},"attachments":[` + attached("$field", `"reasoning_content"`) + `]},
				{"text":{"text":"well"}},
				{"tool_call":{"id":"a","name":"f","arguments":"{}"},"attachments":[` + attached("extra_content", `{"google":{"thought_signature":"c2ln"}}`) + `]},
				{"tool_call":{"id":"b","name":"g","arguments":"x"},"attachments":[` + attached("$type", `"custom"`) + `]}]}`,
		},
		"reasoning by details alone": {
			`{"role":"assistant","content":"well","reasoning_details":[{"type":"reasoning.summary","summary":"so"},{"type":"reasoning.encrypted","data":"x"}]}`,
			`{"role":"ROLE_ASSISTANT","parts":[{"thinking":{"text":"so"},"attachments":[` + attached("$field", `"reasoning_details"`) + `,` +
				attached("reasoning_details", `[{"type":"reasoning.summary","summary":"so"},{"type":"reasoning.encrypted","data":"x"}]`) +
				`]},{"text":{"text":"well"}}]}`,
		},
		"reasoning without a word": {
			`{"role":"assistant","content":"well","reasoning":null,"reasoning_details":[]}`,
			`{"role":"ROLE_ASSISTANT","parts":[{"text":{"text":"well"}}],"attachments":[` +
				attached("reasoning", `null`) + `,` + attached("reasoning_details", `[]`) + `]}`,
		},
		"bytes that are no UTF-8": {
			"{\"role\":\"user\",\"content\":\"a\xff\xfe\",\"x\":\"\xff\"}",
			`{"role":"ROLE_USER","parts":[{"text":{"text":"a\ufffd\ufffd"}}],"attachments":[` + attached("x", "\"\ufffd\"") + `]}`,
		},
		"function_call": {
			`{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}}`,
			`{"role":"ROLE_ASSISTANT","parts":[{"tool_call":{"name":"f","arguments":"{}"},"attachments":[` + attached("$field", `"function_call"`) + `]}]}`,
		},
		"role function": {
			`{"role":"function","name":"f","content":"1"}`,
			`{"role":"ROLE_TOOL","parts":[{"tool_result":{"name":"f","parts":[{"text":{"text":"1"}}]}}],"attachments":[` + attached("$role", `"function"`) + `]}`,
		},
		"result with mixed content": {
			`{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"1"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AQID"}},{"type":"thing"}]}`,
			`{"role":"ROLE_TOOL","parts":[{"tool_result":{"call_id":"a","parts":[{"text":{"text":"1"}},{"media":{"mime_type":"image/png","data":"AQID"}},
				{"opaque":{` + ours + `,"type":"thing","json":"{\"type\":\"thing\"}"}}]}}]}`,
		},
		"result that failed": {
			`{"role":"tool","tool_call_id":"a","name":"f","content":"1","is_error":true}`,
			`{"role":"ROLE_TOOL","parts":[{"tool_result":{"call_id":"a","name":"f","is_error":true,"parts":[{"text":{"text":"1"}}]}}],
				"attachments":[` + attached("is_error", "true") + `]}`,
		},
		"recording of the assistant": {
			`{"role":"assistant","content":null,"audio":{"id":"x"}}`,
			`{"role":"ROLE_ASSISTANT","parts":[{"opaque":{` + ours + `,"type":"audio","json":"{\"id\":\"x\"}"},"attachments":[` + attached("$field", `"audio"`) + `]}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, findings, err := openaichat.ParseMessage([]byte(c.raw))
			require.NoError(t, err)
			require.Empty(t, findings)
			want := neutral(t, c.want)
			require.True(t, proto.Equal(want, m), "want %s\nhave %s", want, m)
		})
	}
}

func TestWhatTranscriptsAddIsRead(t *testing.T) {
	t.Parallel()
	m, _, err := openaichat.ParseMessage([]byte(`{"role":"assistant","content":"hi","model":"m","stop_reason":"end_turn",
		"usage":{"input_tokens":1e3,"output_tokens":2.0,"cache_read_tokens":3,"cache_write_tokens":4,"total_tokens":1009},
		"timestamp":"2026-01-02T03:04:05+01:00"}`))
	require.NoError(t, err)
	require.Equal(t, "m", m.GetModel())
	require.Equal(t, compactordv1.StopReason_STOP_REASON_END, m.GetStopReason())
	require.True(t, proto.Equal(&compactordv1.Usage{
		InputTokens: 1000, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, TotalTokens: 1009,
	}, m.GetUsage()), m.GetUsage())
	require.Equal(t, time.Date(2026, 1, 2, 2, 4, 5, 0, time.UTC), m.GetWrittenAt().AsTime())
	for stamp, want := range map[string]time.Time{
		"1767225600": time.Unix(1767225600, 0), "1767225600500": time.UnixMilli(1767225600500), "0": {}, `"yesterday"`: {}, "-5": {}, "1e300": {},
	} {
		m, _, err := openaichat.ParseMessage([]byte(`{"role":"user","content":"hi","timestamp":` + stamp + `}`))
		require.NoError(t, err)
		if want.IsZero() {
			require.Nil(t, m.GetWrittenAt(), stamp)
		} else {
			require.Equal(t, want.UTC(), m.GetWrittenAt().AsTime(), stamp)
		}
	}
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

func TestResponsesTellOfTheirMessage(t *testing.T) {
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
	// What the message itself says is nearer to it than its envelope.
	parsed = requireKept(t, fmt.Appendf(nil, body, `{"role":"assistant","content":"hi","model":"m-2","stop_reason":"aborted","usage":{"input_tokens":1}}`, "stop"))
	require.Equal(t, "m-2", parsed.Messages[0].GetModel())
	require.Equal(t, compactordv1.StopReason_STOP_REASON_ABORTED, parsed.Messages[0].GetStopReason())
	require.Equal(t, uint32(1), parsed.Messages[0].GetUsage().GetInputTokens())
}

func TestFindingsTellWhatWasTakenAllTheSame(t *testing.T) {
	t.Parallel()
	parsed := requireKept(t, []byte(`[{"role":"user","content":"hi"},{"role":"user","content":""},{"role":"assistant","content":[]},
		{"role":"assistant","tool_calls":[
			{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},
			{"id":"b","type":"function","function":{"name":"f","arguments":"{\"cut\": \"of"}},
			{"id":"c","type":"function","function":{"name":"f","arguments":" "}},
			{"id":"d","type":"custom","custom":{"name":"f","input":"no JSON"}}]},
		{"role":"tool","tool_call_id":"a","content":""}]`))
	type place struct {
		rule          string
		message, part int
	}
	var places []place
	for _, f := range parsed.Findings {
		places = append(places, place{f.Rule, f.Message, f.Part})
	}
	require.Equal(t, []place{
		{dialect.InputEmptyMessage, 1, 0}, {dialect.InputEmptyMessage, 2, 0}, {dialect.InputArgumentsNotJSON, 3, 1},
	}, places)
}

func TestWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", dialect.MaxName+1)
	fields := make([]string, dialect.MaxAttachments+1)
	for i := range fields {
		fields[i] = fmt.Sprintf(`"x%d":1`, i)
	}
	for _, c := range []struct {
		raw, rule     string
		message, part int
		field         string
	}{
		{``, dialect.InputShape, -1, 0, ""},
		{`null`, dialect.InputShape, -1, 0, ""},
		{`"hi"`, dialect.InputShape, -1, 0, ""},
		{`[{"role":"user"`, dialect.InputShape, -1, 0, ""},
		{`{"model":"m"}`, dialect.InputShape, -1, 0, ""},
		{`{"error":{"message":"no"}}`, dialect.InputShape, -1, 0, ""},
		{`{"error":{"message":"no"},"choices":[]}`, dialect.InputShape, -1, 0, ""},
		{`{"messages":{}}`, dialect.InputShape, -1, 0, "messages"},
		{`{"messages":[],"system":"be kind"}`, dialect.InputShape, -1, 0, "system"},
		{`{"choices":[]}`, dialect.InputShape, -1, 0, "choices"},
		{`{"choices":[{"delta":{"content":"x"}}]}`, dialect.InputShape, -1, 0, "choices[0].delta"},
		{`{"choices":[{"text":"x"}]}`, dialect.InputShape, -1, 0, "choices[0].message"},
		{`{"choices":[{"message":{"role":"user","content":"x"}}]}`, dialect.InputShape, 0, 0, "role"},
		{`{"choices":[{"message":{"role":"assistant","content":"x"}}],"usage":{"prompt_tokens":-1}}`, dialect.InputShape, 0, 0, "usage.prompt_tokens"},
		{`[null]`, dialect.InputShape, 0, 0, ""},
		{`[{"role":"user","content":"a"},{"content":"hi"}]`, dialect.InputShape, 1, 0, "role"},
		{`[{"role":"_compaction"}]`, dialect.InputShape, 0, 0, "role"},
		{`[{"role":"user","content":1}]`, dialect.InputShape, 0, 0, "content"},
		{`[{"role":"user","content":[{"type":"text","text":"a"},{"text":"b"}]}]`, dialect.InputShape, 0, 1, "content[1].type"},
		{`[{"role":"user","content":[{"type":"text"}]}]`, dialect.InputShape, 0, 0, "content[0].text"},
		{`[{"role":"user","content":[{"type":"` + long + `"}]}]`, dialect.InputLimit, 0, 0, "content[0].type"},
		{`[{"role":"system","content":[{"type":"image_url","image_url":{"url":"x"}}]}]`, dialect.InputShape, 0, 0, "content[0].type"},
		{`[{"role":"user","content":[{"type":"image_url"}]}]`, dialect.InputShape, 0, 0, "content[0].image_url"},
		{`[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,!"}}]}]`, dialect.InputShape, 0, 0, "content[0].image_url.url"},
		{`[{"role":"user","content":[{"type":"image_url","image_url":"data:x"}]}]`, dialect.InputShape, 0, 0, "content[0].image_url"},
		{`[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AQID"}}]}]`, dialect.InputShape, 0, 0, "content[0].input_audio.format"},
		{`[{"role":"user","content":[{"type":"file","file":{"filename":"a"}}]}]`, dialect.InputShape, 0, 0, "content[0].file"},
		{`[{"role":"user","content":[{"type":"file","file":{"file_data":1}}]}]`, dialect.InputShape, 0, 0, "content[0].file.file_data"},
		{`[{"role":"user","content":"a","name":"` + long + `"}]`, dialect.InputLimit, 0, 0, "name"},
		{`[{"role":"user","content":"a","tool_calls":[]}]`, dialect.InputShape, 0, 0, "tool_calls"},
		{`[{"role":"tool","content":"a","reasoning_content":"b"}]`, dialect.InputShape, 0, 0, "reasoning_content"},
		{`[{"role":"tool","tool_call_id":1,"content":"a"}]`, dialect.InputShape, 0, 0, "tool_call_id"},
		{`[{"role":"tool","tool_call_id":"a","content":"a","is_error":"yes"}]`, dialect.InputShape, 0, 0, "is_error"},
		{`[{"role":"assistant","content":"a","audio":"x"}]`, dialect.InputShape, 0, 0, "audio"},
		{`[{"role":"assistant","content":"a","refusal":1}]`, dialect.InputShape, 0, 0, "refusal"},
		{`[{"role":"assistant","content":"a","reasoning_content":1}]`, dialect.InputShape, 0, 0, "reasoning_content"},
		{`[{"role":"assistant","content":"a","model":"` + long + `"}]`, dialect.InputLimit, 0, 0, "model"},
		{`[{"role":"assistant","content":"a","usage":{"prompt_tokens":1,"prompt_tokens_details":{"cached_tokens":2}}}]`, dialect.InputShape, 0, 0, "usage.prompt_tokens_details.cached_tokens"},
		{`[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}},{"id":"b"}]}]`, dialect.InputShape, 0, 1, "tool_calls[1].function"},
		{`[{"role":"assistant","tool_calls":[{"id":"a","function":{"arguments":"{}"}}]}]`, dialect.InputShape, 0, 0, "tool_calls[0].function.name"},
		{`[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":""}}]}]`, dialect.InputShape, 0, 0, "tool_calls[0].function.name"},
		{`[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":1}}]}]`, dialect.InputShape, 0, 0, "tool_calls[0].function.arguments"},
		{`[{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"f"}}]}]`, dialect.InputShape, 0, 0, "tool_calls[0].custom.input"},
		{`[{"role":"assistant","function_call":{"arguments":"{}"}}]`, dialect.InputShape, 0, 0, "function_call.name"},
		{`[{"role":"user","content":"a",` + strings.Join(fields, ",") + `}]`, dialect.InputLimit, 0, 0, ""},
		{`[{"role":"user","content":"a","$note":1}]`, dialect.InputShape, 0, 0, ""},
		{`[{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":"a"},`, dialect.MaxParts) + `{"type":"text","text":"a"}]}]`, dialect.InputLimit, 0, 0, "content"},
	} {
		raw := c.raw[:min(len(c.raw), 100)]
		refused, taken := dialecttest.Unreadable(t, openaichat.New(), []byte(c.raw))
		// A list is refused as a whole only where none of its messages can be read.
		whole := c.message < 0 || c.message == 0 && (c.field == "role" || c.field == "tool_call_id") || c.raw == `[null]`
		require.Equal(t, !whole, taken, raw)
		require.Equal(t, c.rule, refused.Rule, raw)
		require.Equal(t, []int{c.message, c.part}, []int{refused.Message, refused.Part}, raw)
		require.Equal(t, c.field, refused.Field, raw)
	}
	_, err := openaichat.New().Parse([]byte(`{"error":{"message":"no"}}`))
	require.ErrorContains(t, err, "ClassifyError")
}
