package export_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/export"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

func TestLinesHoldOneMessageEach(t *testing.T) {
	d := anthropic.New()
	parsed, err := d.Parse([]byte(`{"system": "Be brief.", "messages": [
		{"role": "user", "content": "How many\nships?"},
		{"role": "assistant", "content": [{"type": "text", "text": "Nine.", "n": 1.50}]}
	]}`))
	require.NoError(t, err)
	rendered, err := d.Render(parsed.Messages, dialect.RenderOptions{AsWritten: true})
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, export.Lines(&b, d, &rendered.List))
	lines := strings.SplitAfter(b.String(), "\n")
	require.Len(t, lines, 4, "%q", b.String())
	require.JSONEq(t, `{"system":"Be brief.","messages":[]}`, lines[0])
	require.JSONEq(t, `{"role":"user","content":"How many\nships?"}`, lines[1])
	require.Contains(t, lines[2], "1.50")
	require.Empty(t, lines[3])
}

func part(kind any) *compactordv1.Part {
	switch k := kind.(type) {
	case *compactordv1.TextPart:
		return &compactordv1.Part{Kind: &compactordv1.Part_Text{Text: k}}
	case *compactordv1.ThinkingPart:
		return &compactordv1.Part{Kind: &compactordv1.Part_Thinking{Thinking: k}}
	case *compactordv1.ToolCall:
		return &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: k}}
	case *compactordv1.ToolResult:
		return &compactordv1.Part{Kind: &compactordv1.Part_ToolResult{ToolResult: k}}
	case *compactordv1.MediaPart:
		return &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: k}}
	case *compactordv1.OpaquePart:
		return &compactordv1.Part{Kind: &compactordv1.Part_Opaque{Opaque: k}}
	default:
		panic("no kind of part")
	}
}

func TestMarkdownIsForReading(t *testing.T) {
	image := &compactordv1.MediaPart{MimeType: "image/png", Name: "a.png"}
	messages := []export.Message{
		{Title: "#0", Message: &compactordv1.Message{
			Role: compactordv1.Role_ROLE_USER, Name: "ann\n# no heading",
			Parts: []*compactordv1.Part{part(&compactordv1.TextPart{Text: "How many?\n"}), part(image)},
		}},
		{Message: &compactordv1.Message{
			Role: compactordv1.Role_ROLE_ASSISTANT, Model: "m", StopReason: compactordv1.StopReason_STOP_REASON_ERROR,
			ErrorText: "overloaded",
			Parts: []*compactordv1.Part{
				part(&compactordv1.ThinkingPart{Text: "Count.\nThen say."}), part(&compactordv1.ThinkingPart{Redacted: true}),
				part(&compactordv1.ToolCall{Name: "count", Arguments: `{"pier":1}`}),
				part(&compactordv1.ToolCall{Name: "count", Arguments: "{oops"}),
				part(&compactordv1.OpaquePart{Type: "server_tool_use", Json: "{}"}),
			},
		}},
		{Title: "#2", Message: &compactordv1.Message{
			Role: compactordv1.Role_ROLE_TOOL, Parts: []*compactordv1.Part{part(&compactordv1.ToolResult{
				Name: "count", IsError: true, Parts: []*compactordv1.ResultPart{
					{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: "```\nfenced\n```"}}},
					{Kind: &compactordv1.ResultPart_Media{Media: image}},
					{Kind: &compactordv1.ResultPart_Opaque{Opaque: &compactordv1.OpaquePart{Json: `{"x":1}`}}},
				},
			})},
		}},
	}
	var b strings.Builder
	require.NoError(t, export.Markdown(&b, messages))
	require.Equal(t, strings.ReplaceAll(`## #0 user ann # no heading

How many?

[Attached image/png: a.png]

## assistant (m), ended in an error

> *Thinking:*
>
> Count.
> Then say.

> *Thinking that only the provider can read.*

Calls 'count':

'''json
{"pier":1}
'''

Calls 'count':

'''
{oops
'''

*An item of the provider: server_tool_use.*

The provider's error:

'''
overloaded
'''

## #2 tool

Error of 'count':

''''
'''
fenced
'''
''''

[Attached image/png: a.png]

'''json
{"x":1}
'''
`, "'", "`"), strings.ReplaceAll(b.String(), "provider's", "provider`s"))
}

// full is a writer without space.
type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestErrorsOfTheWriterAreReported(t *testing.T) {
	messages := []export.Message{{Message: &compactordv1.Message{Role: compactordv1.Role_ROLE_USER}}}
	require.ErrorIs(t, export.Markdown(full{}, messages), errFull)
	list := &dialect.List{Messages: []json.RawMessage{json.RawMessage(`{}`)}}
	require.ErrorIs(t, export.Lines(full{}, anthropic.New(), list), errFull)
}

// Texts of tools and web pages cannot control the terminal of who reads the export, wherever they stand.
func TestMarkdownControlsNoTerminal(t *testing.T) {
	const attack = "a\x1b]0;title\x07\x1b[2J\u009b1m\u202eb\r\nc\td\re"
	var b strings.Builder
	require.NoError(t, export.Markdown(&b, []export.Message{{Title: attack, Message: &compactordv1.Message{
		Role: compactordv1.Role_ROLE_TOOL, Name: attack, ErrorText: attack, Parts: []*compactordv1.Part{
			part(&compactordv1.TextPart{Text: attack}), part(&compactordv1.ThinkingPart{Text: attack}),
			part(&compactordv1.ToolCall{Name: attack, Arguments: attack, Id: attack}),
			part(&compactordv1.ToolResult{CallId: attack, Name: attack, Parts: []*compactordv1.ResultPart{
				{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: attack}}},
			}}),
			part(&compactordv1.MediaPart{Name: attack, MimeType: attack}), part(&compactordv1.OpaquePart{Type: attack, Json: attack}),
		},
	}}}))
	for _, r := range b.String() {
		require.False(t, r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e'), "%U in %q", r, b.String())
	}
	require.Contains(t, b.String(), "c\td\ufffde", "line breaks and tabs stay")
}
