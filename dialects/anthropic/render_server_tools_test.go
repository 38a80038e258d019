package anthropic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestServerTools(t *testing.T) {
	t.Parallel()
	const (
		search = `{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`
		found  = `{"type":"web_search_tool_result","tool_use_id":"s","content":[]}`
		ran    = `{"type":"code_execution_tool_result","tool_use_id":"s","content":{}}`
		text   = `{"type":"text","text":"Hello"}`
		own    = `{"type":"tool_use","id":"t","name":"n","input":{}}`
	)
	for _, c := range []struct {
		name, raw, want string
		dropped         int
	}{
		{"a pair", hi + `,` + says("assistant", search+`,`+found) + `,` + hi, hi + `,` + says("assistant", search+`,`+found) + `,` + hi, 0},
		{
			"a turn that was paused goes on", hi + `,` + says("assistant", text+`,`+search) + `,` + says("assistant", found+`,`+text) + `,` + hi,
			hi + `,` + says("assistant", text+`,`+search+`,`+found+`,`+text) + `,` + hi, 0,
		},
		{"a turn that is paused", hi + `,` + says("assistant", text+`,`+search), hi + `,` + says("assistant", text+`,`+search), 0},
		{"a turn that was paused and given up", hi + `,` + says("assistant", text+`,`+search) + `,` + hi, hi + `,` + says("assistant", text) + `,` + hi, 1},
		{"a result without its use", hi + `,` + says("assistant", found+`,`+text) + `,` + hi, hi + `,` + says("assistant", text) + `,` + hi, 1},
		{"a use that comes twice", hi + `,` + says("assistant", search+`,`+search+`,`+found) + `,` + hi, hi + `,` + says("assistant", search+`,`+found) + `,` + hi, 1},
		{"a use without an id", hi + `,` + says("assistant", `{"type":"server_tool_use"},`+text) + `,` + hi, hi + `,` + says("assistant", text) + `,` + hi, 1},
		{"a program waits", hi + `,` + program + `,` + done, hi + `,` + program + `,` + done, 0},
		{
			"a program has ended", hi + `,` + program + `,` + done + `,` + says("assistant", ran+`,`+text) + `,` + hi,
			hi + `,` + program + `,` + done + `,` + says("assistant", ran+`,`+text) + `,` + hi, 0,
		},
		{
			"the user speaks while a program waits", hi + `,` + program + `,` + done + `,` + hi,
			hi + `,` + says("assistant", own) + `,` + says("user", `{"type":"tool_result","tool_use_id":"t","content":"x"},{"type":"text","text":"Hi"}`), 1,
		},
		{
			"a program ends once", hi + `,` + program + `,` + done + `,` + says("assistant", ran+`,`+ran+`,`+text) + `,` + hi,
			hi + `,` + program + `,` + done + `,` + says("assistant", ran+`,`+text) + `,` + hi, 1,
		},
		{
			"the user speaks, and what was between is dropped", hi + `,` + program + `,` + done + `,` +
				says("assistant", `{"type":"x_tool_result","tool_use_id":"x"}`) + `,` + hi,
			hi + `,` + says("assistant", own) + `,` + says("user", `{"type":"tool_result","tool_use_id":"t","content":"x"},{"type":"text","text":"Hi"}`), 2,
		},
		{
			"thinking before a use that is dropped", hi + `,` + says("assistant", text+`,{"type":"thinking","thinking":"a","signature":"c"},`+search) + `,` + hi,
			hi + `,` + says("assistant", text) + `,` + hi, 2,
		},
		{
			"a program that is not there", hi + `,` + says("assistant", own[:len(own)-1]+`,"caller":{"type":"c","tool_id":"gone"}}`) + `,` + done,
			hi + `,` + says("assistant", own) + `,` + done, 0,
		},
		{
			"a program that has ended does not call", hi + `,` + says("assistant", search+`,`+ran+`,`+own[:len(own)-1]+`,"caller":{"type":"c","tool_id":"s"}}`) + `,` + done,
			hi + `,` + says("assistant", search+`,`+ran+`,`+own) + `,` + done, 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := request(t, parse(t, `[`+c.raw+`]`).Messages...)
			require.JSONEq(t, `{"messages":[`+c.want+`]}`, list(r))
			require.Len(t, r.Dropped, c.dropped)
		})
	}
}

// The stop reason says whether a turn can go on. Where it is unknown, a turn with nothing but server tools is left out.
func TestPausedTurns(t *testing.T) {
	t.Parallel()
	search := opaque(kind, `{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`)
	for _, c := range []struct {
		stop   compactordv1.StopReason
		parts  []*compactordv1.Part
		blocks int
	}{
		{compactordv1.StopReason_STOP_REASON_PAUSE, []*compactordv1.Part{search}, 1},
		{compactordv1.StopReason_STOP_REASON_PAUSE, []*compactordv1.Part{textPart("a"), search}, 2},
		{compactordv1.StopReason_STOP_REASON_UNSPECIFIED, []*compactordv1.Part{textPart("a"), search}, 2},
		{compactordv1.StopReason_STOP_REASON_UNSPECIFIED, []*compactordv1.Part{search}, 0},
		{compactordv1.StopReason_STOP_REASON_END, []*compactordv1.Part{textPart("a"), search}, 1},
	} {
		m := assistant(c.parts...)
		m.StopReason = c.stop
		r := request(t, user(textPart("Hi")), m)
		if c.blocks == 0 {
			require.Len(t, r.Messages, 1)
			continue
		}
		require.Len(t, parse(t, string(r.Messages[1])).Messages[0].GetParts(), c.blocks)
	}
}
