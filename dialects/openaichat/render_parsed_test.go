package openaichat_test

import (
	"testing"

	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/openaichat"
)

// Lists in the dialect's own JSON, and the requests that are made from them.
func TestOwnListsGoIntoRequests(t *testing.T) {
	t.Parallel()
	const answered = `,{"role":"tool","tool_call_id":"a","content":"1"}`
	for name, c := range map[string]struct{ raw, want string }{
		"what was valid stays": {
			raw: `{"role":"system","content":[{"type":"text","text":"be kind"}]},
				{"role":"user","name":"anna","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}},
					{"type":"image_url","image_url":{"url":"data:image/png;base64,AQID","detail":"high"}},{"type":"video_url","video_url":{}}]},
				{"role":"assistant","content":"","reasoning_content":"so","reasoning_details":[{"type":"reasoning.encrypted","data":"x","n":1.0}],"annotations":[],
					"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"n\": 1e3}"},"extra_content":{"google":{"thought_signature":"c2ln"}}},
						{"id":"b","type":"custom","custom":{"name":"f","input":"no JSON"}}]},
				{"role":"tool","tool_call_id":"a","name":"f","content":[{"type":"text","text":"1"}]},{"role":"tool","tool_call_id":"b","content":""},
				{"role":"assistant","audio":{"id":"x"}},{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]},
				{"role":"assistant","reasoning_content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},
				{"role":"tool","tool_call_id":"c","content":"1"}`,
		},
		"what transcripts add is left out": {
			raw: `{"role":"assistant","content":"a","usage":{"input_tokens":1},"model":"m","stop_reason":"x","finish_reason":"stop","timestamp":1,
				"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},
				{"role":"tool","tool_call_id":"a","content":"it failed","is_error":true}`,
			want: `{"role":"assistant","content":"a","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},
				{"role":"tool","tool_call_id":"a","content":"it failed"}`,
		},
		"nulls that the provider refuses and empty lists are left out": {
			raw: `{"role":"assistant","content":[],"refusal":null,"audio":null,"function_call":null,"name":null,
				"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":null}}]}` + answered + `,
				{"role":"assistant","content":"a","tool_calls":[],"reasoning_content":null}`,
			want: `{"role":"assistant","content":null,"refusal":null,"audio":null,
				"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}` + answered + `,
				{"role":"assistant","content":"a"}`,
		},
		"arguments become a string": {
			raw:  `{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":{"n": 1.0}}}]}` + answered,
			want: `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"n\": 1.0}"}}]}` + answered,
		},
		"legacy exchanges stay": {
			raw: `{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"1"},
				{"role":"assistant","content":null,"function_call":{"name":"g","arguments":"{}"}},{"role":"function","name":"g","content":"2"}`,
		},
		"legacy results without a name": {
			raw:  `{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"function","content":"1"}`,
			want: `{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"1"}`,
		},
		"legacy calls without a result of their kind": {
			raw: `{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"user","content":"stop"}`,
			want: `{"role":"assistant","content":null,"tool_calls":[{"id":"call_0_0","type":"function","function":{"name":"f","arguments":"{}"}}]},
				{"role":"tool","tool_call_id":"call_0_0","name":"f","content":"[The tool failed]\nNo result: the conversation went on before the tool answered."},
				{"role":"user","content":"stop"}`,
		},
		"a refusal in its field": {
			raw:  `{"role":"assistant","content":null,"refusal":"no"},{"role":"assistant","content":"well","refusal":"no"}`,
			want: `{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]},{"role":"assistant","content":"well","refusal":"no"}`,
		},
		"a refusal beside calls": {
			raw: `{"role":"assistant","content":null,"refusal":"no","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}` + answered,
		},
		"what the provider would not take": {
			raw: `{"role":"user","content":[{"type":"image_url","image_url":"https://example.com/a.png"},
				{"type":"file","file":{"file_data":"AQID","filename":"a.pdf"}},{"type":"image_url","image_url":{"url":"data:application/pdf;base64,AQI="}},
				{"type":"text","text":"cut \ud83d"}]},
				{"role":"assistant","content":"a","audio":{"data":"AQID"}},
				{"role":"assistant","content":null,"audio":{"id":"x","data":"AQID"}},
				{"role":"assistant","content":"a","tool_calls":[{"id":"z","type":"mcp"}]}`,
			want: `{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png"}},
				{"type":"file","file":{"file_data":"data:application/pdf;base64,AQID","filename":"a.pdf"}},
				{"type":"file","file":{"file_data":"data:application/pdf;base64,AQI=","filename":"file.pdf"}},
				{"type":"text","text":"cut \ufffd"}]},
				{"role":"assistant","content":"a"},{"role":"assistant","content":null,"audio":{"id":"x"}},{"role":"assistant","content":"a"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.want == "" {
				c.want = c.raw
			}
			parsed := requireKept(t, []byte("["+c.raw+"]"))
			requireList(t, c.want, dialecttest.RequireRendered(t, openaichat.New(), dialecttest.ViewOf(parsed.Messages)))
		})
	}
}
