package extractive_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// corpusDir returns the folder of recorded conversations, or skips the test where there is none.
func corpusDir(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("COMPACTORD_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	if _, err := os.Stat(dir); err != nil {
		tb.Skipf("no corpus of recorded conversations: set COMPACTORD_CORPUS to its folder")
	}
	return dir
}

func corpusFiles(tb testing.TB) []string {
	tb.Helper()
	dir := corpusDir(tb)
	var files []string
	for _, pattern := range []string{"*.jsonl", filepath.Join("malformed", "*.jsonl")} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(tb, err)
		files = append(files, found...)
	}
	require.NotEmpty(tb, files, "the corpus holds no conversations")
	return files
}

// recorded is the part of a recorded line that the tests need.
type recorded struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Name      string          `json:"name"`
	IsError   bool            `json:"is_error"`
	CallID    string          `json:"tool_call_id"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// loadConversation reads a recorded conversation. It leaves out lines that are not messages.
func loadConversation(tb testing.TB, path string) (log []*compactordv1.LoggedMessage, size int64) {
	tb.Helper()
	f, err := os.Open(path)
	require.NoError(tb, err)
	defer func() { require.NoError(tb, f.Close()) }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var r recorded
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			continue
		}
		m := &compactordv1.Message{}
		text := contentText(r.Content)
		switch r.Role {
		case "system":
			m.Role = compactordv1.Role_ROLE_SYSTEM
		case "developer":
			m.Role = compactordv1.Role_ROLE_DEVELOPER
		case "user":
			m.Role = compactordv1.Role_ROLE_USER
			m.Origin = compactordv1.Origin_ORIGIN_IMPORT
		case "assistant":
			m.Role = compactordv1.Role_ROLE_ASSISTANT
		case "tool":
			m.Role = compactordv1.Role_ROLE_TOOL
			m.Parts = []*compactordv1.Part{resultPart(r.CallID, r.Name, text, r.IsError)}
			text = ""
		default:
			continue
		}
		if text != "" {
			m.Parts = append(m.Parts, textPart(text))
		}
		for _, c := range r.ToolCalls {
			m.Parts = append(m.Parts, callPart(c.ID, c.Function.Name, c.Function.Arguments))
		}
		log = append(log, &compactordv1.LoggedMessage{Index: uint32(len(log)), Message: m})
	}
	require.NoError(tb, lines.Err())
	for _, m := range log {
		size += int64(sizeOf(m))
	}
	return log, size
}

// splitLead splits off the leading SYSTEM and DEVELOPER messages, like a caller of summarizers.
func splitLead(log []*compactordv1.LoggedMessage) (lead, rest []*compactordv1.LoggedMessage) {
	i := 0
	for i < len(log) {
		role := log[i].GetMessage().GetRole()
		if role != compactordv1.Role_ROLE_SYSTEM && role != compactordv1.Role_ROLE_DEVELOPER {
			break
		}
		i++
	}
	return log[:i], log[i:]
}

func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var texts []string
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func textPart(text string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}}
}

func callPart(id, name, arguments string) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_ToolCall{ToolCall: &compactordv1.ToolCall{Id: id, Name: name, Arguments: arguments}}}
}

func resultPart(id, name, text string, failed bool) *compactordv1.Part {
	return &compactordv1.Part{Kind: &compactordv1.Part_ToolResult{ToolResult: &compactordv1.ToolResult{
		CallId: id, Name: name, IsError: failed,
		Parts: []*compactordv1.ResultPart{{Kind: &compactordv1.ResultPart_Text{Text: &compactordv1.TextPart{Text: text}}}},
	}}}
}

// sizeOf returns the bytes of text in a message.
func sizeOf(m *compactordv1.LoggedMessage) int {
	n := 0
	for _, p := range m.GetMessage().GetParts() {
		n += len(p.GetText().GetText()) + len(p.GetToolCall().GetArguments()) + len(p.GetToolCall().GetName())
		for _, rp := range p.GetToolResult().GetParts() {
			n += len(rp.GetText().GetText())
		}
	}
	return n
}

// chars4 is the default estimator of sessions.
func chars4(text string) uint32 {
	n := 0
	for _, r := range text {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return uint32((n + 3) / 4)
}

// listener records progress.
type listener struct {
	read  []uint32
	texts []string
}

func (l *listener) Read(tokens uint32) { l.read = append(l.read, tokens) }
func (l *listener) Text(delta string)  { l.texts = append(l.texts, delta) }
func (l *listener) Again()             { l.texts = nil }

// summarize writes a summary and checks what holds for all of them: no bug left something out, the streamed text is the
// returned text, and the budget is kept.
func summarize(tb testing.TB, req *summarizers.Request) string {
	tb.Helper()
	if req.Count == nil {
		req.Count = chars4
	}
	var l listener
	s, err := extractive.New().Summarize(tb.Context(), req, &l)
	require.NoError(tb, err)
	require.Empty(tb, s.Faults)
	require.Equal(tb, strings.Join(l.texts, ""), s.Text)
	require.LessOrEqual(tb, req.Count(s.Text), req.MaxTokens)
	return s.Text
}

// kinds are the kinds of texts about messages.
var kinds = []summarizers.Kind{summarizers.History, summarizers.TurnPrefix, summarizers.Range}
