package openaichat_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/openaichat"
)

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

func TestFindings(t *testing.T) {
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
