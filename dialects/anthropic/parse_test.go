package anthropic_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestParseBlocks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, role, block string
		want              *compactordv1.Part
	}{
		{"text", "user", `{"type":"text","text":"a\u00e9"}`, textPart("aé")},
		{
			"text with its own fields", "assistant", `{"type":"text","text":"a","citations":[ ],"cache_control":null}`,
			with(textPart("a"), attachment("cache_control", "null"), attachment("citations", "[ ]")),
		},
		{
			"text that decoding damages", "user", `{"type":"text","text":"a\ud83d"}`,
			with(textPart("a\ufffd"), attachment("text", `"a\ud83d"`)),
		},
		{"thinking", "assistant", `{"type":"thinking","thinking":"Hm","signature":"c2ln"}`, signed("Hm")},
		{"thinking without text", "assistant", `{"type":"thinking","thinking":"","signature":"c2ln"}`, signed("")},
		{
			"redacted thinking", "assistant", `{"type":"redacted_thinking","data":"eA=="}`,
			&compactordv1.Part{
				Kind:        &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Redacted: true}},
				Attachments: []*compactordv1.Attachment{attachment("data", `"eA=="`)},
			},
		},
		{
			"call", "assistant", `{"type":"tool_use","id":"t","name":"read","input":{ "a" : 1e3 },"caller":{"type":"direct"}}`,
			with(call("t", "read", `{ "a" : 1e3 }`), attachment("caller", `{"type":"direct"}`)),
		},
		{
			"call without input", "assistant", `{"type":"tool_use","id":"t","name":"read"}`,
			with(call("t", "read", ""), attachment("input", "")),
		},
		{
			"call with null for its input", "assistant", `{"type":"tool_use","id":"t","name":"read","input":null}`,
			with(call("t", "read", ""), attachment("input", "null")),
		},
		{
			"image", "user", `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQID"}}`,
			mediaPart(&compactordv1.MediaPart{
				MimeType: "image/png", Source: &compactordv1.MediaPart_Data{Data: []byte{1, 2, 3}},
			}),
		},
		{
			"image by address", "user", `{"type":"image","source":{"type":"url","url":"https://example.com/a"}}`,
			mediaPart(&compactordv1.MediaPart{
				MimeType: "image/*", Source: &compactordv1.MediaPart_Uri{Uri: "https://example.com/a"},
			}),
		},
		{
			"image in base64 of another spelling", "user",
			`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"_-8"}}`,
			with(mediaPart(&compactordv1.MediaPart{
				MimeType: "image/png", Source: &compactordv1.MediaPart_Data{Data: []byte{0xff, 0xef}},
			}), attachment("$source.data", `"_-8"`)),
		},
		{
			"document", "user",
			`{"type":"document","title":"T","context":"C","source":{"type":"base64","media_type":"application/pdf","data":"AQID"}}`,
			with(mediaPart(&compactordv1.MediaPart{
				MimeType: "application/pdf", Name: "T", Source: &compactordv1.MediaPart_Data{Data: []byte{1, 2, 3}},
			}), attachment("context", `"C"`)),
		},
		{
			"document of text", "user", `{"type":"document","source":{"type":"text","media_type":"text/plain","data":"ab"}}`,
			mediaPart(&compactordv1.MediaPart{
				MimeType: "text/plain", Source: &compactordv1.MediaPart_Data{Data: []byte("ab")},
			}),
		},
		{
			"document by file id", "user", `{"type":"document","source":{"type":"file","file_id":"file_1"}}`,
			mediaPart(&compactordv1.MediaPart{
				MimeType: dialect.UnknownMime, Owner: kind, Source: &compactordv1.MediaPart_FileId{FileId: "file_1"},
			}),
		},
		{
			"document of blocks", "user", `{"type":"document","source":{"type":"content","content":"x"}}`,
			opaque(kind, `{"type":"document","source":{"type":"content","content":"x"}}`),
		},
		{
			"block of no known type", "user", `{"type":"hologram", "x" : 1.0 }`, opaque(kind, `{"type":"hologram", "x" : 1.0 }`),
		},
		{
			"server tool", "assistant", `{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`,
			opaque(kind, `{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`),
		},
		{
			"result", "user", `{"type":"tool_result","tool_use_id":"t","content":"ok","is_error":false}`,
			with(tool("t", resultText("ok")).GetParts()[0], attachment("is_error", "false"), attachment("$form", `"string"`)),
		},
		{
			"failed result", "user", `{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"no"}],"is_error":true}`,
			failed(tool("t", resultText("no"))).GetParts()[0],
		},
		{
			"result with all that it can hold", "user", `{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a","x":1},
				{"type":"image","source":{"type":"url","url":"https://example.com/a"}},{"type":"tool_reference","tool_name":"n"}]}`,
			tool("t",
				&compactordv1.ResultPart{
					Kind:        &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: "a"}},
					Attachments: []*compactordv1.Attachment{attachment("x", "1")},
				},
				&compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Media{Media: &compactordv1.MediaPart{
					MimeType: "image/*", Source: &compactordv1.MediaPart_Uri{Uri: "https://example.com/a"},
				}}},
				&compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Opaque{Opaque: &compactordv1.OpaquePart{
					Dialect: kind, Type: "tool_reference", Json: `{"type":"tool_reference","tool_name":"n"}`,
				}}},
			).GetParts()[0],
		},
		{
			"result without content", "user", `{"type":"tool_result","tool_use_id":"t"}`, tool("t").GetParts()[0],
		},
		{
			"empty result", "user", `{"type":"tool_result","tool_use_id":"t","content":""}`,
			with(tool("t").GetParts()[0], attachment("content", `""`)),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			parsed := parse(t, `{"role":"`+c.role+`","content":[`+c.block+`]}`)
			require.Len(t, parsed.Messages, 1)
			require.Len(t, parsed.Messages[0].GetParts(), 1)
			require.EqualExportedValues(t, c.want, parsed.Messages[0].GetParts()[0])
		})
	}
}

