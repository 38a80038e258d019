package anthropic_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/wording"
)

const chat = compactordv1.Dialect_DIALECT_OPENAI_CHAT

func TestRequest(t *testing.T) {
	t.Parallel()
	developer := func(text string) *compactordv1.Message {
		return message(compactordv1.Role_ROLE_DEVELOPER, textPart(text))
	}
	for _, c := range []struct {
		name     string
		messages []*compactordv1.Message
		want     string
		// repairs are the ids of the rules, without the dialect's name.
		repairs []string
		dropped int
		merged  int
	}{
		{name: "nothing", want: `{"messages":[]}`},
		{
			name:     "the leading messages become the system prompt",
			messages: []*compactordv1.Message{system("A"), developer("B"), system(" "), user(textPart("Hi"))},
			want:     `{"system":[{"type":"text","text":"A"},{"type":"text","text":"B"}],"messages":[` + hiBlocks + `]}`,
			dropped:  1,
		},
		{
			name:     "a list without anything else",
			messages: []*compactordv1.Message{system("A")},
			want:     `{"system":[{"type":"text","text":"A"}],"messages":[]}`,
		},
		{
			name: "results of one batch and the words behind them are one message",
			messages: []*compactordv1.Message{
				user(textPart("Hi")), assistant(call("a", "n", "{}"), call("b", "n", "{}")), tool("b", resultText("2")),
				tool("a", resultText("1")), user(textPart("Go on")), user(textPart("please")),
			},
			want: `{"messages":[` + hiBlocks + `,` + calling("a", "b") + `,{"role":"user","content":[` +
				answer("b", "2") + `,` + answer("a", "1") + `,{"type":"text","text":"Go on"},{"type":"text","text":"please"}]}]}`,
			merged: 3,
		},
		{
			name:     "the user speaks first",
			messages: []*compactordv1.Message{assistant(textPart("Hello")), user(textPart("Hi"))},
			want: `{"messages":[{"role":"user","content":[{"type":"text","text":"` + wording.Opening + `"}]},
				{"role":"assistant","content":[{"type":"text","text":"Hello"}]},` + hiBlocks + `]}`,
			repairs: []string{"first-message-user"},
		},
		{
			name:     "empty messages",
			messages: []*compactordv1.Message{user(), assistant(), user(textPart(" ")), assistant(textPart("Hello")), user(textPart("\n"))},
			want: `{"messages":[{"role":"user","content":[{"type":"text","text":"` + wording.EmptyUser + `"}]},
				{"role":"assistant","content":[{"type":"text","text":"Hello"}]},
				{"role":"user","content":[{"type":"text","text":"` + wording.EmptyUser + `"}]}]}`,
			repairs: []string{"content-not-empty", "content-not-empty", "content-not-empty"},
			dropped: 2, merged: 1,
		},
		{
			name:     "an empty message behind results says nothing",
			messages: []*compactordv1.Message{user(textPart("Hi")), assistant(call("a", "n", "{}")), tool("a", resultText("1")), user()},
			want:     `{"messages":[` + hiBlocks + `,` + calling("a") + `,{"role":"user","content":[` + answer("a", "1") + `]}]}`,
			merged:   1,
		},
		{
			name:     "blank texts are left out beside others",
			messages: []*compactordv1.Message{user(textPart(""), textPart("Hi"), textPart("\u2003\n"))},
			want:     `{"messages":[` + hiBlocks + `]}`,
			dropped:  2,
		},
		{
			name: "ids, names and arguments that the provider does not take",
			messages: []*compactordv1.Message{
				user(textPart("Hi")),
				assistant(call("a b", "read file", "rm"), call("a_b", "n", "[1]"), call("", strings.Repeat("n", 200), "")),
				tool("a b", resultText("1")), tool("a_b", resultText("2")), tool("", resultText("3")),
			},
			want: `{"messages":[` + hiBlocks + `,{"role":"assistant","content":[
				{"type":"tool_use","id":"a_b","name":"read_file","input":{"_raw":"rm"}},
				{"type":"tool_use","id":"a_b_2","name":"n","input":{"_raw":"[1]"}},
				{"type":"tool_use","id":"call_1_2","name":"` + strings.Repeat("n", 128) + `","input":{}}]},
				{"role":"user","content":[` + answer("a_b", "1") + `,` + answer("a_b_2", "2") + `,` + answer("call_1_2", "3") + `]}]}`,
			repairs: []string{"call-ids", "tool-names", "input-object", "call-ids", "input-object", "call-ids", "tool-names"},
			merged:  2,
		},
		{
			name: "an id that comes again",
			messages: []*compactordv1.Message{
				user(textPart("Hi")), assistant(call("a", "n", "{}")), tool("a", resultText("1")),
				assistant(call("a", "n", "{}")), tool("a", resultText("2")),
			},
			want: `{"messages":[` + hiBlocks + `,` + calling("a") + `,{"role":"user","content":[` + answer("a", "1") + `]},` +
				calling("a_2") + `,{"role":"user","content":[` + answer("a_2", "2") + `]}]}`,
			repairs: []string{"call-ids"},
		},
		{
			name: "what stands between a call and its result",
			messages: []*compactordv1.Message{
				user(textPart("Hi")), assistant(call("a", "n", "{}"), call("b", "n", "{}")), tool("a", resultText("1")),
				developer("Hurry"), assistant(textPart("Still waiting")), user(textPart("What?")), tool("b", resultText("2")),
				assistant(textPart("Done")), user(textPart("Hi")),
			},
			want: `{"messages":[` + hiBlocks + `,{"role":"assistant","content":[
				{"type":"tool_use","id":"a","name":"n","input":{}},{"type":"tool_use","id":"b","name":"n","input":{}},
				{"type":"text","text":"Still waiting"}]},{"role":"user","content":[` + answer("a", "1") + `,` + answer("b", "2") + `,
				{"type":"text","text":"[Instruction of the application, not of the user]\nHurry"},{"type":"text","text":"What?"}]},
				{"role":"assistant","content":[{"type":"text","text":"Done"}]},` + hiBlocks + `]}`,
			repairs: []string{"system-message-place", "results-follow-calls", "results-first"},
			merged:  4,
		},
		{
			name: "instructions in mid-conversation",
			messages: []*compactordv1.Message{
				user(textPart("Hi")), developer("Hurry"), assistant(textPart("Hello")), system("Slow down"), system(""),
			},
			want: `{"messages":[{"role":"user","content":[{"type":"text","text":"Hi"},
				{"type":"text","text":"[Instruction of the application, not of the user]\nHurry"}]},
				{"role":"assistant","content":[{"type":"text","text":"Hello"}]},
				{"role":"user","content":[{"type":"text","text":"[Instruction of the application, not of the user]\nSlow down"}]}]}`,
			repairs: []string{"system-message-place", "system-message-place"},
			dropped: 1, merged: 1,
		},
		{
			name: "results that failed",
			messages: []*compactordv1.Message{
				user(textPart("Hi")), assistant(call("a", "n", "{}"), call("b", "n", "{}"), call("c", "n", "{}")),
				failed(tool("a", resultText(" "))), failed(tool("b", resultText("no"), resultMedia(media("image/png", []byte{1}, 0)))),
				tool("c", resultText("")),
			},
			want: `{"messages":[` + hiBlocks + `,` + calling("a", "b", "c") + `,{"role":"user","content":[
				{"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"text","text":"[The tool failed]"}]},
				{"type":"tool_result","tool_use_id":"b","is_error":true,"content":[{"type":"text","text":"no"},
					{"type":"text","text":"[Attached image/png: plan]"}]},
				{"type":"tool_result","tool_use_id":"c"}]}]}`,
			repairs: []string{"failed-results"},
			dropped: 3, merged: 2,
		},
		{
			name: "opaque parts",
			messages: []*compactordv1.Message{
				user(textPart("Hi"), opaque(chat, `{"type":"file"}`), opaque(kind, `{"type":"container_upload","file_id":"f"}`),
					opaque(kind, `{"type":"text","text":""}`), opaque(kind, `{"x":1}`), opaque(kind, `no`),
					opaque(kind, `{"type":"web_search_tool_result","tool_use_id":"s"}`),
					opaque(kind, `{"type":"image","source":{"type":"url","url":"x"}}`),
					opaque(kind, `{"type":"document","source":{"type":"content","content":"x"}}`)),
				assistant(opaque(kind, `{"type":"compaction","content":""}`), opaque(kind, `{"type":"document","source":{"type":"content","content":"x"}}`),
					opaque(kind, `{"type":"hologram","x": 1.0}`)),
				user(textPart("Hi")),
			},
			want: `{"messages":[{"role":"user","content":[{"type":"text","text":"Hi"},{"type":"container_upload","file_id":"f"},
				{"type":"document","source":{"type":"content","content":"x"}}]},
				{"role":"assistant","content":[{"type":"compaction","content":null},{"type":"hologram","x":1.0}]},` + hiBlocks + `]}`,
			repairs: []string{"compaction-content"},
			dropped: 7,
		},
		{
			name: "a compaction may stand first",
			messages: []*compactordv1.Message{
				assistant(opaque(kind, `{"type":"compaction","content":"a"}`), textPart("b")), user(textPart("Hi")),
			},
			want: `{"messages":[{"role":"assistant","content":[{"type":"compaction","content":"a"},{"type":"text","text":"b"}]},` + hiBlocks + `]}`,
		},
		{
			name:     "half a character",
			messages: []*compactordv1.Message{user(with(textPart("😀a\ufffd\\ud83d"), attachment("text", `"\ud83d\ude00a\ud83d\\ud83d"`)))},
			want:     `{"messages":[{"role":"user","content":[{"type":"text","text":"😀a\ufffd\\ud83d"}]}]}`,
			repairs:  []string{"whole-characters"},
		},
		{
			name: "a result holds no blocks of messages",
			messages: []*compactordv1.Message{
				user(textPart("Hi")), assistant(call("a", "n", "{}")), tool("a", resultText("1"), resultOpaque(`{"type":"compaction","content":"a"}`)),
			},
			want:    `{"messages":[` + hiBlocks + `,` + calling("a") + `,{"role":"user","content":[` + answer("a", "1") + `]}]}`,
			dropped: 1,
		},
		{
			name: "attachments cannot change whether a tool failed, or where a document comes from",
			messages: []*compactordv1.Message{
				user(with(mediaPart(media("text/plain", []byte("a"), 0)), attachment("$source.type", `"base64"`), attachment("$source.data", `"YQ=="`))),
				assistant(call("a", "n", "{}")), flagged(failed(tool("a", resultText("1"))), "false"),
			},
			want: `{"messages":[{"role":"user","content":[{"type":"document","title":"plan","source":{"type":"text","media_type":"text/plain","data":"a"}}]},` +
				calling("a") + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"text","text":"1"}]}]}]}`,
		},
		{
			name: "attachments cannot change what a block is",
			messages: []*compactordv1.Message{user(with(textPart("Hi"), attachment("type", `"image"`), attachment("text", `"Bye"`),
				attachment("cache_control", `7`), attachment("x", `1`)))},
			want: `{"messages":[{"role":"user","content":[{"type":"text","text":"Hi","x":1}]}]}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := request(t, c.messages...)
			require.JSONEq(t, c.want, list(r))
			var rules []string
			for _, rule := range repairs(r) {
				rules = append(rules, strings.TrimPrefix(rule, "anthropic."))
			}
			require.Equal(t, c.repairs, rules)
			require.Len(t, r.Dropped, c.dropped)
			require.Equal(t, c.merged, r.Merged)
			require.False(t, r.DisableThinking)
		})
	}
}

const hiBlocks = `{"role":"user","content":[{"type":"text","text":"Hi"}]}`

func calling(ids ...string) string {
	var blocks []string
	for _, id := range ids {
		blocks = append(blocks, `{"type":"tool_use","id":"`+id+`","name":"n","input":{}}`)
	}
	return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
}

func answer(id, text string) string {
	return `{"type":"tool_result","tool_use_id":"` + id + `","content":[{"type":"text","text":"` + text + `"}]}`
}

func resultOpaque(raw string) *compactordv1.ResultPart {
	return &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Opaque{Opaque: opaque(kind, raw).GetOpaque()}}
}

func flagged(m *compactordv1.Message, isError string) *compactordv1.Message {
	with(m.GetParts()[0], attachment("is_error", isError))
	return m
}

func TestRequestTellsWhereElementsComeFrom(t *testing.T) {
	t.Parallel()
	r := request(t, system("A"), assistant(call("a", "n", "{}"), call("b", "n", "{}")), tool("a"), tool("b"), user(textPart("Hi")), assistant(textPart("x")))
	require.Equal(t, []dialect.Span{{First: 1, End: 1}, {First: 1, End: 2}, {First: 2, End: 5}, {First: 5, End: 6}}, r.From)
}
