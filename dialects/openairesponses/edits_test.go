package openairesponses_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/openairesponses"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// TestEdits checks that an edited part never shows its old content, neither in a request nor as written.
func TestEdits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, raw string
		edit      func([]*compactordv1.Message)
		want      []string
	}{
		{
			"a hidden text", `[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"secret \ud83d","status":"completed"}]`,
			func(m []*compactordv1.Message) { m[1] = hide(m[1]) },
			[]string{
				`{"arguments":"{}","call_id":"c1","name":"f","type":"function_call"}`,
				`{"call_id":"c1","output":"[hidden]","status":"completed","type":"function_call_output"}`,
			},
		},
		{
			"a hidden list", `[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"secret"}]}]`,
			func(m []*compactordv1.Message) { m[1] = hide(m[1]) },
			[]string{
				`{"arguments":"{}","call_id":"c1","name":"f","type":"function_call"}`,
				`{"call_id":"c1","output":[{"text":"[hidden]","type":"input_text"}],"type":"function_call_output"}`,
			},
		},
		{
			"a hidden output of another form", `[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":{"secret":1}}]`,
			func(m []*compactordv1.Message) { m[1] = hide(m[1]) },
			[]string{
				`{"arguments":"{}","call_id":"c1","name":"f","type":"function_call"}`,
				`{"call_id":"c1","output":"[hidden]","type":"function_call_output"}`,
			},
		},
		{
			"an output that was null", `[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":null}]`,
			func(m []*compactordv1.Message) { m[1] = hide(m[1]) },
			[]string{
				`{"arguments":"{}","call_id":"c1","name":"f","type":"function_call"}`,
				`{"call_id":"c1","output":"[hidden]","type":"function_call_output"}`,
			},
		},
		{
			"shorter arguments", `[{"type":"function_call","call_id":"c1","id":"fc_1","name":"f","arguments":"{\"secret\":\"\ud83d\"}"},{"type":"function_call_output","call_id":"c1","output":"a"}]`,
			func(m []*compactordv1.Message) { m[0] = withArguments(m[0], 0, `{"short":1}`) },
			[]string{
				`{"arguments":"{\"short\":1}","call_id":"c1","id":"fc_1","name":"f","type":"function_call"}`,
				`{"call_id":"c1","output":"a","type":"function_call_output"}`,
			},
		},
		{
			"a shorter input of a custom tool", `[{"type":"custom_tool_call","call_id":"c1","name":"f","input":"secret \ud83d"},{"type":"custom_tool_call_output","call_id":"c1","output":"secret"}]`,
			func(m []*compactordv1.Message) { m[0], m[1] = withArguments(m[0], 0, "short"), hide(m[1]) },
			[]string{
				`{"call_id":"c1","input":"short","name":"f","type":"custom_tool_call"}`,
				`{"call_id":"c1","output":"[hidden]","type":"custom_tool_call_output"}`,
			},
		},
		{
			"an image in the place of which a text stands", `[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AQI","detail":"low"}]}]`,
			func(m []*compactordv1.Message) { m[0] = withPart(m[0], 0, text("[an image]")) },
			[]string{`{"content":"[an image]","role":"user"}`},
		},
		{
			"a hidden patch", `[{"type":"apply_patch_call","call_id":"c1","status":"completed","operation":{"type":"delete_file","path":"a"}},{"type":"apply_patch_call_output","call_id":"c1","status":"failed","output":"secret"}]`,
			func(m []*compactordv1.Message) { m[1] = hide(m[1]) },
			[]string{
				`{"call_id":"c1","operation":{"path":"a","type":"delete_file"},"status":"completed","type":"apply_patch_call"}`,
				`{"call_id":"c1","output":"[hidden]","status":"failed","type":"apply_patch_call_output"}`,
			},
		},
		{
			"a denial keeps being one", `[{"type":"mcp_approval_request","id":"mcpr_1","name":"f","arguments":"{}","server_label":"s"},{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":false,"reason":"secret"}]`,
			func(m []*compactordv1.Message) { m[1] = hide(m[1]) },
			[]string{
				`{"arguments":"{}","id":"mcpr_1","name":"f","server_label":"s","type":"mcp_approval_request"}`,
				`{"approval_request_id":"mcpr_1","approve":false,"reason":"[hidden]","type":"mcp_approval_response"}`,
			},
		},
		{
			"a content that was null", `[{"role":"user","content":null}]`,
			func(m []*compactordv1.Message) { m[0].Parts = []*compactordv1.Part{text("a")} },
			[]string{`{"content":"a","role":"user"}`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			messages := parse(t, test.raw).Messages
			test.edit(messages)
			require.Equal(t, test.want, items(t, rendered(t, messages).Messages))
			asWritten, err := openairesponses.New().Render(messages, dialect.RenderOptions{AsWritten: true})
			require.NoError(t, err)
			require.Equal(t, test.want, items(t, asWritten.Messages))
		})
	}
}

