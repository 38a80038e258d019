package openairesponses_test

import (
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, raw string
		want      []string
		positions []int
	}{
		{"a text is a message of the user", ` "Hello" `, []string{"USER text(Hello)"}, []int{0}},
		{"an empty list", "[]", []string{}, nil},
		{"one item", `{"role":"user","content":"Hello"}`, []string{"USER text(Hello)"}, []int{0}},
		{
			"a request body", `{"model":"m","instructions":"Be kind.","input":[{"role":"user","content":"Hello"}]}`,
			[]string{"SYSTEM text(Be kind.)", "USER text(Hello)"},
			[]int{0, 0},
		},
		{
			"a request body with a text", `{"instructions":"Be kind.","input":"Hello"}`,
			[]string{"SYSTEM text(Be kind.)", "USER text(Hello)"},
			[]int{0, 0},
		},
		{
			"roles", `[{"role":"system","content":"a"},{"role":"developer","content":"b"},{"role":"assistant","content":"c"}]`,
			[]string{"SYSTEM text(a)", "DEVELOPER text(b)", "ASSISTANT text(c)"},
			[]int{0, 1, 2},
		},
		{
			"what the model says and does up to the next output is one message",
			`[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}]},
			  {"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"},{"type":"refusal","refusal":"b"}]},
			  {"type":"web_search_call","id":"ws_1"},
			  {"type":"function_call","call_id":"1","name":"f","arguments":"{}"},
			  {"type":"custom_tool_call","call_id":"2","name":"g","input":"x"},
			  {"type":"function_call_output","call_id":"1","output":"y"},
			  {"type":"custom_tool_call_output","call_id":"2","output":"z"},
			  {"role":"assistant","content":"c"},{"role":"assistant","content":"d"}]`,
			[]string{
				"ASSISTANT thinking(Hm.) text(a) refusal(b) opaque(web_search_call) call(1 f {}) call(2 g x)",
				"TOOL result 1 text(y)", "TOOL result 2 text(z)", "ASSISTANT text(c) text(d)",
			},
			[]int{0, 5, 6, 7},
		},
		{
			"outputs between calls",
			`[{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"y"},
			  {"type":"function_call","call_id":"2","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"2","output":"z"}]`,
			[]string{"ASSISTANT call(1 f {})", "TOOL result 1 text(y)", "ASSISTANT call(2 f {})", "TOOL result 2 text(z)"},
			[]int{0, 1, 2, 3},
		},
		{
			"media", `[{"role":"user","content":[
			  {"type":"input_image","image_url":"data:image/png;base64,AQID"},{"type":"input_image","image_url":"https://example.org/a"},
			  {"type":"input_image","file_id":"f1"},{"type":"input_file","file_data":"data:application/pdf;base64,AQID","filename":"a.pdf"},
			  {"type":"input_file","file_data":"AQID"},{"type":"input_file","file_url":"https://example.org/b"},
			  {"type":"input_file","file_id":"f2"},{"type":"input_audio","input_audio":{"data":"AQID","format":"mp3"}},
			  {"type":"input_image"},{"type":"input_video"}]}]`,
			[]string{"USER media(image/png 3 bytes) media(image/* https://example.org/a) " +
				"media(image/* f1 of DIALECT_OPENAI_RESPONSES) media(application/pdf 3 bytes) a.pdf " +
				"media(application/octet-stream 3 bytes) media(application/octet-stream https://example.org/b) " +
				"media(application/octet-stream f2 of DIALECT_OPENAI_RESPONSES) media(audio/mpeg 3 bytes) " +
				"opaque(input_image) opaque(input_video)"},
			[]int{0},
		},
		{
			"an instruction holds text only",
			`[{"role":"system","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"https://example.org/a"}]}]`,
			[]string{"SYSTEM text(a)"},
			[]int{0},
		},
		{
			"reasoning that can be read in full", `[{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"a"},{"type":"reasoning_text","text":"b"}]}]`,
			[]string{"ASSISTANT thinking(a\n\nb)"},
			[]int{0},
		},
		{
			"reasoning that is encrypted", `[{"type":"reasoning","summary":[],"encrypted_content":"x"}]`,
			[]string{"ASSISTANT thinking()"},
			[]int{0},
		},
		{
			"items of the client that are no message", `[{"type":"compaction_trigger"},{"type":"compaction","encrypted_content":"x"}]`,
			[]string{"USER opaque(compaction_trigger)", "ASSISTANT opaque(compaction)"},
			[]int{0, 1},
		},
		{
			"what was compacted is a list", `{"object":"response.compaction","output":[{"role":"user","content":"a"},{"type":"compaction","encrypted_content":"x"}]}`,
			[]string{"USER text(a)", "ASSISTANT opaque(compaction)"},
			[]int{0, 1},
		},
		{
			"an output of another form", `[{"type":"function_call_output","call_id":"1","output":{"success":true}}]`,
			[]string{"TOOL result 1 opaque(output)"},
			[]int{0},
		},
		{
			"a result with more than text", `[{"type":"function_call_output","call_id":"1","name":"f","output":[
			  {"type":"input_text","text":"a"},{"type":"input_image","file_id":"f1"},{"type":"input_video"}]}]`,
			[]string{"TOOL result 1 text(a) media(image/* f1 of DIALECT_OPENAI_RESPONSES) opaque(input_video)"},
			[]int{0},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			parsed := parse(t, test.raw)
			require.Equal(t, test.want, outline(parsed.Messages))
			require.Equal(t, test.positions, parsed.Positions)
			require.Empty(t, parsed.Findings)
			require.False(t, parsed.Response)
			for _, m := range parsed.Messages {
				require.NoError(t, protovalidate.Validate(m))
			}
			written(t, []byte(test.raw))
		})
	}
}

