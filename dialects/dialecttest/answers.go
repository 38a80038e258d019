package dialecttest

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// asked checks that the body of a request holds its list byte for byte, and that the list of a prompt has the prompt's
// texts.
func asked(t *rapid.T, d dialect.Dialect) {
	r, err := d.Render(history(t), dialect.RenderOptions{})
	require.NoError(t, err)
	opts := dialect.RequestOptions{Model: "model-1", MaxOutputTokens: uint32(dice(t, 5000)), Tools: raw(`[ {"name": "f"} ]`)}
	body := d.RequestBody(&r.List, opts)
	require.True(t, json.Valid(body), "%s", body)
	list, err := d.Split(body)
	require.NoError(t, err)
	require.Len(t, list.Messages, len(r.Messages))
	for i := range r.Messages {
		require.Equal(t, string(r.Messages[i]), string(list.Messages[i]))
	}
	require.Contains(t, string(body), `"tools":`+string(opts.Tools))

	said := []string{"Be short: " + rapid.String().Draw(t, "system"), "Sum up: " + rapid.String().Draw(t, "user")}
	messages := []*compactordv1.Message{textMessage(compactordv1.Role_ROLE_SYSTEM, said[0]), textMessage(compactordv1.Role_ROLE_USER, said[1])}
	before := clones(messages)
	list, err = d.Prompt(messages)
	require.NoError(t, err)
	require.True(t, proto.Equal(before[0], messages[0]) && proto.Equal(before[1], messages[1]), "the messages were changed")
	parsed, err := d.Parse(d.RequestBody(list, opts))
	require.NoError(t, err)
	require.Len(t, parsed.Messages, 2)
	for i, m := range parsed.Messages {
		require.Equal(t, messages[i].GetRole(), m.GetRole())
		require.Equal(t, said[i], textsIn(m))
	}
}

// answered checks that the AnswerReader returns the same as the parser, streamed or not.
func answered(t *rapid.T, d dialect.Dialect) {
	body, events := StreamOf(t, d.Kind())
	parsed, err := d.Parse(body)
	require.NoError(t, err)

	streamed := d.NewAnswer()
	var text strings.Builder
	for _, event := range events {
		piece, err := streamed.Event(event)
		require.NoError(t, err, "%s", event)
		text.WriteString(piece.Text)
		if piece.Last {
			break
		}
	}
	// Where a character is split, only the parser joins its halves. A reader that returns text as it comes does not have
	// the next half yet.
	halved := bytes.Contains(bytes.ToLower(rawjson.EncodeArray(events)), []byte(`\ud`))
	requireAnswer(t, parsed.Messages[0], streamed.Answer(), text.String(), halved, body)

	whole := d.NewAnswer()
	piece, ok := whole.Body(body)
	require.True(t, ok, "%s", body)
	requireAnswer(t, parsed.Messages[0], whole.Answer(), piece.Text, halved, body)

	_, ok = d.NewAnswer().Body(raw(`{"ok":true}`))
	require.False(t, ok)
}

func requireAnswer(t *rapid.T, m *compactordv1.Message, a *dialect.Answer, text string, halved bool, body json.RawMessage) {
	if !a.Refused && !halved {
		require.Equal(t, strings.ToValidUTF8(textsIn(m), "\ufffd"), text, "%s", body)
	}
	require.True(t, a.Complete, "%s", body)
	require.False(t, a.Failed, "%s", body)
	require.Equal(t, m.GetModel(), a.Model, "%s", body)
	if m.GetUsage() != nil {
		require.True(t, proto.Equal(m.GetUsage(), a.Usage), "%s\nwant %v\ngot  %v", body, m.GetUsage(), a.Usage)
	}
	require.Equal(t, m.GetStopReason() == compactordv1.StopReason_STOP_REASON_LENGTH, a.CutOff, "%s", body)
	if m.GetStopReason() == compactordv1.StopReason_STOP_REASON_REFUSAL {
		require.True(t, a.Refused, "%s", body)
	}
	for _, p := range m.GetParts() {
		if p.GetToolCall() != nil {
			require.True(t, a.ToolCall, "%s", body)
		}
	}
}

// textsIn returns all text of a message.
func textsIn(m *compactordv1.Message) string {
	var b strings.Builder
	for _, p := range m.GetParts() {
		b.WriteString(p.GetText().GetText())
	}
	return b.String()
}

func textMessage(role compactordv1.Role, text string) *compactordv1.Message {
	part := &compactordv1.Part{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}}
	return &compactordv1.Message{Role: role, Parts: []*compactordv1.Part{part}}
}
