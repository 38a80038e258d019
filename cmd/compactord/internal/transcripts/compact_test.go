package transcripts_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

func TestCompactFile(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.TalkFile(t)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	r := programtest.Ran(t, "compact", path).Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "Compacted "+path)
	sample.Contains(t, r.Out, "  Summarized  ")
	sample.Contains(t, r.Out, "  Kept        ")
	sample.Contains(t, r.Out, " (line ")
	sample.Contains(t, r.Out, " less), of the view, estimated\n")
	sample.Contains(t, r.Out, "## Goal")
	r.Says(t, "480 messages, OpenAI-style messages").Says(t, "summarizing ")
	require.NotContains(t, r.Err, "\x1b", "no terminal, no escapes")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after, "the file was changed")
}

// --keep-recent-tokens replaced all of the strategy of --policy, so that its summaries had the default budget.
func TestKeepingOtherTokensLeavesTheStrategy(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "talk.jsonl", sample.Talk(120))
	policy := sample.File(t, "policy.yaml", "strategy: {summarize: {recent_messages: 4, manual_recent_tokens: 900, max_summary_tokens: 700}}\n")
	doc := sample.Document(t, programtest.Ran(t, "compact", path, "--policy", policy, "--keep-recent-tokens", "5000", "--json", "-q").Ends(t, terminal.ExitDone).Out)
	require.Equal(t, map[string]any{"recent_tokens": 5000.0, "manual_recent_tokens": 5000.0, "max_summary_tokens": 700.0}, keptOf(sample.At(t, doc, "entry", "provenance", "strategy", "summarize")))
}

// keptOf returns the fields of a strategy that say what it keeps, and its budget.
func keptOf(strategy any) map[string]any {
	fields, _ := strategy.(map[string]any)
	kept := map[string]any{}
	for _, name := range []string{"recent_tokens", "recent_messages", "manual_recent_tokens", "max_summary_tokens"} {
		if value, ok := fields[name]; ok {
			kept[name] = value
		}
	}
	return kept
}

func TestCompactAsJSON(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "talk.jsonl", `{"role":"_compaction","summary":"x"}`+"\n"+sample.Talk(120))
	r := programtest.Ran(t, "compact", path, "--json", "--view", "--focus", "the parser", "--keep-recent-tokens", "5000", "-q").
		Ends(t, terminal.ExitDone)
	require.Empty(t, r.Err, "quiet")
	doc := sample.Document(t, r.Out)
	require.InDelta(t, 480, sample.At(t, doc, "messages"), 0)
	require.Equal(t, []any{"1 _compaction record that does not say what it kept left out"}, sample.At(t, doc, "notes"))
	require.Equal(t, "the parser", sample.At(t, doc, "entry", "provenance", "focus"))
	require.Equal(t, "COMPACTION_REASON_MANUAL", sample.At(t, doc, "entry", "provenance", "reason"))
	require.InDelta(t, 5000, sample.At(t, doc, "entry", "provenance", "strategy", "summarize", "recent_tokens"), 0)
	require.Contains(t, sample.At(t, doc, "report"), "tokens")
	require.Equal(t, sample.At(t, doc, "entry", "first_kept_index"), sample.At(t, doc, "cut", "first_kept", "index"))
	kept, ok := sample.At(t, doc, "cut", "first_kept", "index").(float64)
	require.True(t, ok)
	require.InDelta(t, kept+1, sample.At(t, doc, "cut", "first_kept", "source_position"), 0, "one line was left out before it")
	view, ok := sample.At(t, doc, "view").([]any)
	require.True(t, ok)
	require.Equal(t, sample.At(t, doc, "entry", "id"), sample.At(t, view[0], "summary_of"))
	require.InDelta(t, kept, sample.At(t, view[1], "index"), 0)
	require.Less(t, strings.Index(r.Out, `"entry"`), strings.Index(r.Out, `"messages"`), "the order is stable")
	require.NotContains(t, doc, "skipped")
	require.NotContains(t, doc, "plan")
}

func TestCompactStandardInput(t *testing.T) {
	sample.TemporaryFolder(t)
	r := programtest.RanOn(t, strings.NewReader(sample.Talk(120)), "compact", "-").Ends(t, terminal.ExitDone).Says(t, "reading standard input")
	sample.Contains(t, r.Out, "Compacted standard input.")
}

