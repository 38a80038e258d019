package anthropic_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
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

func TestFindings(t *testing.T) {
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
