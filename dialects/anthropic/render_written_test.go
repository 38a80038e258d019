package anthropic_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestWrittenAsItWasParsed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"everything.json", "oddities.json"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := readFile(t, name)
			split, err := anthropic.New().Split(raw)
			require.NoError(t, err)
			r := asWritten(t, parse(t, string(raw)).Messages)
			dialecttest.RequireSame(t, anthropic.New(), split, &r.List)
			require.Empty(t, r.Repairs)
			require.Empty(t, r.Dropped)
			require.Zero(t, r.Merged)
		})
	}
}

// Each message of the files by itself, too, and with white space around.
func TestOneMessageIsWrittenAsItWasParsed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"everything.json", "oddities.json"} {
		split, err := anthropic.New().Split(readFile(t, name))
		require.NoError(t, err)
		for i, raw := range split.Messages {
			o, err := rawjson.ParseObject(raw)
			require.NoError(t, err)
			if o.Has("usage") {
				continue // That is a response.
			}
			r := asWritten(t, parse(t, " \n"+string(raw)+"\t").Messages)
			require.True(t, dialecttest.Equal([]json.RawMessage{raw}, r.Messages), "message %d of %s: %s", i, name, r.Messages)
		}
	}
}

func TestDocumentGivesBackTheSystemPromptAsItWas(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{"system":"Be brief.","messages":[]}`,
		`{"system":"","messages":[]}`,
		`{"system":"half \ud83d","messages":[]}`,
		`{"system":[{"type":"text","text":"Be brief."}],"messages":[]}`,
		`{"messages":[{"role":"user","content":"x"}]}`,
	} {
		r := asWritten(t, parse(t, raw).Messages)
		require.True(t, rawjson.Equal(json.RawMessage(raw), anthropic.New().Document(&r.List)), "%s became %s", raw, list(r))
	}
}

func TestResponseGivesItsMessage(t *testing.T) {
	t.Parallel()
	parsed := parse(t, string(readFile(t, "response.json")))
	require.True(t, parsed.Response)
	require.Len(t, parsed.Messages, 1)
	m := parsed.Messages[0]
	require.Equal(t, compactordv1.Role_ROLE_ASSISTANT, m.GetRole())
	require.Equal(t, "model-1", m.GetModel())
	require.Equal(t, compactordv1.StopReason_STOP_REASON_TOOL_USE, m.GetStopReason())
	require.Equal(t, []uint32{12, 7, 56, 34}, []uint32{
		m.GetUsage().GetInputTokens(), m.GetUsage().GetOutputTokens(),
		m.GetUsage().GetCacheReadTokens(), m.GetUsage().GetCacheWriteTokens(),
	})
	require.Empty(t, m.GetAttachments(), "the response's own fields must not get into a request")
	require.JSONEq(t, `{"role":"assistant","content":[
		{"type":"thinking","thinking":"Look first.","signature":"c2lnbmVk"},
		{"type":"text","text":"I look.","citations":null},
		{"type":"tool_use","id":"toolu_1","name":"look","input":{"n":1.50}}]}`,
		string(asWritten(t, parsed.Messages).Messages[0]))
}

func TestStopReasons(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]compactordv1.StopReason{
		`"end_turn"`:                      compactordv1.StopReason_STOP_REASON_END,
		`"max_tokens"`:                    compactordv1.StopReason_STOP_REASON_LENGTH,
		`"stop_sequence"`:                 compactordv1.StopReason_STOP_REASON_STOP_SEQUENCE,
		`"tool_use"`:                      compactordv1.StopReason_STOP_REASON_TOOL_USE,
		`"pause_turn"`:                    compactordv1.StopReason_STOP_REASON_PAUSE,
		`"refusal"`:                       compactordv1.StopReason_STOP_REASON_REFUSAL,
		`"model_context_window_exceeded"`: compactordv1.StopReason_STOP_REASON_LENGTH,
		`"something_new"`:                 compactordv1.StopReason_STOP_REASON_UNSPECIFIED,
		`null`:                            compactordv1.StopReason_STOP_REASON_UNSPECIFIED,
	} {
		parsed := parse(t, `{"type":"message","role":"assistant","content":"x","stop_reason":`+word+`}`)
		require.Equal(t, want, parsed.Messages[0].GetStopReason(), word)
	}
}

// Clients keep whole responses in their lists. What they tell is read, and comes back in an export, but no request holds it.
func TestResponseWithinAList(t *testing.T) {
	t.Parallel()
	raw := `[{"role":"user","content":"Hi"},{"id":"msg_1","type":"message","role":"assistant","model":"model-1","content":"Hello",
		"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}},{"role":"user","content":"Bye"}]`
	parsed := parse(t, raw)
	require.False(t, parsed.Response)
	require.Equal(t, "model-1", parsed.Messages[1].GetModel())
	require.EqualValues(t, 3, parsed.Messages[1].GetUsage().GetInputTokens())
	require.JSONEq(t, raw, string(rawjson.EncodeArray(asWritten(t, parsed.Messages).Messages)))

	r := request(t, parsed.Messages...)
	require.JSONEq(t, `{"role":"assistant","content":"Hello"}`, string(r.Messages[1]))
	require.Equal(t, []dialect.Repair{{
		Rule: "anthropic.message-fields", Message: 1, What: "fields that the provider does not take are left out",
	}}, r.Repairs)
}

// A log holds messages of several dialects. An export of it shows all, too.
func TestForeignPartsAreExportedAsText(t *testing.T) {
	t.Parallel()
	r := asWritten(t, []*compactordv1.Message{
		system("Be brief."),
		user(opaque(compactordv1.Dialect_DIALECT_GEMINI, `{"x":1}`)),
		message(compactordv1.Role_ROLE_DEVELOPER, textPart("Hurry.")),
		assistant(thinking("Hm."), call("a b", "n m", "no json"), opaque(kind, `nonsense`)),
		tool("a b", resultText("x")), user(textPart("y")),
	})
	require.JSONEq(t, `{"system":[{"type":"text","text":"Be brief."}],"messages":[
		{"role":"user","content":[{"type":"text","text":"{\"x\":1}"}]},
		{"role":"system","content":[{"type":"text","text":"Hurry."}]},
		{"role":"assistant","content":[{"type":"thinking","thinking":"Hm."},
			{"type":"tool_use","id":"a b","name":"n m","input":{"_raw":"no json"}},{"type":"text","text":"nonsense"}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a b","content":[{"type":"text","text":"x"}]},
			{"type":"text","text":"y"}]}]}`, list(r))
	require.Len(t, r.Dropped, 2)
	require.Equal(t, []dialect.Span{{First: 1, End: 2}, {First: 2, End: 3}, {First: 3, End: 4}, {First: 4, End: 6}}, r.From)
}

// Redacted thinking has no text. One that came with a text all the same gave it up when it was rendered as written.
func TestRedactedThinkingGivesBackAStrayText(t *testing.T) {
	const block = `{"type":"redacted_thinking","data":"Z2VoZWlt","thinking":"role"}`
	r := asWritten(t, parse(t, `[{"role":"assistant","content":[`+block+`]}]`).Messages)
	require.JSONEq(t, `{"role":"assistant","content":[`+block+`]}`, string(r.Messages[0]))
}
