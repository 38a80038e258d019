package session_test

import (
	"bufio"
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
)

// corpusFiles returns the recorded conversations; the test is skipped where there are none.
func corpusFiles(t *testing.T) []string {
	t.Helper()
	dir := os.Getenv("COMPACTORD_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "corpus")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	require.NoError(t, err)
	malformed, err := filepath.Glob(filepath.Join(dir, "malformed", "*.jsonl"))
	require.NoError(t, err)
	files = append(files, malformed...)
	if len(files) == 0 {
		t.Skip("no recorded conversations: set COMPACTORD_CORPUS to their directory")
	}
	return files
}

// Recorded conversations, with compactions, edits, pins and reverts between their messages, have the model's views.
func TestCorpus(t *testing.T) {
	for _, file := range corpusFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			messages := readTranscript(t, file)
			seed := fnv.New64a()
			_, _ = seed.Write([]byte(filepath.Base(file)))
			random := rand.New(rand.NewPCG(seed.Sum64(), 1))
			w := sessiontest.NewWriter(&compactordv1.Policy{})
			every := max(1, len(messages)/3)
			for i, m := range messages {
				w.Append(m, nil)
				if random.IntN(max(6, len(messages)/12)) == 0 {
					writeSomeRecord(w, random)
				}
				if i%every == every-1 || i == len(messages)-1 {
					requireModel(t, w)
				}
			}
		})
	}
}

func requireModel(t *testing.T, w *sessiontest.Writer) {
	t.Helper()
	m, s := w.Model(), w.State()
	want, got := m.View(session.ViewOptions{}), s.View(session.ViewOptions{})
	sameView(t, want.Messages, got.Messages)
	sameMessage(t, want.Report, got.Report, "report")
	requirePaired(t, session.Awaited(w.Head), got.Messages)
	sameMessage(t, s.WithMetrics(), w.Head, "head")
	var places []uint32
	for _, pos := range s.CutPlaces() {
		places = append(places, s.Kept[pos].GetIndex())
	}
	require.Equal(t, m.CutPlaces(), places)
}

// writeSomeRecord writes a record that is valid here.
func writeSomeRecord(w *sessiontest.Writer, random *rand.Rand) {
	m := w.Model()
	some := m.Messages[random.IntN(len(m.Messages))]
	switch random.IntN(6) {
	case 0, 1:
		if places := m.CutPlaces(); len(places) > 0 {
			compact(w, places[random.IntN(len(places))], "What was said before.")
		}
	case 2, 3:
		var edits []*compactordv1.Edit
		for _, a := range m.Kept() {
			if a.Place == compactordv1.ResultPlace_RESULT_PLACE_ANSWER && !m.Pinned(a.Index) && random.IntN(2) == 0 {
				edits = append(edits, &compactordv1.Edit{
					Index: a.Index, Kind: compactordv1.EditKind_EDIT_KIND_HIDE_RESULT, Replacement: "[hidden]",
				})
			}
		}
		prune(w, edits...)
	case 4:
		pin(w, some.Index)
	default:
		revert(w, w.Log.Newest()-min(w.Log.Newest(), uint32(random.IntN(12))))
	}
}

// line is a message of the corpus, in the form of its index file.
type line struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Reasoning  string          `json:"reasoning_content"`
	ToolCallID string          `json:"tool_call_id"`
	Name       string          `json:"name"`
	IsError    bool            `json:"is_error"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	Usage *struct {
		Input      uint32 `json:"input_tokens"`
		Output     uint32 `json:"output_tokens"`
		CacheRead  uint32 `json:"cache_read_tokens"`
		CacheWrite uint32 `json:"cache_write_tokens"`
	} `json:"usage"`
}

func readTranscript(t *testing.T, file string) []*compactordv1.Message {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	var messages []*compactordv1.Message
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		var l line
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &l))
		if l.Role != "_compaction" {
			messages = append(messages, l.message())
		}
	}
	require.NoError(t, scanner.Err())
	return messages
}

func (l *line) message() *compactordv1.Message {
	switch l.Role {
	case "system":
		return message(compactordv1.Role_ROLE_SYSTEM, l.parts()...)
	case "tool":
		result := &compactordv1.ToolResult{CallId: l.ToolCallID, Name: l.Name, IsError: l.IsError}
		for _, p := range l.parts() {
			if media := p.GetMedia(); media != nil {
				result.Parts = append(result.Parts, resultPicture(media.GetName()))
			} else {
				result.Parts = append(result.Parts, resultText(p.GetText().GetText()))
			}
		}
		return message(compactordv1.Role_ROLE_TOOL, &compactordv1.Part{
			Kind: &compactordv1.Part_ToolResult{ToolResult: result},
		})
	case "assistant":
		m := assistant()
		if l.Reasoning != "" {
			m.Parts = append(m.Parts, thinking(l.Reasoning))
		}
		m.Parts = slices.Concat(m.GetParts(), l.parts())
		for _, c := range l.ToolCalls {
			m.Parts = append(m.Parts, calling(c.ID, c.Function.Name, c.Function.Arguments))
		}
		if u := l.Usage; u != nil {
			m.Usage = &compactordv1.Usage{
				InputTokens: u.Input, OutputTokens: u.Output, CacheReadTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite,
			}
		}
		return m
	default:
		return message(compactordv1.Role_ROLE_USER, l.parts()...)
	}
}

func (l *line) parts() []*compactordv1.Part {
	var text string
	if json.Unmarshal(l.Content, &text) == nil {
		if text == "" {
			return nil
		}
		return []*compactordv1.Part{session.TextPart(text)}
	}
	var pieces []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	var parts []*compactordv1.Part
	if json.Unmarshal(l.Content, &pieces) != nil {
		return nil
	}
	for _, p := range pieces {
		if p.Type == "text" {
			parts = append(parts, session.TextPart(p.Text))
		} else {
			parts = append(parts, pictured("picture.png"))
		}
	}
	return parts
}
