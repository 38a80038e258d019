package transcript_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/transcript"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// native reads a file as its tool wrote it.
func native(t *testing.T, id transcript.Format, path string, opts ...transcript.Option) []*compactordv1.Message {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	r, err := transcript.Open(f, append(opts, transcript.Strict())...)
	require.NoError(t, err)
	require.Equal(t, id, r.Format())
	messages, err := r.ReadAll()
	require.NoError(t, err)
	for i, m := range messages {
		require.NoError(t, protovalidate.Validate(m), "message %d", i)
		require.NotNil(t, m.SourcePosition, "message %d", i)
		require.NotEqual(t, compactordv1.Origin_ORIGIN_UNSPECIFIED, m.GetOrigin(), "message %d", i)
	}
	return messages
}

// counterpart reads the neutral form of a native file in the corpus, well-formed or not.
func counterpart(t *testing.T, dir, name string) []*compactordv1.Message {
	t.Helper()
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		path = filepath.Join(dir, "malformed", name)
	}
	messages, err := openFile(t, path).ReadAll()
	require.NoError(t, err)
	return messages
}

// difference says in what a native file can differ from its counterpart, where both are right.
type difference struct {
	// ids: the source has no ids of calls, and the corpus invented some.
	ids bool
	// developer: the corpus has instructions of the application as those of the operator.
	developer bool
	// arguments: the corpus encoded arguments anew that the source has as an object.
	arguments bool
	// texts: the corpus joined texts that are separate in the source.
	texts bool
}

// requireSameMessages compares the messages of both sides one by one.
func requireSameMessages(t *testing.T, want, have []*compactordv1.Message, d difference) {
	t.Helper()
	uses := make(map[string]int)
	for _, m := range want {
		for _, c := range callsOf(m) {
			uses[c.GetId()]++
		}
	}
	for i := range min(len(want), len(have)) {
		requireSameMessage(t, i, want[i], have[i], d)
		if result := resultOf(want[i]); result != nil && uses[result.GetCallId()] < 2 {
			// The corpus names a result by the last call with its id, an importer by the last one before it.
			require.Equal(t, result.GetName(), resultOf(have[i]).GetName(), "message %d", i)
		}
	}
	require.Equal(t, len(want), len(have))
}

func requireSameMessage(t *testing.T, i int, want, have *compactordv1.Message, d difference) {
	t.Helper()
	role := have.GetRole()
	if d.developer && role == compactordv1.Role_ROLE_DEVELOPER {
		role = compactordv1.Role_ROLE_SYSTEM
	}
	require.Equal(t, want.GetRole(), role, "message %d", i)
	if d.texts {
		require.Equal(t, joined(textOf(want)), joined(textOf(have)), "message %d", i)
		require.Equal(t, joined(thinkingOf(want)), joined(thinkingOf(have)), "message %d", i)
	} else {
		require.Equal(t, textOf(want), textOf(have), "message %d", i)
		require.Equal(t, thinkingOf(want), thinkingOf(have), "message %d", i)
	}
	wantCalls, haveCalls := callsOf(want), callsOf(have)
	require.Equal(t, len(wantCalls), len(haveCalls), "calls of message %d", i)
	for n, w := range wantCalls {
		h := haveCalls[n]
		require.Equal(t, w.GetName(), h.GetName(), "message %d", i)
		if !d.ids {
			require.Equal(t, w.GetId(), h.GetId(), "message %d", i)
		}
		if d.arguments {
			require.JSONEq(t, w.GetArguments(), h.GetArguments(), "message %d", i)
		} else {
			require.Equal(t, w.GetArguments(), h.GetArguments(), "message %d", i)
		}
	}
	if w, h := resultOf(want), resultOf(have); w != nil {
		require.Equal(t, w.GetIsError(), h.GetIsError(), "message %d", i)
		if !d.ids {
			require.Equal(t, w.GetCallId(), h.GetCallId(), "message %d", i)
		}
	}
	requireSameUsage(t, i, want.GetUsage(), have.GetUsage())
}

func requireSameUsage(t *testing.T, i int, want, have *compactordv1.Usage) {
	t.Helper()
	require.Equal(t, want.GetInputTokens(), have.GetInputTokens(), "message %d", i)
	require.Equal(t, want.GetOutputTokens(), have.GetOutputTokens(), "message %d", i)
	require.Equal(t, want.GetCacheReadTokens(), have.GetCacheReadTokens(), "message %d", i)
	require.Equal(t, want.GetCacheWriteTokens(), have.GetCacheWriteTokens(), "message %d", i)
}

// resultOf returns the tool result of a message, or nil where it has another role.
func resultOf(m *compactordv1.Message) *compactordv1.ToolResult {
	for _, p := range m.GetParts() {
		return p.GetToolResult()
	}
	return nil
}

func callsOf(m *compactordv1.Message) []*compactordv1.ToolCall {
	var calls []*compactordv1.ToolCall
	for _, p := range m.GetParts() {
		if p.GetToolCall() != nil {
			calls = append(calls, p.GetToolCall())
		}
	}
	return calls
}

// joined returns a text without white space.
func joined(text string) string { return strings.Join(strings.Fields(text), "") }

