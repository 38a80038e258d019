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

// Each message of the files is also parsed alone, and with white space around it.
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

// A log holds messages of several dialects. An export shows all of them.
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

// Redacted thinking has no text. Where the original had one anyway, rendering as written lost it.
func TestRedactedThinkingGivesBackAStrayText(t *testing.T) {
	const block = `{"type":"redacted_thinking","data":"Z2VoZWlt","thinking":"role"}`
	r := asWritten(t, parse(t, `[{"role":"assistant","content":[`+block+`]}]`).Messages)
	require.JSONEq(t, `{"role":"assistant","content":[`+block+`]}`, string(r.Messages[0]))
}
