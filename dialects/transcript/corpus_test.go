package transcript_test

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// corpus returns the folder of recorded transcripts, which is not part of the repository.
func corpus(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("COMPACTORD_CORPUS"); dir != "" {
		require.DirExists(t, dir, "COMPACTORD_CORPUS")
		return dir
	}
	root, err := filepath.Abs(".")
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		require.NotEqual(t, root, filepath.Dir(root), "go.mod not found")
		root = filepath.Dir(root)
	}
	dir := filepath.Join(root, "..", "shared", "corpus")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the corpus of recorded transcripts is not here; set COMPACTORD_CORPUS to its folder")
	}
	return dir
}

// listing is the entry of a file in the corpus's index.
type listing struct {
	messages, calls, compactions int
}

var indexRow = regexp.MustCompile(`(?m)^\| ([^ |]+\.jsonl) \| [^|]+ \| [^|]+ \| ([\d,]+) \| ([\d,]+) \| [\d,]+ \| [\d,]+ \| [^|]+ \| [^|]+ \| ([\d,-]+) \|`)

func readIndex(t *testing.T, dir string) map[string]listing {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "INDEX.md"))
	require.NoError(t, err)
	number := func(s string) int {
		if s == "-" {
			return 0
		}
		n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
		require.NoError(t, err)
		return n
	}
	index := make(map[string]listing)
	for _, row := range indexRow.FindAllStringSubmatch(string(text), -1) {
		index[row[1]] = listing{messages: number(row[2]), calls: number(row[3]), compactions: number(row[4])}
	}
	require.NotEmpty(t, index)
	return index
}

func openFile(t *testing.T, path string) *transcript.Reader {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	r, err := transcript.Open(f)
	require.NoError(t, err)
	return r
}

func countCalls(messages []*compactordv1.Message) int {
	n := 0
	for _, m := range messages {
		for _, p := range m.GetParts() {
			if p.GetToolCall() != nil {
				n++
			}
		}
	}
	return n
}

func TestCorpusIsReadWhole(t *testing.T) {
	t.Parallel()
	dir := corpus(t)
	index := readIndex(t, dir)
	for _, name := range slices.Sorted(maps.Keys(index)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := index[name]
			r := openFile(t, filepath.Join(dir, name))
			require.Equal(t, transcript.OpenAIChat, r.Format())
			messages, err := r.ReadAll()
			require.NoError(t, err)
			// The index counts the compaction records, too.
			require.Equal(t, want.messages-want.compactions, len(messages))
			require.Equal(t, want.calls, countCalls(messages))
			for _, m := range messages {
				require.NoError(t, protovalidate.Validate(m))
			}
			left := 0
			for _, n := range r.Notes() {
				require.Regexp(t, "_compaction record|compaction without a summary", n.Text)
				left += n.Count
			}
			lines := readLines(t, filepath.Join(dir, name))
			require.Equal(t, want.compactions, left+len(r.Records()))
			requireSameCompactions(t, lines, r.Records())
			require.Equal(t, want.messages, len(lines))
			for _, m := range messages {
				requireSameContent(t, lines[m.GetSourcePosition()], m)
			}
		})
	}
}

func TestIndexListsEveryFileOfTheCorpus(t *testing.T) {
	t.Parallel()
	dir := corpus(t)
	index := readIndex(t, dir)
	for _, pattern := range []string{"*.jsonl", "malformed/*.jsonl"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		for _, path := range paths {
			name, err := filepath.Rel(dir, path)
			require.NoError(t, err)
			require.Contains(t, index, filepath.ToSlash(name))
		}
	}
}

func readLines(t *testing.T, path string) []map[string]any {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	var lines []map[string]any
	for in.Scan() {
		var line map[string]any
		require.NoError(t, json.Unmarshal(in.Bytes(), &line))
		lines = append(lines, line)
	}
	require.NoError(t, in.Err())
	return lines
}

// requireSameContent compares a message with its line, which is read in another way.
func requireSameContent(t *testing.T, line map[string]any, m *compactordv1.Message) {
	t.Helper()
	role, _ := line["role"].(string)
	require.Equal(t, "ROLE_"+strings.ToUpper(role), m.GetRole().String())
	if text, ok := line["content"].(string); ok {
		require.Equal(t, text, textOf(m))
	}
	thinking, _ := line["reasoning_content"].(string)
	require.Equal(t, thinking, thinkingOf(m))
	var calls []any
	for _, p := range m.GetParts() {
		if c := p.GetToolCall(); c != nil {
			calls = append(calls, map[string]any{
				"id": c.GetId(), "type": "function",
				"function": map[string]any{"name": c.GetName(), "arguments": c.GetArguments()},
			})
		}
	}
	want, _ := line["tool_calls"].([]any)
	require.Equal(t, want, calls)
	if usage, ok := line["usage"].(map[string]any); ok {
		require.InDelta(t, usage["input_tokens"], m.GetUsage().GetInputTokens(), 0)
		require.InDelta(t, usage["output_tokens"], m.GetUsage().GetOutputTokens(), 0)
		require.InDelta(t, usage["cache_read_tokens"], m.GetUsage().GetCacheReadTokens(), 0)
		require.InDelta(t, usage["cache_write_tokens"], m.GetUsage().GetCacheWriteTokens(), 0)
		require.Zero(t, m.GetUsage().GetTotalTokens())
	}
	if m.GetRole() == compactordv1.Role_ROLE_TOOL {
		result := m.GetParts()[0].GetToolResult()
		require.Equal(t, line["tool_call_id"], result.GetCallId())
		isError, _ := line["is_error"].(bool)
		require.Equal(t, isError, result.GetIsError())
	}
}

