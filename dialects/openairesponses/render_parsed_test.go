package openairesponses_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/openairesponses"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// TestOwnListsGoIntoRequests renders lists of this dialect for a request. Whatever the provider accepts stays
// unchanged.
func TestOwnListsGoIntoRequests(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, raw, want string }{
		{
			"ids and reasoning stay",
			`[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"},{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}","status":"completed"},
			  {"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"a","x":1.0}]}]`, "",
		},
		{
			"what the helpers of the provider's SDK add is not sent",
			`[{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"a","annotations":[],"parsed":null}]},
			  {"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{\"x\":1}","status":"completed","parsed_arguments":{"x":1}},
			  {"type":"function_call_output","call_id":"c1","output":"b"}]`,
			`[{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"a","annotations":[]}]},
			  {"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{\"x\":1}","status":"completed"},
			  {"type":"function_call_output","call_id":"c1","output":"b"}]`,
		},
		{"a text as the whole input becomes a message", `"Hello"`, `[{"role":"user","content":"Hello"}]`},
		{
			"halves of characters are not sent", `[{"role":"user","content":"\ud83d"}]`,
			`[{"role":"user","content":"` + "\ufffd" + `"}]`,
		},
		{
			"ids of the wrong type are not sent",
			`[{"role":"assistant","id":"resp_1","content":"a"},{"role":"user","id":"u1","content":"b"}]`,
			`[{"role":"assistant","content":"a"},{"role":"user","content":"b"}]`,
		},
		{
			"an id that comes again is not sent, nor the ids of what belongs to it",
			`[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"},{"type":"message","role":"assistant","id":"msg_1","content":"a"},{"role":"user","content":"b"},
			  {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"},{"type":"message","role":"assistant","id":"msg_2","content":"c"}]`,
			`[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"},{"type":"message","role":"assistant","id":"msg_1","content":"a"},{"role":"user","content":"b"},
			  {"type":"reasoning","summary":[],"encrypted_content":"x"},{"type":"message","role":"assistant","content":"c"}]`,
		},
		{
			"reasoning without content or id is left out with the ids of what belongs to it",
			`[{"type":"reasoning","summary":[],"content":null},{"type":"web_search_call","id":"ws_1","status":"completed"},{"type":"file_search_call","id":"fs_1"},
			  {"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"a"},
			  {"type":"function_call","id":"fc_2","call_id":"c2","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c2","output":"a"},
			  {"role":"user","content":"b"},{"type":"message","role":"assistant","id":"msg_1","content":"c"}]`,
			`[{"type":"web_search_call","status":"completed"},
			  {"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"a"},
			  {"type":"function_call","call_id":"c2","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c2","output":"a"},
			  {"role":"user","content":"b"},{"type":"message","role":"assistant","id":"msg_1","content":"c"}]`,
		},
		{
			"instructions stay apart", `{"instructions":"Be kind.","input":[{"role":"user","content":"a"}]}`,
			`{"instructions":"Be kind.","input":[{"role":"user","content":"a"}]}`,
		},
		{
			"empty instructions are not sent", `{"instructions":"","input":[{"role":"user","content":"a"}]}`,
			`[{"role":"user","content":"a"}]`,
		},
		{
			"an output of another form is put as text",
			`[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":{"success":true}}]`,
			`[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"{\"success\":true}"}]`,
		},
		{
			"types that do not fit the role are repaired",
			`[{"role":"assistant","content":[{"type":"input_text","text":"a","annotations":[]},{"type":"refusal","refusal":"d"},{"type":"input_image","file_id":"f"}]},{"role":"user","content":[{"type":"text","text":"b","x":1}]},
			  {"role":"system","content":[{"type":"input_text","text":"c"},{"type":"input_image","file_id":"f"}]}]`,
			`[{"role":"assistant","content":[{"type":"output_text","text":"a","annotations":[]},{"type":"refusal","refusal":"d"}]},{"role":"user","content":[{"type":"input_text","text":"b","x":1}]},
			  {"role":"system","content":"c"}]`,
		},
		{
			"an image names its content once",
			`[{"role":"user","content":[{"type":"input_image","image_url":"https://example.org/a","file_id":"f","detail":"low"}]}]`,
			`[{"role":"user","content":[{"type":"input_image","image_url":"https://example.org/a","detail":"low"}]}]`,
		},
		{
			"a recording stays", `[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AQID","format":"wav"}}]}]`, "",
		},
		{
			"a recording cannot be what a tool answers",
			`[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":[{"type":"input_audio","input_audio":{"data":"AQID","format":"wav"}}]}]`,
			`[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"[Attached audio/wav: file]"}]`,
		},
		{
			"fields of an output that look like a message's", `[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},
			  {"type":"function_call_output","call_id":"c1","role":"assistant","output":[{"type":"input_text","text":"a"}]}]`, "",
		},
		{
			"the id of an output that names its call is none of its own",
			`[{"type":"local_shell_call","id":"c1","call_id":"c1","status":"completed","action":{"type":"exec","command":[],"env":{}}},
			  {"type":"local_shell_call_output","id":"c1","output":"a"}]`, "",
		},
		{
			"a request for an approval keeps the id that its answer names",
			`[{"type":"reasoning","id":"rs_1","summary":[]},{"type":"mcp_approval_request","id":"mcpr_1","name":"f","arguments":"{}","server_label":"s"},
			  {"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true}]`, "",
		},
		{
			"a request for an approval cannot have another id",
			`[{"type":"mcp_approval_request","id":"mcpr_1","name":"f","arguments":"{}","server_label":"s"},{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true},
			  {"type":"mcp_approval_request","id":"mcpr_1","name":"f","arguments":"{}","server_label":"s"},{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true}]`,
			`[{"type":"mcp_approval_request","id":"mcpr_1","name":"f","arguments":"{}","server_label":"s"},{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true},
			  {"type":"function_call","call_id":"mcpr_1_2","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"mcpr_1_2","output":""}]`,
		},
		{
			"a file in plain base64 stays", `[{"role":"user","content":[{"type":"input_file","file_data":"AQID","filename":"a.bin"}]}]`, "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			want := test.want
			if want == "" {
				want = test.raw
			}
			d := openairesponses.New()
			split, err := d.Split([]byte(want))
			require.NoError(t, err)
			r := rendered(t, parse(t, test.raw).Messages)
			require.Equal(t, items(t, split.Messages), items(t, r.Messages))
			require.Equal(t, split.System, r.System)
		})
	}
}

