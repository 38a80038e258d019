package anthropic_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/anthropic"
	"github.com/compactord/compactord/summarizers/internal/wire/wiretest"
	"github.com/compactord/compactord/summarizers/llm"
)

// member returns a member of an object, unchanged.
func member(t *testing.T, object, name string) string {
	t.Helper()
	var all map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(object), &all))
	return string(all[name])
}

const (
	closingBlock = `{"type":"text","text":"Sum up."}`
	closing      = `{"role":"user","content":[` + closingBlock + `]}`
	mark         = `"cache_control":{"type":"ephemeral"}`
)

func raws(texts ...string) []json.RawMessage {
	var all []json.RawMessage
	for _, s := range texts {
		all = append(all, json.RawMessage(s))
	}
	return all
}

func TestOnView(t *testing.T) {
	t.Parallel()
	const odd = `{ "role":"user", "content":"A <b> & c\u003e 日本 \u2028 " }`
	const called = `{"content":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"tool_use","id":"t","name":"f","input":{"b":1.0,"a":12345678901234567890}}],"role":"assistant"}`
	const marked = `{"type":"text","text":"x",` + mark + `}`
	for name, c := range map[string]struct {
		view summarizers.View
		want string
	}{
		"an assistant's last": {
			summarizers.View{Messages: raws(odd, `{"role":"assistant","content":[ {"type":"text","text":"<ok>"} ]}`)},
			`[` + odd + `,{"role":"assistant","content":[ {"type":"text","text":"<ok>",` + mark + `} ]},` + closing + `]`,
		},
		"an assistant's last as text": {
			summarizers.View{Messages: raws(odd, `{"role":"assistant","content":"<ok> \u003e"}`)},
			`[` + odd + `,{"role":"assistant","content":[{"type":"text","text":"<ok> \u003e",` + mark + `}]},` + closing + `]`,
		},
		"results last": {
			summarizers.View{Messages: raws(odd, called, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"1 < 2"} ]}`)},
			`[` + odd + `,` + called + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"1 < 2",` + mark + `} ,` + closingBlock + `]}]`,
		},
		"the user's text last": {
			summarizers.View{Messages: raws(odd)},
			`[{ "role":"user", "content":[{"type":"text","text":"A <b> & c\u003e 日本 \u2028 ",` + mark + `},` + closingBlock + `] }]`,
		},
		"marked already": {
			summarizers.View{Messages: raws(`{"role":"user","content":[{"type":"text","text":"y"},` + marked + `]}`)},
			`[{"role":"user","content":[{"type":"text","text":"y"},` + marked + `,` + closingBlock + `]}]`,
		},
		"marked by none": {
			summarizers.View{Messages: raws(`{"role":"user","content":[{"type":"text","text":"x","cache_control":null}]}`)},
			`[{"role":"user","content":[{"type":"text","text":"x",` + mark + `},` + closingBlock + `]}]`,
		},
		"three marks": {
			summarizers.View{
				System: raws(marked), Tools: json.RawMessage(`[{"name":"f",` + mark + `}]`),
				Messages: raws(`{"role":"user","content":[`+marked+`]}`, `{"role":"assistant","content":"ok"}`),
			},
			`[{"role":"user","content":[` + marked + `]},{"role":"assistant","content":[{"type":"text","text":"ok",` + mark + `}]},` + closing + `]`,
		},
		"four marks": {
			summarizers.View{
				System: raws(marked), Tools: json.RawMessage(`[{"name":"f",` + mark + `}]`),
				Messages: raws(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[`+marked+`]},`+marked+`]}`, `{"role":"assistant","content":"ok"}`),
			},
			`[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[` + marked + `]},` + marked + `]},{"role":"assistant","content":"ok"},` + closing + `]`,
		},
		"a mark that is an argument": {
			summarizers.View{Messages: raws(`{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"cache_control":{"a":[{"cache_control":{}}]}}}]}`)},
			`[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"cache_control":{"a":[{"cache_control":{}}]}},` + mark + `}]},` + closing + `]`,
		},
		"thinking last": {
			summarizers.View{Messages: raws(`{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"s"}]}`)},
			`[{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"s"}]},` + closing + `]`,
		},
		"an empty text last": {
			summarizers.View{Messages: raws(`{"role":"assistant","content":[{"type":"text","text":""}]}`)},
			`[{"role":"assistant","content":[{"type":"text","text":""}]},` + closing + `]`,
		},
		"nothing": {summarizers.View{}, `[` + closing + `]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, seen, err := ask(t, wiretest.Stream(whole), anthropic.Options{}, &llm.Completion{
				User: "Sum up.", View: &c.view, MaxOutputTokens: 9, Effort: "high",
			})
			require.NoError(t, err)
			wiretest.SameBytes(t, c.want, member(t, seen.Body, "messages"))
			wiretest.SameBytes(t, string(c.view.Tools), member(t, seen.Body, "tools"))
			if len(c.view.System) > 0 {
				wiretest.SameBytes(t, "["+marked+"]", member(t, seen.Body, "system"))
			}
			for _, absent := range []string{"tool_choice", "effort", "output_config", `"thinking":{`} {
				require.NotContains(t, seen.Body, absent)
			}
		})
	}
}

func TestOnMalformedView(t *testing.T) {
	t.Parallel()
	server := wiretest.Serve(t, wiretest.Stream(whole))
	p, err := anthropic.New(anthropic.Options{Model: "m", BaseURL: server.URL, HTTPClient: server.Client()})
	require.NoError(t, err)
	_, err = wiretest.Ask(t, p, &llm.Completion{User: "x", View: &summarizers.View{Messages: raws(`{"role":"user","content":7}`)}})
	var refused *summarizers.ProviderError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "request_not_sent", refused.Code)
	require.False(t, refused.Retryable)
	require.Empty(t, server.Seen())
}