func with(p *compactordv1.Part, attachments ...*compactordv1.Attachment) *compactordv1.Part {
	p.Attachments = attachments
	return p
}

func TestParseMessages(t *testing.T) {
	t.Parallel()
	parsed := parse(t, `{"system":[{"type":"text","text":"A"},{"type":"text","text":"B"}],"messages":[
		{"role":"user","content":"Go"},
		{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"n","input":{}},{"type":"tool_use","id":"t2","name":"n","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2"},{"type":"tool_result","tool_use_id":"t1"},{"type":"text","text":"x"}],"mine":1},
		{"role":"system","content":"C"}]}`)
	var roles []string
	for _, m := range parsed.Messages {
		roles = append(roles, strings.TrimPrefix(m.GetRole().String(), "ROLE_"))
	}
	require.Equal(t, []string{"SYSTEM", "USER", "ASSISTANT", "TOOL", "TOOL", "USER", "SYSTEM"}, roles)
	require.Equal(t, []int{0, 0, 1, 2, 2, 2, 3}, parsed.Positions)
	require.Len(t, parsed.Messages[0].GetParts(), 2)
	require.Equal(t, "t2", parsed.Messages[3].GetParts()[0].GetToolResult().GetCallId())
	require.EqualExportedValues(t, []*compactordv1.Attachment{attachment("mine", "1")}, parsed.Messages[3].GetAttachments())
	require.Empty(t, parsed.Messages[5].GetAttachments())
	require.Empty(t, parsed.Findings)
}

