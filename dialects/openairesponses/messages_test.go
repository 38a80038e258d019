package openairesponses_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/internal/rawjson"
	"github.com/compactord/compactord/dialects/openairesponses"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

const ours = compactordv1.Dialect_DIALECT_OPENAI_RESPONSES

// outline describes each message in one line, without attachments.
func outline(messages []*compactordv1.Message) []string {
	lines := make([]string, len(messages))
	for i, m := range messages {
		lines[i] = strings.TrimPrefix(m.GetRole().String(), "ROLE_")
		for _, p := range m.GetParts() {
			lines[i] += " " + outlinePart(p)
		}
	}
	return lines
}

func outlinePart(p *compactordv1.Part) string {
	switch {
	case p.GetText().GetRefusal():
		return fmt.Sprintf("refusal(%s)", p.GetText().GetText())
	case p.GetText() != nil:
		return fmt.Sprintf("text(%s)", p.GetText().GetText())
	case p.GetThinking() != nil:
		return fmt.Sprintf("thinking(%s)", p.GetThinking().GetText())
	case p.GetToolCall() != nil:
		call := p.GetToolCall()
		return fmt.Sprintf("call(%s %s %s)", call.GetId(), call.GetName(), call.GetArguments())
	case p.GetMedia() != nil:
		return outlineMedia(p.GetMedia())
	case p.GetOpaque() != nil:
		return fmt.Sprintf("opaque(%s)", p.GetOpaque().GetType())
	}
	result := p.GetToolResult()
	said := []string{"result", result.GetCallId()}
	if result.GetIsError() {
		said = append(said, "failed")
	}
	for _, rp := range result.GetParts() {
		switch {
		case rp.GetText() != nil:
			said = append(said, fmt.Sprintf("text(%s)", rp.GetText().GetText()))
		case rp.GetMedia() != nil:
			said = append(said, outlineMedia(rp.GetMedia()))
		default:
			said = append(said, fmt.Sprintf("opaque(%s)", rp.GetOpaque().GetType()))
		}
	}
	return strings.Join(said, " ")
}

func outlineMedia(m *compactordv1.MediaPart) string {
	source := fmt.Sprintf("%d bytes", len(m.GetData()))
	if m.GetUri() != "" {
		source = m.GetUri()
	}
	if m.GetFileId() != "" {
		source = fmt.Sprintf("%s of %s", m.GetFileId(), m.GetOwner())
	}
	return strings.TrimSpace(fmt.Sprintf("media(%s %s) %s", m.GetMimeType(), source, m.GetName()))
}

func parse(t *testing.T, raw string) *dialect.Parsed {
	t.Helper()
	parsed, err := openairesponses.New().Parse([]byte(raw))
	require.NoError(t, err)
	return parsed
}

// written requires that what was parsed is exported unchanged.
func written(t *testing.T, raw []byte) {
	t.Helper()
	d := openairesponses.New()
	parsed, err := d.Parse(raw)
	require.NoError(t, err)
	want, err := d.Split(raw)
	require.NoError(t, err)
	have, err := d.Render(parsed.Messages, dialect.RenderOptions{AsWritten: true})
	require.NoError(t, err)
	require.Len(t, have.Messages, len(want.Messages))
	for i, item := range want.Messages {
		if !rawjson.Equal(item, have.Messages[i]) {
			require.Equal(t, string(item), string(have.Messages[i]), "item %d", i)
		}
	}
	require.True(t, rawjson.Equal(d.Document(want), d.Document(&have.List)), "the document is another")
	require.Empty(t, have.Repairs)
	require.Empty(t, have.Dropped)
}

// rendered renders messages for a request, and requires that the list is valid.
func rendered(t *testing.T, messages []*compactordv1.Message) *dialect.Rendered {
	t.Helper()
	d := openairesponses.New()
	r, err := d.Render(messages, dialect.RenderOptions{})
	require.NoError(t, err)
	mode := dialect.History
	if n := len(messages); n > 0 && (messages[n-1].GetRole() == compactordv1.Role_ROLE_USER ||
		messages[n-1].GetRole() == compactordv1.Role_ROLE_TOOL) {
		mode = dialect.Request
	}
	require.Empty(t, d.Validate(&r.List, mode), "%s", d.Document(&r.List))
	return r
}

