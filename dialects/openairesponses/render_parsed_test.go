package openairesponses_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/openairesponses"
)

// TestRenderParsed renders for a request what was written in this dialect: what the provider takes stays as it is.
func TestRenderParsed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, raw, want string }{
		{
			"ids and reasoning stay",
			`[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"},{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}","status":"completed"},
			  {"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"a","x":1.0}]}]`, "",
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
			"types that do not fit the role are mended",
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
	// Up to the first item that only the API can answer, all is as the provider takes it.
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
	// The call whose answer has a form that its type does not know becomes one of a function.
	require.Equal(t, map[int]bool{7: true, 8: true}, changed)
	require.Contains(t, have[7], `"type":"function_call"`)
	require.Contains(t, have[8], `"output":"\"not chunks\""`)
}
