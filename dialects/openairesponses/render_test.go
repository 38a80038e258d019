package openairesponses_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/openairesponses"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const (
	anthropic = compactordv1.Dialect_DIALECT_ANTHROPIC
	gemini    = compactordv1.Dialect_DIALECT_GEMINI
)

// TestRequest renders messages of other dialects.
func TestRequest(t *testing.T) {
	t.Parallel()
	const output = `{"call_id":"c1","output":"ok","type":"function_call_output"}`
	for _, test := range []struct {
		name     string
		messages []*compactordv1.Message
		want     []string
		repairs  []string
		dropped  int
	}{
		{name: "no message"},
		{
			name: "texts", messages: []*compactordv1.Message{
				message(compactordv1.Role_ROLE_SYSTEM, text("Be kind.")), user(text("Hello"), text("again")),
				assistant(text("Hi"), text("there")), message(compactordv1.Role_ROLE_DEVELOPER, text("Be brief."), text("")),
				user(text(" ")),
			},
			want: []string{
				`{"content":"Be kind.","role":"system"}`,
				`{"content":[{"text":"Hello","type":"input_text"},{"text":"again","type":"input_text"}],"role":"user"}`,
				`{"content":"Hi","role":"assistant"}`, `{"content":"there","role":"assistant"}`,
				`{"content":"Be brief.","role":"developer"}`, `{"content":" ","role":"user"}`,
			},
		},
		{
			name: "messages that say nothing",
			messages: []*compactordv1.Message{
				message(compactordv1.Role_ROLE_SYSTEM, text("")), assistant(), assistant(text("")), user(), user(text("")),
			},
			want: []string{
				`{"content":"(empty message)","role":"user"}`, `{"content":"(empty message)","role":"user"}`,
			},
			repairs: []string{"content-not-empty", "content-not-empty", "content-not-empty", "content-not-empty", "content-not-empty"},
		},
		{
			name: "a refusal",
			messages: []*compactordv1.Message{assistant(&compactordv1.Part{
				Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: "No.", Refusal: true}},
			})},
			want: []string{`{"content":[{"refusal":"No.","type":"refusal"}],"role":"assistant"}`},
		},
		{
			name: "what belongs to other providers",
			messages: []*compactordv1.Message{
				user(text("Hello"), opaque(gemini, "x", "{}")),
				assistant(thinking("Hm.", &compactordv1.Attachment{Dialect: anthropic, Key: "signature", Json: `"c2ln"`}),
					opaque(anthropic, "server_tool_use", `{"type":"server_tool_use"}`), text("Hi")),
				result(&compactordv1.ToolResult{CallId: "c0", Parts: []*compactordv1.ResultPart{{
					Kind: &compactordv1.ResultPart_Opaque{Opaque: &compactordv1.OpaquePart{Dialect: anthropic, Json: "{}"}},
				}}}),
			}[:2],
			want:    []string{`{"content":"Hello","role":"user"}`, `{"content":"Hi","role":"assistant"}`},
			dropped: 3,
		},
		{
			name: "a call with an id, a name and arguments that are not taken",
			messages: []*compactordv1.Message{
				assistant(call("functions.read:0", "read file", "a.txt")), answer("functions.read:0", "ok"),
			},
			want: []string{
				`{"arguments":"{\"_raw\":\"a.txt\"}","call_id":"functions_read_0","name":"read_file","type":"function_call"}`,
				`{"call_id":"functions_read_0","output":"ok","type":"function_call_output"}`,
			},
			repairs: []string{"call-ids", "tool-names", "arguments-are-json"},
		},
		{
			name:     "a call without arguments",
			messages: []*compactordv1.Message{assistant(call("c1", "f", "")), answer("c1", "ok")},
			want:     []string{`{"arguments":"{}","call_id":"c1","name":"f","type":"function_call"}`, output},
		},
		{
			name: "an id that comes again",
			messages: []*compactordv1.Message{
				assistant(call("c1", "f", "{}")), answer("c1", "ok"), assistant(call("c1", "f", "{}")), answer("c1", "ok"),
			},
			want: []string{
				`{"arguments":"{}","call_id":"c1","name":"f","type":"function_call"}`, output,
				`{"arguments":"{}","call_id":"c1_2","name":"f","type":"function_call"}`,
				`{"call_id":"c1_2","output":"ok","type":"function_call_output"}`,
			},
			repairs: []string{"call-ids"},
		},
		{
			name: "a long id and a long name",
			messages: []*compactordv1.Message{
				assistant(call(strings.Repeat("i", 99), strings.Repeat("n", 99), "{}")), answer(strings.Repeat("i", 99), "ok"),
			},
			want: []string{
				`{"arguments":"{}","call_id":"` + strings.Repeat("i", 64) + `","name":"` + strings.Repeat("n", 64) + `","type":"function_call"}`,
				`{"call_id":"` + strings.Repeat("i", 64) + `","output":"ok","type":"function_call_output"}`,
			},
			repairs: []string{"call-ids", "tool-names"},
		},
		{
			name: "a message behind a call, and one before its result",
			messages: []*compactordv1.Message{
				assistant(call("c1", "f", "{}"), text("I look.")), user(text("Go on.")), answer("c1", "ok"),
			},
			want: []string{
				`{"content":"I look.","role":"assistant"}`, `{"arguments":"{}","call_id":"c1","name":"f","type":"function_call"}`, output,
				`{"content":"Go on.","role":"user"}`,
			},
			repairs: []string{"outputs-follow-calls", "outputs-follow-calls"},
		},
		{
			name: "a result that failed",
			messages: []*compactordv1.Message{
				assistant(call("c1", "f", "{}"), call("c2", "f", "{}")),
				result(&compactordv1.ToolResult{CallId: "c1", IsError: true, Parts: []*compactordv1.ResultPart{resultText("no file")}}),
				result(&compactordv1.ToolResult{CallId: "c2", IsError: true}),
			},
			want: []string{
				`{"arguments":"{}","call_id":"c1","name":"f","type":"function_call"}`,
				`{"arguments":"{}","call_id":"c2","name":"f","type":"function_call"}`,
				`{"call_id":"c1","output":"[The tool failed]\nno file","type":"function_call_output"}`,
				`{"call_id":"c2","output":"[The tool failed]","type":"function_call_output"}`,
			},
		},
		{
			name: "media of the user",
			messages: []*compactordv1.Message{user(
				media(&compactordv1.MediaPart{MimeType: "IMAGE/PNG; a=b", Source: data("abc")}),
				media(&compactordv1.MediaPart{MimeType: "application/pdf", Source: data("abc")}),
				media(&compactordv1.MediaPart{MimeType: "text/csv", Name: "a.csv", Source: data("abc")}),
				media(&compactordv1.MediaPart{MimeType: "image/*", Source: uri("data:image/gif;base64,AQ")}),
				media(&compactordv1.MediaPart{MimeType: "image/*", Source: uri("https://example.org/a.png")}),
				media(&compactordv1.MediaPart{MimeType: "application/pdf", Source: uri("https://example.org/a.pdf")}),
				media(&compactordv1.MediaPart{MimeType: "application/pdf", Owner: ours, Source: fileID("file-1")}),
			)},
			want: []string{`{"content":[{"image_url":"data:image/png;base64,YWJj","type":"input_image"},` +
				`{"file_data":"data:application/pdf;base64,YWJj","filename":"file.pdf","type":"input_file"},` +
				`{"file_data":"data:text/csv;base64,YWJj","filename":"a.csv","type":"input_file"},` +
				`{"image_url":"data:image/gif;base64,AQ==","type":"input_image"},` +
				`{"image_url":"https://example.org/a.png","type":"input_image"},` +
				`{"file_url":"https://example.org/a.pdf","type":"input_file"},` +
				`{"file_id":"file-1","type":"input_file"}],"role":"user"}`},
		},
		{
			name: "media that the provider does not take",
			messages: []*compactordv1.Message{
				user(
					media(&compactordv1.MediaPart{MimeType: "image/svg+xml", Name: "a.svg", Source: data("abc")}),
					media(&compactordv1.MediaPart{MimeType: "audio/wav", Source: data("abc")}),
					media(&compactordv1.MediaPart{MimeType: "video/mp4", Source: uri("https://example.org/a.mp4")}),
					media(&compactordv1.MediaPart{MimeType: "image/png", Source: uri("gs://a/a.png")}),
					media(&compactordv1.MediaPart{MimeType: "image/png", Source: fileID("file-1")}),
					media(&compactordv1.MediaPart{MimeType: "image/png", Owner: gemini, Source: uri("https://example.org/a")}),
					media(&compactordv1.MediaPart{MimeType: "image/png", Source: data("")}),
				),
				assistant(media(&compactordv1.MediaPart{MimeType: "image/png", Source: data("abc")})),
			},
			want: []string{
				`{"content":[{"text":"[Attached image/svg+xml: a.svg]","type":"input_text"},` +
					`{"text":"[Attached audio/wav: file]","type":"input_text"},{"text":"[Attached video/mp4: file]","type":"input_text"},` +
					`{"text":"[Attached image/png: file]","type":"input_text"},{"text":"[Attached image/png: file]","type":"input_text"},` +
					`{"text":"[Attached image/png: file]","type":"input_text"},{"text":"[Attached image/png: file]","type":"input_text"}],"role":"user"}`,
				`{"content":"[Attached image/png: file]","role":"assistant"}`,
			},
			dropped: 8,
		},
		{
			name: "a result with media",
			messages: []*compactordv1.Message{
				assistant(call("c1", "f", "{}")),
				result(&compactordv1.ToolResult{CallId: "c1", Parts: []*compactordv1.ResultPart{
					resultText("See:"), resultText(""),
					{Kind: &compactordv1.ResultPart_Media{Media: &compactordv1.MediaPart{MimeType: "image/png", Source: data("abc")}}},
				}}),
			},
			want: []string{
				`{"arguments":"{}","call_id":"c1","name":"f","type":"function_call"}`,
				`{"call_id":"c1","output":[{"text":"See:","type":"input_text"},{"image_url":"data:image/png;base64,YWJj","type":"input_image"}],"type":"function_call_output"}`,
			},
		},
		{
			name: "a result that holds an item",
			messages: []*compactordv1.Message{
				assistant(call("c1", "f", "{}")),
				result(&compactordv1.ToolResult{CallId: "c1", Parts: []*compactordv1.ResultPart{
					{Kind: &compactordv1.ResultPart_Opaque{Opaque: opaque(ours, "compaction", `{"type":"compaction","encrypted_content":"x"}`).GetOpaque()}},
					{Kind: &compactordv1.ResultPart_Opaque{Opaque: opaque(ours, "input_video", `{"type":"input_video"}`).GetOpaque()}},
				}}),
			},
			want: []string{
				`{"arguments":"{}","call_id":"c1","name":"f","type":"function_call"}`,
				`{"call_id":"c1","output":[{"type":"input_video"}],"type":"function_call_output"}`,
			},
			dropped: 1,
		},
		{
			name: "reasoning that nothing follows, and reasoning without id and content",
			messages: []*compactordv1.Message{
				assistant(thinking("Hm.", attachment("id", `"rs_1"`)), text("Hi"), thinking("Ah.", attachment("id", `"rs_2"`))),
				user(text("And?")),
				assistant(thinking("Oh.", attachment("content", "null")), text("So")),
				assistant(thinking("Ah.", attachment("id", `"rs_3"`), attachment("content", `["a"]`),
					attachment("encrypted_content", "1")), text("No")),
			},
			want: []string{
				`{"id":"rs_1","summary":[{"text":"Hm.","type":"summary_text"}],"type":"reasoning"}`,
				`{"content":"Hi","role":"assistant"}`, `{"content":"And?","role":"user"}`, `{"content":"So","role":"assistant"}`,
				`{"id":"rs_3","summary":[{"text":"Ah.","type":"summary_text"}],"type":"reasoning"}`,
				`{"content":"No","role":"assistant"}`,
			},
			dropped: 2,
		},
		{
			name: "reasoning that was appended before what follows it",
			messages: []*compactordv1.Message{
				assistant(thinking("Hm.", attachment("id", `"rs_1"`))),
				assistant(thinking("Ah.", attachment("id", `"rs_2"`))),
				assistant(text("So")),
			},
			want: []string{
				`{"id":"rs_1","summary":[{"text":"Hm.","type":"summary_text"}],"type":"reasoning"}`,
				`{"id":"rs_2","summary":[{"text":"Ah.","type":"summary_text"}],"type":"reasoning"}`,
				`{"content":"So","role":"assistant"}`,
			},
		},
		{
			name: "items that cannot stand by themselves",
			messages: []*compactordv1.Message{
				assistant(opaque(ours, "message", `{"type":"message","role":"assistant","content":[]}`), opaque(ours, "x", "{"),
					opaque(ours, "function_call", `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`),
					opaque(ours, "compaction", `{"type":"compaction"}`),
					opaque(ours, "something_new", `{"type":"something_new", "id":"n_1"}`),
					opaque(ours, "something_new", `{"type":"something_new","id":"n_1"}`)),
			},
			want:    []string{`{"id":"n_1","type":"something_new"}`},
			repairs: []string{"item-ids"},
			dropped: 5,
		},
		{
			name: "an id of a message of the user that becomes two items",
			messages: []*compactordv1.Message{{
				Role: compactordv1.Role_ROLE_USER, Attachments: []*compactordv1.Attachment{attachment("id", `"msg_1"`)},
				Parts: []*compactordv1.Part{text("a"), opaque(ours, "something_new", `{"type":"something_new"}`), text("b")},
			}},
			want: []string{
				`{"content":"a","id":"msg_1","role":"user"}`, `{"type":"something_new"}`, `{"content":"b","role":"user"}`,
			},
		},
		{
			name: "instructions that do not stand in front",
			messages: []*compactordv1.Message{user(text("a")), {
				Role: compactordv1.Role_ROLE_SYSTEM, Attachments: []*compactordv1.Attachment{attachment("$instructions", `""`)},
				Parts: []*compactordv1.Part{text("Be kind.")},
			}},
			want: []string{`{"content":"a","role":"user"}`, `{"content":"Be kind.","role":"system"}`},
		},
		{
			name: "items among the parts of the user",
			messages: []*compactordv1.Message{
				user(text("a"), opaque(ours, "compaction", `{"type":"compaction","encrypted_content":"x"}`), text("b")),
			},
			want: []string{
				`{"content":"a","role":"user"}`, `{"encrypted_content":"x","type":"compaction"}`, `{"content":"b","role":"user"}`,
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := rendered(t, test.messages)
			require.Equal(t, append([]string{}, test.want...), items(t, r.Messages))
			var repairs []string
			for _, repair := range r.Repairs {
				_, name, _ := strings.Cut(repair.Rule, ".")
				repairs = append(repairs, name)
			}
			require.Equal(t, test.repairs, repairs)
			require.Len(t, r.Dropped, test.dropped)
			require.Empty(t, r.System)
			require.False(t, r.DisableThinking)
		})
	}
}