// TestEditsOfToolsOfTheProvider checks calls of the provider's tools whose form an edit broke. A request holds function
// calls instead, and nothing of the old content.
func TestEditsOfToolsOfTheProvider(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, raw string
		edit      func([]*compactordv1.Message)
		want      []string
	}{
		{
			"a hidden screen", `[{"type":"computer_call","id":"cu_1","call_id":"c1","action":{"type":"wait"},"status":"completed"},
			  {"type":"computer_call_output","call_id":"c1","output":{"type":"computer_screenshot","image_url":"data:image/png;base64,AQID"}}]`,
			func(m []*compactordv1.Message) { m[1] = hide(m[1]) },
			[]string{
				`{"arguments":"{\"type\":\"wait\"}","call_id":"c1","name":"computer","type":"function_call"}`,
				`{"call_id":"c1","output":"[hidden]","type":"function_call_output"}`,
			},
		},
		{
			"a hidden shell", `[{"type":"shell_call","id":"sh_1","call_id":"c1","action":{"commands":["ls"]}},
			  {"type":"shell_call_output","call_id":"c1","output":[{"stdout":"secret","stderr":"secret","outcome":{"type":"exit","exit_code":0}}],"max_output_length":100}]`,
			func(m []*compactordv1.Message) { m[1] = hide(m[1]) },
			[]string{
				`{"arguments":"{\"commands\":[\"ls\"]}","call_id":"c1","name":"shell","type":"function_call"}`,
				`{"call_id":"c1","output":"[hidden]","type":"function_call_output"}`,
			},
		},
		{
			"shorter arguments", `[{"type":"local_shell_call","id":"l_1","call_id":"c1","action":{"type":"exec","command":["secret"],"env":{}},"status":"completed"},
			  {"type":"local_shell_call_output","id":"c1","output":"a"}]`,
			func(m []*compactordv1.Message) { m[0] = withArguments(m[0], 0, `{"short":1}`) },
			[]string{
				`{"arguments":"{\"short\":1}","call_id":"c1","name":"local_shell","type":"function_call"}`,
				`{"call_id":"c1","output":"a","type":"function_call_output"}`,
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			messages := parse(t, test.raw).Messages
			test.edit(messages)
			r := rendered(t, messages)
			require.Equal(t, test.want, items(t, r.Messages))
			require.Len(t, r.Repairs, 1)
			asWritten, err := openairesponses.New().Render(messages, dialect.RenderOptions{AsWritten: true})
			require.NoError(t, err)
			for _, item := range items(t, asWritten.Messages) {
				require.NotContains(t, item, "secret")
				require.NotContains(t, item, "AQID")
			}
		})
	}
}

const reasoned = `[{"role":"user","content":"a"},
	{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"},
	{"type":"reasoning","id":"rs_2","summary":[]},
	{"type":"message","role":"assistant","id":"msg_1","status":"completed","content":[{"type":"output_text","text":"b"}]},
	{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{}"},
	{"type":"function_call_output","call_id":"c1","output":"c"}]`