func TestCompactWithNothingToDo(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "short.jsonl", sample.Talk(2))
	r := programtest.Ran(t, "compact", path).Ends(t, terminal.ExitNothing).Says(t, "compactord: nothing to do: the view's ")
	require.Empty(t, r.Out)
	doc := sample.Document(t, programtest.Ran(t, "compact", path, "--json").Ends(t, terminal.ExitNothing).Out)
	require.Equal(t, "SKIP_REASON_NOTHING_TO_COMPACT", sample.At(t, doc, "skipped", "reason"))
	require.Contains(t, sample.At(t, doc, "report"), "tokens")
	require.NotContains(t, doc, "entry")
}

func TestCompactDryRun(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.TalkFile(t)
	r := programtest.Ran(t, "compact", path, "--dry-run").Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "Nothing was changed.")
	sample.Contains(t, r.Out, "  Summarize   ")
	doc := sample.Document(t, programtest.Ran(t, "compact", path, "--dry-run", "--json").Ends(t, terminal.ExitDone).Out)
	require.Equal(t, sample.At(t, doc, "plan", "cut", "first_kept_index"), sample.At(t, doc, "cut", "first_kept", "index"))
	require.NotContains(t, doc, "entry")
}

func TestCompactPrintsTheView(t *testing.T) {
	sample.TemporaryFolder(t)
	r := programtest.Ran(t, "compact", sample.TalkFile(t), "--view", "-q").Ends(t, terminal.ExitDone)
	_, view, found := strings.Cut(r.Out, "What the model sees\n")
	require.True(t, found)
	require.Equal(t, 1, strings.Count(r.Out, "## Goal"), "the view has the summary")
	sample.Contains(t, view, "user (summary)  ")
	sample.Contains(t, view, "    [calls read_file] {\"path\":\"pkg/parser_119.go\"}")
	sample.Contains(t, view, "    [result]\n")
}

func TestCompactIsDrawnOnATerminal(t *testing.T) {
	sample.TemporaryFolder(t)
	a := &api.App{Terminal: terminal.Terminal{Stdin: strings.NewReader(""), ErrTerminal: true}}
	r := programtest.RunWith(t.Context(), a, "compact", sample.TalkFile(t)).Ends(t, terminal.ExitDone)
	require.Contains(t, r.Err, "\r\x1b[K")
	require.Contains(t, r.Err, "summarizing ")
	require.Contains(t, r.Err, "░")
	require.NotContains(t, r.Out, "\x1b")
	require.True(t, strings.HasSuffix(r.Err, "\r\x1b[K"), "the bar is taken away at the end")
}

func TestInterruptedWhileSummarizing(t *testing.T) {
	sample.TemporaryFolder(t)
	for _, command := range [][]string{{"compact"}, {"view", "--compact"}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		h := &programtest.Held{Reached: make(chan struct{})}
		go func() {
			<-h.Reached
			cancel(terminal.ErrInterrupted)
		}()
		r := programtest.RunWith(ctx, &api.App{Terminal: terminal.Terminal{Stdin: strings.NewReader("")}, Summarizer: h}, append(command, sample.TalkFile(t))...)
		r.Ends(t, terminal.ExitFailed).Says(t, "compactord: interrupted\nThe file is unchanged.\n")
		require.Empty(t, r.Out)
	}
}

func TestInterruptedWhileWaitingForInput(t *testing.T) {
	sample.TemporaryFolder(t)
	in, write := io.Pipe()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		_, _ = io.WriteString(write, sample.Talk(1))
		cancel(terminal.ErrInterrupted)
	}()
	programtest.RunWith(ctx, &api.App{Terminal: terminal.Terminal{Stdin: in}}, "compact", "-").Ends(t, terminal.ExitFailed).Says(t, "compactord: interrupted\n")
	require.NoError(t, write.Close())
}

func TestFailedSummarizer(t *testing.T) {
	sample.TemporaryFolder(t)
	r := programtest.RunWith(t.Context(), &api.App{Summarizer: programtest.Panicking{}}, "compact", sample.TalkFile(t)).Ends(t, terminal.ExitFailed)
	require.Regexp(t, `(?m)^compactord: summarizer extractive failed: internal error [0-9a-f-]+: this is a bug, please report it with this id; `+
		`the log tells more under it \(INTERNAL\)\nPlease report it, with what you did and with what --log-level debug prints\.$`, r.Err)
	require.NotContains(t, r.Err, "ry again later")
}