func TestRenderCutsWhatIsTooLong(t *testing.T) {
	t.Parallel()
	r := rendered(t, []*compactordv1.Message{
		user(text(strings.Repeat("é", 10_485_761)), text("Hello")),
	})
	require.Len(t, r.Repairs, 1)
	require.Contains(t, string(r.Messages[0]), "characters left out")
	require.Contains(t, string(r.Messages[0]), "Hello")
}

func TestRequestTellsWhereElementsComeFrom(t *testing.T) {
	t.Parallel()
	r := rendered(t, []*compactordv1.Message{
		user(text("a")), assistant(text("b"), call("c1", "f", "{}")), message(compactordv1.Role_ROLE_SYSTEM, text("c")),
		answer("c1", "ok"),
	})
	require.Equal(t, []dialect.Span{{First: 0, End: 1}, {First: 1, End: 2}, {First: 1, End: 2}, {First: 3, End: 4}, {First: 2, End: 3}}, r.From)
}

// TestRenderUnanswered renders a list that no view has.
func TestRenderUnanswered(t *testing.T) {
	t.Parallel()
	r, err := openairesponses.New().Render([]*compactordv1.Message{
		answer("c0", "stray"), assistant(call("c1", "f", "{}")), user(text("a")),
	}, dialect.RenderOptions{})
	require.NoError(t, err)
	require.Len(t, r.Messages, 3)
}