// requireSameCompactions compares records with the `_compaction` lines that have a summary and what was kept.
func requireSameCompactions(t *testing.T, lines []map[string]any, records []*compactordv1.ImportedRecord) {
	t.Helper()
	messages := 0
	before := make([]int, 0, len(lines)+1)
	for _, line := range lines {
		before = append(before, messages)
		if line["role"] != "_compaction" {
			messages++
		}
	}
	before = append(before, messages)
	for at, line := range lines {
		first, told := line["first_kept"].(float64)
		if line["role"] != "_compaction" || !told || line["summary"] == "" || line["kind"] != nil {
			continue
		}
		require.NotEmpty(t, records)
		c := records[0].GetCompaction()
		require.Equal(t, line["summary"], c.GetSummary())
		require.Equal(t, before[int(first)], int(c.GetFirstKeptIndex()))
		require.Equal(t, max(before[at], before[int(first)]+1), int(records[0].GetAfterMessages()))
		if tokens, told := line["tokens_before"].(float64); told {
			require.InDelta(t, tokens, c.GetTokensBefore(), 0)
		}
		records = records[1:]
	}
	require.Empty(t, records)
}

// textOf joins the texts of a message or of its tool result.
func textOf(m *compactordv1.Message) string {
	var texts []string
	for _, p := range m.GetParts() {
		if p.GetText() != nil {
			texts = append(texts, p.GetText().GetText())
		}
		for _, rp := range p.GetToolResult().GetParts() {
			if rp.GetText() != nil {
				texts = append(texts, rp.GetText().GetText())
			}
		}
	}
	return strings.Join(texts, "\n")
}

func thinkingOf(m *compactordv1.Message) string {
	var texts []string
	for _, p := range m.GetParts() {
		if p.GetThinking() != nil {
			texts = append(texts, p.GetThinking().GetText())
		}
	}
	return strings.Join(texts, "\n")
}

func TestNativePiSessionEqualsItsNeutralCounterpart(t *testing.T) {
	t.Parallel()
	dir := corpus(t)
	native := openFile(t, filepath.Join(dir, "native", "pi", "pi-before-compaction.jsonl"))
	require.Equal(t, transcript.Pi, native.Format())
	have, err := native.ReadAll()
	require.NoError(t, err)
	neutral := openFile(t, filepath.Join(dir, "pi-before-compaction.jsonl"))
	want, err := neutral.ReadAll()
	require.NoError(t, err)
	require.Equal(t, []transcript.Note{
		{Count: 10, Text: "10 settings entries (model, thinking level, session info) left out"},
	}, native.Notes())
	requireSameCompactions(t, readLines(t, filepath.Join(dir, "pi-before-compaction.jsonl")), native.Records())

	entries := readLines(t, filepath.Join(dir, "native", "pi", "pi-before-compaction.jsonl"))[1:]
	shell, added := 0, 0
	require.GreaterOrEqual(t, len(want), len(have))
	for i, m := range have {
		require.NoError(t, protovalidate.Validate(m))
		entry := entries[m.GetSourcePosition()]
		require.Equal(t, "message", entry["type"])
		require.NotNil(t, m.GetWrittenAt())
		require.Equal(t, want[i].GetRole(), m.GetRole(), "message %d", i)
		if native, _ := entry["message"].(map[string]any); native["role"] == "bashExecution" {
			command, _ := native["command"].(string)
			output, _ := native["output"].(string)
			added += len(textOf(m)) - len(command) - len(output)
			shell++
			require.Equal(t, compactordv1.Origin_ORIGIN_IMPORT, m.GetOrigin())
			continue
		}
		require.Equal(t, textOf(want[i]), textOf(m), "message %d", i)
		require.Equal(t, countCalls(want[i:i+1]), countCalls(have[i:i+1]))
	}
	require.Equal(t, 3, shell)
	// Pi counts only command and output. With 20,000 tokens to keep, 16 more would move the cut from 944 to 946.
	require.LessOrEqual(t, added, 66)
	require.Equal(t, 454, countCalls(have))
}