func TestParseReportsWhatIsMalformed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, raw string
		want      []string
	}{
		{"no content", `[{"role":"user","content":"a"},{"role":"user","content":""},{"role":"assistant","content":[]}]`, []string{
			"1.0 input.empty-message", "2.0 input.empty-message",
		}},
		{"no content at all", `{"role":"user"}`, []string{"0.0 input.empty-message"}},
		{"input that is no object", `{"role":"assistant","content":[{"type":"text","text":"a"},
			{"type":"tool_use","id":"t","name":"n","input":"x"}]}`, []string{"0.1 input.arguments-not-json"}},
		{"results behind text", `[{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"t"},
			{"type":"tool_result","tool_use_id":"u"}]}]`, []string{"0.1 input.results-out-of-order"}},
		{"nothing", `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"},{"type":"text","text":""}]}]`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var found []string
			for _, f := range parse(t, c.raw).Findings {
				found = append(found, string(rune('0'+f.Message))+"."+string(rune('0'+f.Part))+" "+f.Rule)
			}
			require.Equal(t, c.want, found)
		})
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 600)
	for _, c := range []struct {
		name, raw, rule, field, says string
		message, part                int
	}{
		{"nothing", ``, dialect.InputShape, "", "breaks off", -1, 0},
		{"no JSON", `[{"role":}]`, dialect.InputShape, "", "goes wrong at byte", -1, 0},
		{"JSON that breaks off", `[{"role":"user"`, dialect.InputShape, "", "breaks off", -1, 0},
		{"no UTF-8", "[{\"role\":\"user\",\"content\":\"\xff\"}]", dialect.InputShape, "", "UTF-8", -1, 0},
		{"no list", `"Hello"`, dialect.InputShape, "", "must be a list", -1, 0},
		{"nothing that is known", `{"contents":[]}`, dialect.InputShape, "", "must be a list", -1, 0},
		{
			"the body of an error", `{"type":"error","error":{"type":"overloaded_error","message":"secret"}}`,
			dialect.InputShape, "error", "ClassifyError", -1, 0,
		},
		{"messages that are none", `{"messages":{}}`, dialect.InputShape, "messages", "must be an array", -1, 0},
		{"a system prompt that is none", `{"system":7,"messages":[]}`, dialect.InputShape, "system", "string or an array", -1, 0},
		{
			"an image in the system prompt", `{"system":[{"type":"text","text":"a"},{"type":"image"}],"messages":[]}`,
			dialect.InputShape, "system[1].type", "must be text", 0, 1,
		},
		{"a message that is none", `[{"role":"user","content":"a"},7]`, dialect.InputShape, "", "must be an object", 1, 0},
		{"no role", `[{"content":"a"}]`, dialect.InputShape, "role", "is missing", 0, 0},
		{"an unknown role", `[{"role":"tool","content":"a"}]`, dialect.InputShape, "role", "unknown role", 0, 0},
		{"content that is none", `[{"role":"user","content":7}]`, dialect.InputShape, "content", "string or an array", 0, 0},
		{"a block that is none", `[{"role":"user","content":[{"type":"text","text":"a"},"b"]}]`, dialect.InputShape, "content[1]", "must be an object", 0, 1},
		{"a block without a type", `[{"role":"user","content":[{"text":"a"}]}]`, dialect.InputShape, "content[0].type", "is missing", 0, 0},
		{"text that is none", `[{"role":"user","content":[{"type":"text","text":7}]}]`, dialect.InputShape, "content[0].text", "must be a string", 0, 0},
		{"no text", `[{"role":"user","content":[{"type":"text"}]}]`, dialect.InputShape, "content[0].text", "is missing", 0, 0},
		{
			"a call of the user", `[{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"t","name":"n","input":{}}]}]`,
			dialect.InputShape, "content[1].type", "only an assistant", 0, 1,
		},
		{"thinking of the user", `[{"role":"user","content":[{"type":"thinking","thinking":"a"}]}]`, dialect.InputShape, "content[0].type", "only an assistant", 0, 0},
		{
			"a result of the assistant", `[{"role":"assistant","content":[{"type":"tool_result","tool_use_id":"t"}]}]`,
			dialect.InputShape, "content[0].type", "only a user", 0, 0,
		},
		{"a call without a name", `[{"role":"assistant","content":[{"type":"tool_use","id":"t","input":{}}]}]`, dialect.InputShape, "content[0].name", "is missing", 0, 0},
		{
			"an overlong id", `[{"role":"assistant","content":[{"type":"tool_use","id":"` + long + `","name":"n","input":{}}]}]`,
			dialect.InputLimit, "content[0].id", "600 bytes", 0, 0,
		},
		{
			"an overlong name", `[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"` + long + `","input":{}}]}]`,
			dialect.InputLimit, "content[0].name", "600 bytes", 0, 0,
		},
		{"an overlong type", `[{"role":"assistant","content":[{"type":"` + long + `"}]}]`, dialect.InputLimit, "content[0].type", "600 bytes", 0, 0},
		{
			"a flag that is none", `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":"no"}]}]`,
			dialect.InputShape, "content[0].is_error", "must be a boolean", 0, 0,
		},
		{
			"a text within a result", `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text"}]}]}]`,
			dialect.InputShape, "content[0].content[0].text", "is missing", 0, 0,
		},
		{"an image without a source", `[{"role":"user","content":[{"type":"image"}]}]`, dialect.InputShape, "content[0].source", "is missing", 0, 0},
		{
			"an image in no base64", `[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"secret!"}}]}]`,
			dialect.InputShape, "content[0].source.data", "not valid base64", 0, 0,
		},
		{
			"an image without a type", `[{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"AQID"}}]}]`,
			dialect.InputShape, "content[0].source.media_type", "is missing", 0, 0,
		},
		{
			"an image from nowhere", `[{"role":"user","content":[{"type":"image","source":{"type":"url"}}]}]`,
			dialect.InputShape, "content[0].source.url", "is missing", 0, 0,
		},
		{
			"an overlong address", `[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"` + strings.Repeat(long, 20) + `"}}]}]`,
			dialect.InputLimit, "content[0].source.url", "12000 bytes", 0, 0,
		},
		{"a field that looks like a note", `[{"role":"user","content":"a","$form":"string"}]`, dialect.InputShape, "", "begins with $", 0, 0},
		{"a response of the user", `{"type":"message","role":"user","content":"a"}`, dialect.InputShape, "role", "must be assistant", 0, 0},
		{
			"usage that is none", `{"type":"message","role":"assistant","content":"a","usage":{"input_tokens":-1}}`,
			dialect.InputShape, "usage.input_tokens", "whole number", 0, 0,
		},
		{"too many fields", `[{"role":"user","content":[{"type":"text","text":"a"` + fields(65) + `}]}]`, dialect.InputLimit, "content[0]", "more than 64", 0, 0},
		{"too many fields and notes", `[{"role":"user","content":"a"` + fields(64) + `}]`, dialect.InputLimit, "", "more than 64", 0, 0},
		{"too many blocks of a result", `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[` +
			strings.TrimSuffix(strings.Repeat(`{"type":"text","text":""},`, 1001), ",") + `]}]}]`, dialect.InputLimit, "content[0].content", "more than 1000", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			refused, taken := dialecttest.Unreadable(t, anthropic.New(), []byte(c.raw))
			// A list is refused as a whole only where none of its messages can be read.
			require.Equal(t, c.message >= 0 && c.field != "role", taken)
			require.Equal(t, c.rule, refused.Rule)
			require.Equal(t, c.field, refused.Field)
			require.ErrorContains(t, refused, c.says)
			require.NotContains(t, refused.Error(), "secret")
			require.Equal(t, [2]int{c.message, c.part}, [2]int{refused.Message, refused.Part})
		})
	}
}

func fields(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"f` + strings.Repeat("x", i) + `":1`)
	}
	return b.String()
}
