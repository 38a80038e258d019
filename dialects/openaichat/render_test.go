package openaichat_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/openaichat"
)

const (
	neutralUser = `{"role":"ROLE_USER","parts":[{"text":{"text":"hi"}}]}`
	neutralCall = `{"role":"ROLE_ASSISTANT","parts":[{"tool_call":{"id":"a","name":"f","arguments":"{}"}}]}`
)

func TestRequest(t *testing.T) {
	t.Parallel()
	const (
		wantUser = `{"role":"user","content":"hi"}`
		wantCall = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
		said1    = `,"parts":[{"text":{"text":"1"}}]`
	)
	longID := "fc_" + strings.Repeat("0", 50)
	for name, c := range map[string]struct {
		messages []string
		want     string
		repairs  []string
		dropped  int
	}{
		"nothing": {want: ``},
		"instructions in the middle": {
			messages: []string{neutralUser, `{"role":"ROLE_DEVELOPER","parts":[{"text":{"text":"be"}}]}`, neutralUser, `{"role":"ROLE_SYSTEM","parts":[{"text":{"text":"kind"}}]}`},
			want:     wantUser + `,{"role":"developer","content":"be"},` + wantUser + `,{"role":"system","content":"kind"}`,
		},
		"assistant first, no alternation": {
			messages: []string{`{"role":"ROLE_ASSISTANT","parts":[{"text":{"text":"a"}}]}`, `{"role":"ROLE_ASSISTANT","parts":[{"text":{"text":" "}}]}`},
			want:     `{"role":"assistant","content":"a"},{"role":"assistant","content":" "}`,
		},
		"empty messages": {
			messages: []string{`{"role":"ROLE_SYSTEM"}`, `{"role":"ROLE_DEVELOPER","parts":[{"text":{}}]}`, `{"role":"ROLE_USER"}`, `{"role":"ROLE_ASSISTANT","parts":[{"text":{}}]}`},
			want:     `{"role":"user","content":"(empty message)"}`,
			repairs: []string{
				"openai_chat.content-not-empty", "openai_chat.content-not-empty", "openai_chat.content-not-empty", "openai_chat.assistant-content",
			},
			dropped: 2,
		},
		"empty texts": {
			messages: []string{`{"role":"ROLE_USER","parts":[{"text":{}},{"text":{"text":"hi"}}]}`},
			want:     wantUser, dropped: 1,
		},
		"thinking from elsewhere": {
			messages: []string{`{"role":"ROLE_ASSISTANT","parts":[{"thinking":{"text":"so"},"attachments":[{"dialect":"DIALECT_ANTHROPIC","key":"signature","json":"\"c2ln\""}]},{"text":{"text":"a"}}]}`},
			want:     `{"role":"assistant","content":"a"}`, dropped: 1,
		},
		"thinking of its own": {
			messages: []string{`{"role":"ROLE_ASSISTANT","parts":[{"thinking":{"text":"so"},"attachments":[{"dialect":"DIALECT_OPENAI_CHAT","key":"$field","json":"\"reasoning\""}]},{"text":{"text":"a"}}]}`},
			want:     `{"role":"assistant","content":"a","reasoning":"so"}`,
		},
		"thinking and nothing else": {
			messages: []string{neutralUser, `{"role":"ROLE_ASSISTANT","parts":[{"thinking":{"text":"so"},"attachments":[{"dialect":"DIALECT_OPENAI_CHAT","key":"$field","json":"\"reasoning\""}]}]}`},
			want:     wantUser, repairs: []string{"openai_chat.assistant-content"}, dropped: 1,
		},
		"a system message between results": {
			messages: []string{
				`{"role":"ROLE_ASSISTANT","parts":[{"tool_call":{"id":"a","name":"f","arguments":"{}"}},{"tool_call":{"id":"b","name":"f","arguments":"{}"}}]}`,
				neutralResult("b", said1), `{"role":"ROLE_SYSTEM","parts":[{"text":{"text":"mind"}}]}`, neutralUser, neutralResult("a", said1), neutralUser,
			},
			want: `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},
				{"role":"tool","tool_call_id":"b","content":"1"},{"role":"tool","tool_call_id":"a","content":"1"},{"role":"system","content":"mind"},` + wantUser + `,` + wantUser,
			repairs: []string{"openai_chat.calls-answered"},
		},
		"batches one within another": {
			messages: []string{
				neutralCall, `{"role":"ROLE_ASSISTANT","parts":[{"tool_call":{"id":"b","name":"f","arguments":"{}"}}]}`, neutralResult("b", said1), neutralResult("a", said1),
			},
			want: wantCall + `,{"role":"tool","tool_call_id":"a","content":"1"},` + strings.Replace(wantCall, `"a"`, `"b"`, 1) +
				`,{"role":"tool","tool_call_id":"b","content":"1"}`,
			repairs: []string{"openai_chat.calls-answered"},
		},
		"ids used again": {
			messages: []string{neutralCall, neutralResult("a", said1), neutralCall, neutralResult("a", said1)},
			want: wantCall + `,{"role":"tool","tool_call_id":"a","content":"1"},` + strings.Replace(wantCall, `"a"`, `"a_2"`, 1) +
				`,{"role":"tool","tool_call_id":"a_2","content":"1"}`,
			repairs: []string{"openai_chat.call-ids-unique", "openai_chat.call-ids-unique"},
		},
		"ids too long, and without sense": {
			messages: []string{
				strings.Replace(neutralCall, `"a"`, `"`+longID+`"`, 1), neutralResult(longID, said1),
				strings.Replace(neutralCall, `"a"`, `"ü b"`, 1), neutralResult("ü b", said1),
			},
			want: strings.Replace(wantCall, `"a"`, `"`+longID[:40]+`"`, 1) + `,{"role":"tool","tool_call_id":"` + longID[:40] + `","content":"1"},` +
				strings.Replace(wantCall, `"a"`, `"___b"`, 1) + `,{"role":"tool","tool_call_id":"___b","content":"1"}`,
			repairs: []string{
				"openai_chat.call-id-length", "openai_chat.call-id-length", "openai_chat.call-ids-unique", "openai_chat.call-ids-unique",
			},
		},
		"ids as Kimi writes them": {
			messages: []string{strings.Replace(neutralCall, `"a"`, `"functions.f:0"`, 1), neutralResult("functions.f:0", said1)},
			want:     strings.Replace(wantCall, `"a"`, `"functions.f:0"`, 1) + `,{"role":"tool","tool_call_id":"functions.f:0","content":"1"}`,
		},
		"arguments": {
			messages: []string{
				`{"role":"ROLE_ASSISTANT","parts":[{"tool_call":{"id":"a","name":"f"}},{"tool_call":{"id":"b","name":"f","arguments":"[1]"}}]}`,
				neutralResult("a", said1), neutralResult("b", said1),
			},
			want: `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},
				{"id":"b","type":"function","function":{"name":"f","arguments":"{\"_raw\":\"[1]\"}"}}]},
				{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"b","content":"1"}`,
			repairs: []string{"openai_chat.arguments-object"},
		},
		"names": {
			messages: []string{
				`{"role":"ROLE_USER","name":"Anna B.","parts":[{"text":{"text":"hi"}}]}`,
				strings.Replace(neutralCall, `"f"`, `"a.b/c"`, 1), neutralResult("a", `,"name":"a.b/c"`+said1),
			},
			want: `{"role":"user","content":"hi","name":"Anna_B_"},` + strings.Replace(wantCall, `"f"`, `"a_b_c"`, 1) +
				`,{"role":"tool","tool_call_id":"a","name":"a_b_c","content":"1"}`,
			repairs: []string{"openai_chat.participant-name", "openai_chat.tool-name", "openai_chat.tool-name"},
		},
		"a result that failed": {
			messages: []string{neutralCall, neutralResult("a", `,"is_error":true`+said1)},
			want:     wantCall + `,{"role":"tool","tool_call_id":"a","content":"[The tool failed]\n1"}`,
		},
		"a result that failed without a word": {
			messages: []string{neutralCall, neutralResult("a", `,"is_error":true`)},
			want:     wantCall + `,{"role":"tool","tool_call_id":"a","content":"[The tool failed]"}`,
		},
		"an empty result": {
			messages: []string{neutralCall, neutralResult("a", `,"parts":[{"text":{}}]`)},
			want:     wantCall + `,{"role":"tool","tool_call_id":"a","content":""}`, dropped: 1,
		},
		"media in a result": {
			messages: []string{neutralCall, neutralResult("a", `,"parts":[{"text":{"text":"1"}},{"media":{"mime_type":"image/png","data":"AQID"}},
				{"opaque":{"dialect":"DIALECT_ANTHROPIC","json":"{}"}},{"opaque":{"dialect":"DIALECT_OPENAI_CHAT","json":"{\"type\":\"x\"}"}}]`)},
			want: wantCall + `,{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"1"},{"type":"text","text":"[Attached image/png: file]"},
				{"type":"text","text":"{\"type\":\"x\"}"}]}`,
			dropped: 3,
		},
		"media of the user": {
			messages: []string{`{"role":"ROLE_USER","parts":[
				{"media":{"mime_type":"image/PNG","data":"AQID"}},
				{"media":{"mime_type":"image/jpeg","uri":"https://example.com/a.jpg"}},
				{"media":{"mime_type":"audio/x-wav","data":"AQID"}},
				{"media":{"mime_type":"application/pdf","data":"AQID"}},
				{"media":{"mime_type":"application/pdf","file_id":"file-a","owner":"DIALECT_OPENAI_CHAT"}}]}`},
			want: `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AQID"}},
				{"type":"image_url","image_url":{"url":"https://example.com/a.jpg"}},
				{"type":"input_audio","input_audio":{"data":"AQID","format":"wav"}},
				{"type":"file","file":{"file_data":"data:application/pdf;base64,AQID","filename":"file.pdf"}},
				{"type":"file","file":{"file_id":"file-a"}}]}`,
		},
		"media that cannot be taken": {
			messages: []string{`{"role":"ROLE_USER","parts":[
				{"media":{"mime_type":"image/svg+xml","data":"AQID"}}, {"media":{"mime_type":"image/png","data":""}},
				{"media":{"mime_type":"image/png","uri":"gs://bucket/a.png"}}, {"media":{"mime_type":"video/mp4","uri":"https://example.com/a.mp4"}},
				{"media":{"mime_type":"image/png","uri":"https://example.com/a","owner":"DIALECT_GEMINI"}},
				{"media":{"mime_type":"audio/flac","data":"AQID"}}, {"media":{"mime_type":"text/plain","name":"a.txt","data":"AQID"}},
				{"media":{"mime_type":"image/png","file_id":"file-a"}}]}`},
			want: `{"role":"user","content":[` + strings.Join([]string{
				`{"type":"text","text":"[Attached image/svg+xml: file]"}`, `{"type":"text","text":"[Attached image/png: file]"}`,
				`{"type":"text","text":"[Attached image/png: file]"}`, `{"type":"text","text":"[Attached video/mp4: file]"}`,
				`{"type":"text","text":"[Attached image/png: file]"}`, `{"type":"text","text":"[Attached audio/flac: file]"}`,
				`{"type":"text","text":"[Attached text/plain: a.txt]"}`, `{"type":"text","text":"[Attached image/png: file]"}`,
			}, ",") + `]}`,
			dropped: 8,
		},
		"media of the assistant": {
			messages: []string{`{"role":"ROLE_ASSISTANT","parts":[{"media":{"mime_type":"image/png","data":"AQID"}}]}`},
			want:     `{"role":"assistant","content":"[Attached image/png: file]"}`, dropped: 1,
		},
		"items": {
			messages: []string{
				`{"role":"ROLE_USER","parts":[{"opaque":{"dialect":"DIALECT_OPENAI_CHAT","type":"video_url","json":"{\"type\":\"video_url\",\"n\":1.0}"}},
					{"opaque":{"dialect":"DIALECT_GEMINI","json":"{\"executableCode\":{}}"}},{"opaque":{"dialect":"DIALECT_OPENAI_CHAT","json":"{\"type\":\"text\"}"}}]}`,
			},
			want: `{"role":"user","content":[{"type":"video_url","n":1.0}]}`, dropped: 2,
		},
		"a refusal": {
			messages: []string{`{"role":"ROLE_ASSISTANT","parts":[{"text":{"text":"no","refusal":true}}]}`},
			want:     `{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]}`,
		},
		"a refusal beside texts": {
			messages: []string{`{"role":"ROLE_ASSISTANT","parts":[{"text":{"text":"well"}},{"text":{"text":"no","refusal":true}},{"text":{"text":"never","refusal":true}}]}`},
			want:     `{"role":"assistant","content":"well","refusal":"no\nnever"}`, repairs: []string{"openai_chat.refusal-alone"},
		},
		"foreign attachments": {
			messages: []string{`{"role":"ROLE_USER","attachments":[{"dialect":"DIALECT_GEMINI","key":"x","json":"1"}],
				"parts":[{"text":{"text":"hi"},"attachments":[{"dialect":"DIALECT_ANTHROPIC","key":"cache_control","json":"{}"}]}]}`},
			want: wantUser,
		},
		"attachments that would break the message": {
			messages: []string{`{"role":"ROLE_USER","attachments":[
				{"dialect":"DIALECT_OPENAI_CHAT","key":"role","json":"\"tool\""},{"dialect":"DIALECT_OPENAI_CHAT","key":"content"},
				{"dialect":"DIALECT_OPENAI_CHAT","key":"tool_calls","json":"[]"},{"dialect":"DIALECT_OPENAI_CHAT","key":"name","json":"1"},
				{"dialect":"DIALECT_OPENAI_CHAT","key":"usage","json":"{}"},{"dialect":"DIALECT_OPENAI_CHAT","key":"x","json":"no JSON"}],
				"parts":[{"text":{"text":"hi"}}]}`},
			want: wantUser,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rendered := dialecttest.RequireRendered(t, openaichat.New(), neutrals(t, c.messages...))
			requireList(t, c.want, rendered)
			var rules []string
			for _, r := range rendered.Repairs {
				rules = append(rules, r.Rule)
			}
			require.Equal(t, c.repairs, rules)
			require.Len(t, rendered.Dropped, c.dropped)
			require.Zero(t, rendered.Merged)
			require.False(t, rendered.DisableThinking)
		})
	}
}
