package anthropic_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A list that needs no repair goes into the request unchanged.
func TestOwnListsGoIntoRequests(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{"system":"Be brief.","messages":[` + hi + `,` + hello + `,` + hi + `]}`,
		`{"system":[{"type":"text","text":"A","cache_control":{"type":"ephemeral"}}],"messages":[` + hi + `,` + use + `,` + done + `]}`,
		`{"messages":[` + hi + `,` + program + `,` + done + `]}`,
		`{"messages":[` + hi + `,{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"c2ln","x":1},
			{"type":"redacted_thinking","data":"eA=="},{"type":"text","text":" a ","citations":null},
			{"type":"tool_use","id":"t","name":"read","input":{"n":1.50},"caller":{"type":"direct"}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":false,"content":[{"type":"tool_reference","tool_name":"n"}]},
			{"type":"document","title":null,"source":{"type":"text","media_type":"text/plain","data":"a"},"citations":{"enabled":true}}]}]}`,
	} {
		r := request(t, parse(t, raw).Messages...)
		require.JSONEq(t, raw, list(r))
		require.Empty(t, r.Repairs)
		require.Empty(t, r.Dropped)
	}
}

// A message of role system of this dialect keeps its role where the provider accepts that.
func TestRequestKeepsSystemMessages(t *testing.T) {
	t.Parallel()
	const instruction = `{"role":"system","content":"Hurry","clear_at":"never"}`
	const said = `"[Instruction of the application, not of the user]\nHurry"`
	for _, c := range []struct{ name, raw, want string }{
		{"last", hi + `,` + instruction, hi + `,` + instruction},
		{"before the assistant", hi + `,` + instruction + `,` + hello + `,` + hi, hi + `,` + instruction + `,` + hello + `,` + hi},
		{"behind results", hi + `,` + use + `,` + done + `,` + instruction, hi + `,` + use + `,` + done + `,` + instruction},
		{"two", hi + `,` + instruction + `,` + instruction, hi + `,{"role":"system","content":[{"type":"text","text":"Hurry"},{"type":"text","text":"Hurry"}],"clear_at":"never"}`},
		{"before the user", hi + `,` + instruction + `,` + hi, `{"role":"user","content":[{"type":"text","text":"Hi"},{"type":"text","text":` + said + `},{"type":"text","text":"Hi"}]}`},
		{"behind the assistant", hi + `,` + hello + `,` + instruction, hi + `,` + hello + `,{"role":"user","content":` + said + `}`},
		{
			"with changes of the tools", hi + `,{"role":"system","content":[{"type":"tool_removal","tool":{}},{"type":"text","text":"a"},{"type":"hologram"}]}`,
			hi + `,{"role":"system","content":[{"type":"tool_removal","tool":{}},{"type":"text","text":"a"}]}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := request(t, parse(t, `[`+c.raw+`]`).Messages...)
			require.JSONEq(t, `{"messages":[`+c.want+`]}`, list(r))
		})
	}
	r := request(t, parse(t, `{"system":"A","messages":[`+instruction+`,`+hi+`]}`).Messages...)
	require.JSONEq(t, `{"system":[{"type":"text","text":"A"},{"type":"text","text":"Hurry"}],"messages":[`+hi+`]}`, list(r))
	require.Equal(t, []string{"anthropic.system-message-place"}, repairs(r))
}
