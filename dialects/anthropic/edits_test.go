package anthropic_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Exports and requests do not show what an edit replaced, even where the part keeps its attachments.
func TestEdits(t *testing.T) {
	t.Parallel()
	raw := `[{"role":"user","content":[{"type":"text","text":"Go."},
			{"type":"image","source":{"type":"base64","media_type":"image/png","data":"b2xk","x":"old"},"x":"old"}]},
		{"role":"assistant","content":[{"type":"thinking","thinking":"old\ud83d","signature":"c2ln"},{"type":"text","text":"Now."},
			{"type":"tool_use","id":"t1","name":"read","input":{"path":"old"}},{"type":"tool_use","id":"t2","name":"read"},
			{"type":"tool_use","id":"t3","name":"read","input":{"path":"old"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"old\ud83d","is_error":true},
			{"type":"tool_result","tool_use_id":"t2","content":"","is_error":false},
			{"type":"tool_result","tool_use_id":"t3","content":[{"type":"text","text":"old"},{"type":"hologram","x":"old"}]}]}]`
	messages := parse(t, raw).Messages
	for i, m := range messages {
		messages[i] = proto.CloneOf(m)
	}
	hide := func(p *compactordv1.Part) {
		p.GetToolResult().Parts = []*compactordv1.ResultPart{resultText("new")}
	}
	messages[0].Parts[1] = textPart("new")
	messages[1].Parts = messages[1].GetParts()[1:] // The thinking is dropped.
	messages[1].Parts[1].GetToolCall().Arguments = `{"path":"new"}`
	messages[1].Parts[2].GetToolCall().Arguments = `{"path":"new"}`
	messages[1].Parts[3].GetToolCall().Arguments = `{"pa...`
	for _, m := range messages[2:] {
		hide(m.GetParts()[0])
	}
	const user1 = `{"role":"user","content":[{"type":"text","text":"Go."},{"type":"text","text":"new"}]}`
	const results = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"new","is_error":true},
		{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"new"}],"is_error":false},
		{"type":"tool_result","tool_use_id":"t3","content":[{"type":"text","text":"new"}]}]}`
	const calls = `{"role":"assistant","content":[{"type":"text","text":"Now."},
		{"type":"tool_use","id":"t1","name":"read","input":{"path":"new"}},{"type":"tool_use","id":"t2","name":"read","input":{"path":"new"}},
		{"type":"tool_use","id":"t3","name":"read","input":{"_raw":"{\"pa..."}}]}`
	for _, opts := range []dialect.RenderOptions{{}, {AsWritten: true}} {
		r, err := anthropic.New().Render(messages, opts)
		require.NoError(t, err)
		require.JSONEq(t, `{"messages":[`+user1+`,`+calls+`,`+results+`]}`, list(r))
	}
}

// An edit can remove all content, and add content where there was none.
func TestEditsOfEmptyContent(t *testing.T) {
	t.Parallel()
	messages := parse(t, `[{"role":"user","content":null},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":null}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":null}]}]`).Messages
	messages[0].Parts = []*compactordv1.Part{textPart("new")}
	messages[1].Parts[0] = textPart("new") // The group is collapsed, its result with it.
	r := asWritten(t, messages[:2])
	require.JSONEq(t, `{"messages":[{"role":"user","content":[{"type":"text","text":"new"}]},
		{"role":"assistant","content":[{"type":"text","text":"new"}]}]}`, list(r))

	messages = parse(t, `[{"role":"user","content":"Go"},{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"c2ln"}]}]`).Messages
	messages[1].Parts = nil
	require.JSONEq(t, `{"messages":[{"role":"user","content":"Go"},{"role":"assistant","content":[]}]}`, list(asWritten(t, messages)))
	require.JSONEq(t, `{"messages":[{"role":"user","content":"Go"}]}`, list(request(t, messages...)))
}