func TestParseToolsOfTheProvider(t *testing.T) {
	t.Parallel()
	parsed := parse(t, string(testdata(t, "tools.json")))
	require.Equal(t, []string{
		"USER text(Run everything.)",
		`ASSISTANT call(call_l1 local_shell {"type": "exec", "command": ["ls", "-l"], "env": {}, "timeout_ms": 1e3}) ` +
			`call(call_l2 local_shell {"type": "exec", "command": ["pwd"], "env": {}})`,
		"TOOL result call_l1 text(total 0)",
		"TOOL result call_l2 text(/)",
		`ASSISTANT call(call_s1 shell {"commands": ["make"], "timeout_ms": null, "max_output_length": 4096})`,
		"TOOL result call_s1 text(ok \ufffd) text() text(no rule) text(half) text(late)",
		`ASSISTANT call(call_s2 shell {"commands": []})`,
		"TOOL result call_s2 opaque(output)",
		`ASSISTANT call(call_a1 apply_patch {"type": "delete_file", "path": "a.txt"}) ` +
			`call(call_a2 apply_patch {"type": "update_file", "path": "b.txt", "diff": "@@\n-a\n+b"})`,
		"TOOL result call_a1",
		"TOOL result call_a2 failed text(no such file)",
		`ASSISTANT call(call_c1 computer {"type": "click", "x": 10, "y": 20.50, "button": "left"})`,
		"TOOL result call_c1 media(image/png 8 bytes)",
		`ASSISTANT call(call_c2 computer [{"type": "wait"}])`,
		"TOOL result call_c2 media(image/* file-9 of DIALECT_OPENAI_RESPONSES)",
		`ASSISTANT opaque(mcp_list_tools) call(mcpr_1 delete {"page":1}) call(mcpr_2 create {})`,
		"TOOL result mcpr_1 failed text(Keep it.)",
		"TOOL result mcpr_2",
		`ASSISTANT opaque(mcp_call) call(call_t1 tool_search {"goal": "find"})`,
		"TOOL result call_t1 opaque(output)",
		"ASSISTANT opaque(tool_search_call) opaque(tool_search_output) opaque(file_search_call) " +
			"opaque(code_interpreter_call) opaque(image_generation_call) opaque(compaction) opaque(item_reference) " +
			"opaque(something_new)",
		"USER opaque(compaction_trigger)",
		"USER opaque(additional_tools)",
		"USER opaque(mcp_approval_response)",
		"ASSISTANT call(call_p1 a )",
		"TOOL result call_p1",
		`ASSISTANT call(call_p2 b {"s":"\ud83d"})`,
		"TOOL result call_p2",
		"ASSISTANT call(call_p3 c {} \ufffd) call(call_p4 d {})",
		"TOOL result call_p4 opaque(output)",
		"TOOL result call_p3 text(alone)",
		"ASSISTANT call( e {})",
		"TOOL result ",
		"TOOL result  text(without a call)",
	}, outline(parsed.Messages))
}

func TestFindings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, raw string
		want      []dialect.Finding
	}{
		{
			"arguments that are no JSON", `[{"role":"user","content":"a"},{"type":"function_call","call_id":"1","name":"f","arguments":"{"}]`,
			[]dialect.Finding{{Rule: dialect.InputArgumentsNotJSON, Message: 1, Text: "the arguments of the call are no JSON; kept as they are"}},
		},
		{"a custom tool takes any text", `[{"type":"custom_tool_call","call_id":"1","name":"f","input":"{"}]`, nil},
		{
			"messages that say nothing", `[{"role":"user","content":""},{"role":"user","content":[]},{"role":"assistant","content":null},{"role":"user"}]`,
			[]dialect.Finding{
				{Rule: dialect.InputEmptyMessage, Message: 0, Text: "the message is empty; kept as it is"},
				{Rule: dialect.InputEmptyMessage, Message: 1, Text: "the message is empty; kept as it is"},
				{Rule: dialect.InputEmptyMessage, Message: 2, Text: "the message is empty; kept as it is"},
				{Rule: dialect.InputEmptyMessage, Message: 3, Text: "the message is empty; kept as it is"},
			},
		},
		{
			"instructions that say nothing", `{"instructions":"","input":"Hello"}`,
			[]dialect.Finding{{Rule: dialect.InputEmptyMessage, Text: "the instructions are empty; kept as they are"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, parse(t, test.raw).Findings)
			written(t, []byte(test.raw))
		})
	}
}