// items returns the items of a list as indented JSON with sorted keys, for people.
func items(t *testing.T, list []json.RawMessage) []string {
	t.Helper()
	texts := make([]string, len(list))
	for i, item := range list {
		var value any
		require.NoError(t, json.Unmarshal(item, &value))
		sorted, err := json.Marshal(value)
		require.NoError(t, err)
		texts[i] = string(sorted)
	}
	return texts
}

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return raw
}

func message(role compactordv1.Role, parts ...*compactordv1.Part) *compactordv1.Message {
	return &compactordv1.Message{Role: role, Parts: parts}
}

func user(parts ...*compactordv1.Part) *compactordv1.Message {
	return message(compactordv1.Role_ROLE_USER, parts...)
}

func assistant(parts ...*compactordv1.Part) *compactordv1.Message {
	return message(compactordv1.Role_ROLE_ASSISTANT, parts...)
}

func text(text string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}}
}

func call(id, name, arguments string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{
		Id: id, Name: name, Arguments: arguments,
	}}}
}

func thinking(text string, attachments ...*compactordv1.Attachment) *compactordv1.Part {
	return &compactordv1.Part{
		Kind: &compactordv1.Part_Thinking{Thinking: &compactordv1.ThinkingPart{Text: text}}, Attachments: attachments,
	}
}

func media(m *compactordv1.MediaPart) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Media{Media: m}}
}

func opaque(d compactordv1.Dialect, typ, json string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Opaque{Opaque: &compactordv1.OpaquePart{
		Dialect: d, Type: typ, Json: json,
	}}}
}

func result(r *compactordv1.ToolResult) *compactordv1.Message {
	return message(compactordv1.Role_ROLE_TOOL, &compactordv1.Part{Kind: &compactordv1.Part_ToolResult{ToolResult: r}})
}

func answer(id, said string) *compactordv1.Message {
	return result(&compactordv1.ToolResult{CallId: id, Parts: []*compactordv1.ResultPart{resultText(said)}})
}

func resultText(said string) *compactordv1.ResultPart {
	return &compactordv1.ResultPart{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: said}}}
}

func attachment(key, json string) *compactordv1.Attachment {
	return &compactordv1.Attachment{Dialect: ours, Key: key, Json: json}
}

// spaced normalizes the spaces of a message's String, which are not stable.
func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// hide replaces a result by a text, as package session does. The attachments of the part stay.
func hide(m *compactordv1.Message) *compactordv1.Message {
	hidden := proto.CloneOf(m)
	hidden.GetParts()[0].GetToolResult().Parts = []*compactordv1.ResultPart{resultText("[hidden]")}
	return hidden
}

func withArguments(m *compactordv1.Message, part int, arguments string) *compactordv1.Message {
	edited := proto.CloneOf(m)
	edited.GetParts()[part].GetToolCall().Arguments = arguments
	return edited
}

func withPart(m *compactordv1.Message, at int, p *compactordv1.Part) *compactordv1.Message {
	edited := proto.CloneOf(m)
	edited.Parts[at] = p
	return edited
}

func withoutPart(m *compactordv1.Message, at int) *compactordv1.Message {
	edited := proto.CloneOf(m)
	edited.Parts = slices.Delete(edited.GetParts(), at, at+1)
	return edited
}

func data(content string) *compactordv1.MediaPart_Data {
	return &compactordv1.MediaPart_Data{Data: []byte(content)}
}

func uri(address string) *compactordv1.MediaPart_Uri {
	return &compactordv1.MediaPart_Uri{Uri: address}
}

func fileID(id string) *compactordv1.MediaPart_FileId {
	return &compactordv1.MediaPart_FileId{FileId: id}
}
