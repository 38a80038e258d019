package anthropic_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const kind = compactordv1.Dialect_DIALECT_ANTHROPIC

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return raw
}

func parse(t testing.TB, raw string) *dialect.Parsed {
	t.Helper()
	parsed, err := anthropic.New().Parse([]byte(raw))
	require.NoError(t, err)
	for i, m := range parsed.Messages {
		require.NoError(t, protovalidate.Validate(m), "message %d", i)
	}
	return parsed
}

func asWritten(t testing.TB, messages []*compactordv1.Message) *dialect.Rendered {
	t.Helper()
	r, err := anthropic.New().Render(messages, dialect.RenderOptions{AsWritten: true})
	require.NoError(t, err)
	return r
}

// request renders messages for a request and requires that the list is valid.
func request(t testing.TB, messages ...*compactordv1.Message) *dialect.Rendered {
	t.Helper()
	return dialecttest.RequireRendered(t, anthropic.New(), messages)
}

// list returns a rendered list as one JSON document, to compare it.
func list(r *dialect.Rendered) string { return string(anthropic.New().Document(&r.List)) }

func message(role compactordv1.Role, parts ...*compactordv1.Part) *compactordv1.Message {
	return &compactordv1.Message{Role: role, Parts: parts}
}

func system(text string) *compactordv1.Message {
	return message(compactordv1.Role_ROLE_SYSTEM, textPart(text))
}

func user(parts ...*compactordv1.Part) *compactordv1.Message {
	return message(compactordv1.Role_ROLE_USER, parts...)
}

func assistant(parts ...*compactordv1.Part) *compactordv1.Message {
	return message(compactordv1.Role_ROLE_ASSISTANT, parts...)
}

func tool(id string, parts ...*compactordv1.ResultPart) *compactordv1.Message {
	return message(compactordv1.Role_ROLE_TOOL, &compactordv1.Part{Kind: &compactordv1.Part_ToolResult{
		ToolResult: &compactordv1.ToolResult{CallId: id, Parts: parts},
	}})
}

func failed(m *compactordv1.Message) *compactordv1.Message {
	m.GetParts()[0].GetToolResult().IsError = true
	return m
}

func textPart(text string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}}
}

func resultText(text string) *compactordv1.ResultPart {
	return &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: text}}}
}

func call(id, name, arguments string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{
		ToolCall: &compactordv1.ToolCall{Id: id, Name: name, Arguments: arguments},
	}}
}

func thinking(text string, attachments ...*compactordv1.Attachment) *compactordv1.Part {
	return &compactordv1.Part{
		Kind:        &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: text}},
		Attachments: attachments,
	}
}

// signed returns thinking that this provider signed.
func signed(text string) *compactordv1.Part { return thinking(text, attachment("signature", `"c2ln"`)) }

func attachment(key, value string) *compactordv1.Attachment {
	return &compactordv1.Attachment{Dialect: kind, Key: key, Json: value}
}

func media(mime string, source any, owner compactordv1.Dialect) *compactordv1.MediaPart {
	m := &compactordv1.MediaPart{MimeType: mime, Name: "plan", Owner: owner}
	switch s := source.(type) {
	case []byte:
		m.Source = &compactordv1.MediaPart_Data{Data: s}
	case string:
		m.Source = &compactordv1.MediaPart_Uri{Uri: s}
	case fileID:
		m.Source = &compactordv1.MediaPart_FileId{FileId: string(s)}
	}
	return m
}

type fileID string

func mediaPart(m *compactordv1.MediaPart) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: m}}
}

func opaque(d compactordv1.Dialect, raw string) *compactordv1.Part {
	var o struct{ Type string }
	_ = json.Unmarshal([]byte(raw), &o)
	return &compactordv1.Part{Kind: &compactordv1.Part_Opaque{
		Opaque: &compactordv1.OpaquePart{Dialect: d, Type: o.Type, Json: raw},
	}}
}

func repairs(r *dialect.Rendered) []string {
	var rules []string
	for _, repair := range r.Repairs {
		rules = append(rules, repair.Rule)
	}
	return rules
}

func with(p *compactordv1.Part, attachments ...*compactordv1.Attachment) *compactordv1.Part {
	p.Attachments = attachments
	return p
}