func TestNativeSWEAgentEqualsItsCounterpart(t *testing.T) {
	t.Parallel()
	dir := corpus(t)
	for _, name := range names(t, dir, "swe-agent", ".traj") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			have := native(t, transcript.SWEAgent, filepath.Join(dir, "native", "swe-agent", name+".traj"))
			requireSameMessages(t, counterpart(t, dir, name+".jsonl"), have, difference{})
		})
	}
}

func TestNativeMiniSWEAgentEqualsItsCounterpart(t *testing.T) {
	t.Parallel()
	dir := corpus(t)
	for _, name := range names(t, dir, "mini-swe-agent", ".traj.json") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			have := native(t, transcript.MiniSWEAgent, filepath.Join(dir, "native", "mini-swe-agent", name+".traj.json"))
			requireSameMessages(t, counterpart(t, dir, name+".jsonl"), have, difference{})
			for _, m := range have[2:] {
				require.NotNil(t, m.GetWrittenAt())
			}
		})
	}
}

func TestNativeLangChainEqualsItsCounterpart(t *testing.T) {
	t.Parallel()
	dir := corpus(t)
	const name = "deepagents-summarization-seed"
	have := native(t, transcript.LangChain, filepath.Join(dir, "native", "langchain", name+".json"))
	requireSameMessages(t, counterpart(t, dir, name+".jsonl"), have, difference{})
}

func TestNativeOpenHandsEqualsItsCounterparts(t *testing.T) {
	t.Parallel()
	dir := corpus(t)
	for i, name := range []string{
		"openhands-v0-ponylang__ponyc-4588.jsonl", "openhands-v0-resolver-issue-5.jsonl", "openhands-v0-resolver-issue-1.jsonl",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(dir, "native", "openhands-output", "output.jsonl")
			have := native(t, transcript.OpenHands, path, transcript.Select(i+1))
			// The old form of the last two runs has only actions, without ids.
			requireSameMessages(t, counterpart(t, dir, name), have, difference{ids: i > 0})
		})
	}
}

func TestNativeGeminiCLIEqualsItsCounterparts(t *testing.T) {
	t.Parallel()
	dir := corpus(t)
	for name, compacted := range map[string]bool{"gemini-cli-agent-teams": true, "gemini-cli-issue-17029": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			have := native(t, transcript.GeminiCLI, filepath.Join(dir, "native", "gemini", name+".json"))
			if compacted {
				// The corpus treats the snapshot as a compaction. The file does not have the messages that it replaced.
				require.Equal(t, compactordv1.Origin_ORIGIN_CONTINUE, have[1].GetOrigin())
				have = slices.Delete(have, 1, 2)
			}
			have = withNeighboursJoined(have)
			requireSameMessages(t, counterpart(t, dir, name+".jsonl"), have, difference{ids: !compacted, arguments: true, texts: true})
		})
	}
}

func TestNativeCodexEqualsItsCounterparts(t *testing.T) {
	t.Parallel()
	dir := corpus(t)
	for _, name := range names(t, dir, "codex", ".jsonl") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			have := native(t, transcript.Codex, filepath.Join(dir, "native", "codex", name+".jsonl"))
			requireSameMessages(t, counterpart(t, dir, strings.TrimPrefix(name, "rollout-")+".jsonl"), asTheCorpusWrites(t, have),
				difference{developer: true, texts: true})
		})
	}
}

// asTheCorpusWrites changes messages of Codex to the form of the corpus: without reasoning that broke off, with
// searches as text, and with the free text of a call in an object.
func asTheCorpusWrites(t *testing.T, messages []*compactordv1.Message) []*compactordv1.Message {
	t.Helper()
	return slices.DeleteFunc(messages, func(m *compactordv1.Message) bool {
		for _, p := range m.GetParts() {
			if o := p.GetOpaque(); o != nil {
				var item struct {
					Action json.RawMessage `json:"action"`
				}
				require.NoError(t, json.Unmarshal([]byte(o.GetJson()), &item))
				text := "[" + o.GetType() + "] " + string(item.Action)
				p.Kind = &compactordv1.Part_Text{Text: &compactordv1.TextPart{Text: text}}
			}
			if call := p.GetToolCall(); call != nil && !json.Valid([]byte(call.GetArguments())) {
				// Like the corpus, without escapes for HTML.
				var b strings.Builder
				e := json.NewEncoder(&b)
				e.SetEscapeHTML(false)
				require.NoError(t, e.Encode(map[string]string{"input": call.GetArguments()}))
				call.Arguments = strings.TrimSpace(b.String())
			}
		}
		aborted := m.GetStopReason() == compactordv1.StopReason_STOP_REASON_ABORTED
		return aborted && textOf(m) == "" && len(callsOf(m)) == 0
	})
}

// withNeighboursJoined joins neighbours of the model's messages, as the corpus does.
func withNeighboursJoined(messages []*compactordv1.Message) []*compactordv1.Message {
	var all []*compactordv1.Message
	for _, m := range messages {
		if n := len(all); n > 0 && m.GetRole() == compactordv1.Role_ROLE_ASSISTANT && all[n-1].GetRole() == m.GetRole() {
			all[n-1].Parts = append(all[n-1].GetParts(), m.GetParts()...)
			continue
		}
		all = append(all, m)
	}
	return all
}

// names lists the native files of a tool, without their extension.
func names(t *testing.T, dir, tool, extension string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "native", tool, "*"+extension))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	found := make([]string, len(paths))
	for i, path := range paths {
		found[i] = strings.TrimSuffix(filepath.Base(path), extension)
	}
	return found
}