func TestControlCharactersStayOffTheScreen(t *testing.T) {
	sample.TemporaryFolder(t)
	evil := strings.ReplaceAll(sample.Talk(120), "Fix the failing", `Fix \u001b]0;owned\u0007 \u202e the failing`)
	r := programtest.Ran(t, "compact", sample.File(t, "evil.jsonl", evil), "--view").Ends(t, terminal.ExitDone)
	require.NotContains(t, r.Out, "\x1b")
	require.NotContains(t, r.Out, "\a")
	require.NotContains(t, r.Out, "\u202e")
}

// Messages that arrival edits or an earlier compaction changed are not kept word for word, even if this compaction
// makes no edits.
func TestKeptCountsTheEditsInForce(t *testing.T) {
	sample.TemporaryFolder(t)
	// Arrival edits truncate each result. The compaction itself only cuts.
	path := sample.File(t, "talk.jsonl", longResults(6))
	r := programtest.Ran(t, "compact", path, "--preset", "opencode", "--window", "40000").Ends(t, terminal.ExitDone)
	require.NotContains(t, r.Out, "word for word")
	require.Regexp(t, `(?m)^  Kept        8 messages, 2 edited, from #17 `, r.Out)
	r = programtest.Ran(t, "compact", path, "--preset", "opencode", "--window", "40000", "--dry-run").Ends(t, terminal.ExitDone)
	require.Regexp(t, `(?m)^  Kept        8 messages, 2 edited, from #17 `, r.Out)
	// A dry run counts the plan's edits.
	r = programtest.Ran(t, "compact", path, "--preset", "claude_code", "--window", "40000", "--dry-run").Ends(t, terminal.ExitDone)
	require.Regexp(t, `(?m)^  Kept        12 messages, 2 edited, from #13 `, r.Out)
	r = programtest.Ran(t, "compact", path, "--preset", "claude_code", "--window", "40000").Ends(t, terminal.ExitDone)
	require.Regexp(t, `(?m)^  Kept        12 messages, 2 edited, 2 not shown, from #13 `, r.Out)
}

// longResults is a transcript with a system message and turns of four messages, each with a result of 3,000 characters.
func longResults(turns int) string {
	var b strings.Builder
	fmt.Fprintln(&b, `{"role":"system","content":"Be brief."}`)
	for i := range turns {
		fmt.Fprintf(&b, `{"role":"user","content":"Read file %d."}
{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"%d\"}"}}]}
{"role":"tool","tool_call_id":"c%d","content":"%s"}
{"role":"assistant","content":"It is about %d."}
`, i, i, i, i, strings.Repeat("line of text\\n", 250), i)
	}
	return b.String()
}

func TestCompactByAPresetThatOnlyEdits(t *testing.T) {
	sample.TemporaryFolder(t)
	r := programtest.Ran(t, "compact", sample.TalkFile(t), "--preset", "klip13", "--window", "200000").Ends(t, terminal.ExitDone)
	require.Contains(t, r.Out, "  Hidden      115 results, 59,120 tokens less\n")
	require.NotContains(t, r.Out, "Summar")
	r = programtest.Ran(t, "prune", sample.TalkFile(t), "--preset", "klip13", "--window", "200000").Ends(t, terminal.ExitDone)
	require.Contains(t, r.Out, "  Hidden      115 results, 59,120 tokens less\n")
	sample.Contains(t, r.Out, "  Messages    #2 #6 #10 ")
}

func TestCompactForAReason(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.TalkFile(t)
	doc := sample.Document(t, programtest.Ran(t, "compact", path, "--json", "--reason", "overflow", "--replay", "--keep-recent-tokens", "1").
		Ends(t, terminal.ExitDone).Out)
	require.Equal(t, "COMPACTION_REASON_OVERFLOW", sample.At(t, doc, "entry", "provenance", "reason"))
	require.InDelta(t, 476, sample.At(t, doc, "entry", "replayed_index"), 0)
	doc = sample.Document(t, programtest.Ran(t, "compact", path, "--json", "--reason", "overflow", "--no-replay", "--keep-recent-tokens", "1").
		Ends(t, terminal.ExitDone).Out)
	require.NotContains(t, sample.At(t, doc, "entry"), "replayed_index")
	programtest.Ran(t, "compact", path, "--reason", "threshold", "--window", "1000000", "--preset", "pi").Ends(t, terminal.ExitNothing).
		Says(t, "compaction is due at 983616")
	programtest.Ran(t, "compact", path, "--replay").Ends(t, terminal.ExitUsage).Says(t, "--replay needs --reason overflow")
	programtest.Ran(t, "compact", path, "--reason", "boredom").Ends(t, terminal.ExitUsage).Says(t, "--reason must be one of")
}