func TestRenderToolsOfTheProvider(t *testing.T) {
	t.Parallel()
	raw := testdata(t, "tools.json")
	all, err := openairesponses.New().Split(raw)
	require.NoError(t, err)
	// Up to the first item that only the API can answer, the provider accepts everything.
	list := items(t, all.Messages)
	messages := parse(t, string(raw)).Messages
	r := rendered(t, messages[:20])
	have := items(t, r.Messages)
	changed := map[int]bool{}
	for i, item := range have {
		if item != list[i] {
			changed[i] = true
		}
	}
	// A call whose output has an unknown form becomes a function call.
	require.Equal(t, map[int]bool{7: true, 8: true}, changed)
	require.Contains(t, have[7], `"type":"function_call"`)
	require.Contains(t, have[8], `"output":"\"not chunks\""`)
}

// Calls that a response answered itself are sent again as long as the outputs follow them.
func TestRenderSettledCalls(t *testing.T) {
	t.Parallel()
	const (
		first    = `{"type":"shell_call","call_id":"c1","action":{"commands":["ls"]}}`
		second   = `{"type":"shell_call","call_id":"c2","action":{"commands":["ls"]}}`
		answer1  = `{"type":"shell_call_output","call_id":"c1","output":[]}`
		answer2  = `{"type":"shell_call_output","call_id":"c2","output":[]}`
		said     = `{"role":"assistant","content":"a"}`
		function = `{"type":"function_call","call_id":"c3","name":"f","arguments":"{}"}`
		output   = `{"type":"function_call_output","call_id":"c3","output":"b"}`
	)
	for _, test := range []struct {
		name        string
		items, want []string
	}{
		{"one", []string{first, answer1, said}, []string{first, answer1, said}},
		{"two at once", []string{first, second, answer2, answer1, said}, []string{first, second, answer2, answer1, said}},
		{"two in turn", []string{first, answer1, second, answer2}, []string{first, answer1, second, answer2}},
		{"before a call", []string{first, answer1, function, output}, []string{first, answer1, function, output}},
		{"parted", []string{first, second, answer1, said, answer2}, []string{first, answer1, said}},
		{"behind a call", []string{function, first, answer1, output}, []string{function, output}},
		{"of another form", []string{first, strings.Replace(answer1, "[]", "1", 1), said}, []string{said}},
		{"twice", []string{first, answer1, first, answer1}, []string{first, answer1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var output []string
			messages := []*compactordv1.Message{assistant()}
			for _, item := range test.items {
				if strings.Contains(item, `"function_call_output"`) {
					messages = append(messages, answer("c3", "b"))
				} else {
					output = append(output, item)
				}
			}
			messages[0] = parse(t, `{"status":"completed","output":[`+strings.Join(output, ",")+`]}`).Messages[0]
			var want []json.RawMessage
			for _, item := range test.want {
				want = append(want, json.RawMessage(item))
			}
			require.Equal(t, items(t, want), items(t, rendered(t, messages).Messages))
		})
	}
}
