package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// document decodes the one JSON document that must be all of stdout.
func document(t *testing.T, out string) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(out))
	var doc map[string]any
	require.NoError(t, decoder.Decode(&doc), out)
	require.ErrorIs(t, decoder.Decode(new(any)), io.EOF, "more than one document")
	return doc
}

// at follows keys into a document.
func at(t *testing.T, doc any, keys ...string) any {
	t.Helper()
	for _, key := range keys {
		object, ok := doc.(map[string]any)
		require.True(t, ok, "no object that could hold %s", key)
		require.Contains(t, object, key)
		doc = object[key]
	}
	return doc
}

func TestCompactFile(t *testing.T) {
	temporaryFolder(t)
	path := talkFile(t)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	r := ran(t, "compact", path).ends(t, exitDone)
	contains(t, r.out, "Compacted "+path)
	contains(t, r.out, "  Summarized  ")
	contains(t, r.out, "  Kept        ")
	contains(t, r.out, " (line ")
	contains(t, r.out, " less), estimated\n")
	contains(t, r.out, "## Goal")
	r.says(t, "480 messages, OpenAI-style messages").says(t, "summarizing ")
	require.NotContains(t, r.err, "\x1b", "no terminal, no escapes")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after, "the file was changed")
}

func TestCompactAsJSON(t *testing.T) {
	temporaryFolder(t)
	path := file(t, "talk.jsonl", `{"role":"_compaction","summary":"x"}`+"\n"+talk(120))
	r := ran(t, "compact", path, "--json", "--view", "--focus", "the parser", "--keep-recent-tokens", "5000", "-q").
		ends(t, exitDone)
	require.Empty(t, r.err, "quiet")
	doc := document(t, r.out)
	require.InDelta(t, 480, at(t, doc, "messages"), 0)
	require.Equal(t, []any{"1 _compaction record that does not tell what it kept left out"}, at(t, doc, "notes"))
	require.Equal(t, "the parser", at(t, doc, "entry", "focus"))
	require.Equal(t, "COMPACTION_REASON_MANUAL", at(t, doc, "entry", "reason"))
	require.InDelta(t, 5000, at(t, doc, "entry", "strategy", "summarize", "recent_tokens"), 0)
	require.Contains(t, at(t, doc, "report"), "tokens")
	require.Equal(t, at(t, doc, "entry", "first_kept_index"), at(t, doc, "cut", "first_kept", "index"))
	kept, ok := at(t, doc, "cut", "first_kept", "index").(float64)
	require.True(t, ok)
	require.InDelta(t, kept+1, at(t, doc, "cut", "first_kept", "source_position"), 0, "one line was left out before it")
	view, ok := at(t, doc, "view").([]any)
	require.True(t, ok)
	require.Equal(t, at(t, doc, "entry", "id"), at(t, view[0], "summary_of"))
	require.InDelta(t, kept, at(t, view[1], "index"), 0)
	require.Less(t, strings.Index(r.out, `"entry"`), strings.Index(r.out, `"messages"`), "the order is stable")
	require.NotContains(t, doc, "skipped")
	require.NotContains(t, doc, "plan")
}

func TestCompactStandardInput(t *testing.T) {
	temporaryFolder(t)
	r := ranOn(t, strings.NewReader(talk(120)), "compact", "-").ends(t, exitDone).says(t, "reading standard input")
	contains(t, r.out, "Compacted standard input.")
}

func TestCompactWithNothingToDo(t *testing.T) {
	temporaryFolder(t)
	path := file(t, "short.jsonl", talk(2))
	r := ran(t, "compact", path).ends(t, exitNothing).says(t, "compactord: nothing to do: the view's ")
	require.Empty(t, r.out)
	doc := document(t, ran(t, "compact", path, "--json").ends(t, exitNothing).out)
	require.Equal(t, "SKIP_REASON_NOTHING_TO_COMPACT", at(t, doc, "skipped", "reason"))
	require.Contains(t, at(t, doc, "report"), "tokens")
	require.NotContains(t, doc, "entry")
}

func TestCompactDryRun(t *testing.T) {
	temporaryFolder(t)
	path := talkFile(t)
	r := ran(t, "compact", path, "--dry-run").ends(t, exitDone)
	contains(t, r.out, "Nothing was changed.")
	contains(t, r.out, "  Summarize   ")
	doc := document(t, ran(t, "compact", path, "--dry-run", "--json").ends(t, exitDone).out)
	require.Equal(t, at(t, doc, "plan", "cut", "first_kept_index"), at(t, doc, "cut", "first_kept", "index"))
	require.NotContains(t, doc, "entry")
}

func TestCompactPrintsTheView(t *testing.T) {
	temporaryFolder(t)
	r := ran(t, "compact", talkFile(t), "--view", "-q").ends(t, exitDone)
	_, view, found := strings.Cut(r.out, "What the model sees\n")
	require.True(t, found)
	contains(t, view, "user (summary)  ")
	contains(t, view, "    [calls read_file] {\"path\":\"pkg/parser_119.go\"}")
	contains(t, view, "    [result]\n")
}

func TestCompactIsDrawnOnATerminal(t *testing.T) {
	temporaryFolder(t)
	a := &app{terminal: terminal{stdin: strings.NewReader(""), errTerminal: true}}
	r := runWith(t.Context(), a, "compact", talkFile(t)).ends(t, exitDone)
	require.Contains(t, r.err, "\r\x1b[K")
	require.Contains(t, r.err, "summarizing ")
	require.Contains(t, r.err, "░")
	require.NotContains(t, r.out, "\x1b")
	require.True(t, strings.HasSuffix(r.err, "\r\x1b[K"), "the bar is taken away at the end")
}

// held is a summarizer that waits until its call is cut off.
type held struct{ reached chan struct{} }

func (h *held) Name() string { return "extractive" }

func (h *held) Summarize(
	ctx context.Context, _ *summarizers.Request, _ summarizers.Progress,
) (*summarizers.Summary, error) {
	close(h.reached)
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func TestInterruptedWhileSummarizing(t *testing.T) {
	temporaryFolder(t)
	for _, command := range [][]string{{"compact"}, {"view", "--compact"}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		h := &held{make(chan struct{})}
		go func() {
			<-h.reached
			cancel(errInterrupted)
		}()
		r := runWith(ctx, &app{terminal: terminal{stdin: strings.NewReader("")}, summarizer: h}, append(command, talkFile(t))...)
		r.ends(t, exitFailed).says(t, "compactord: interrupted\nThe file is as it was.\n")
		require.Empty(t, r.out)
	}
}

func TestInterruptedWhileWaitingForInput(t *testing.T) {
	temporaryFolder(t)
	in, write := io.Pipe()
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		_, _ = io.WriteString(write, talk(1))
		cancel(errInterrupted)
	}()
	runWith(ctx, &app{terminal: terminal{stdin: in}}, "compact", "-").ends(t, exitFailed).says(t, "compactord: interrupted\n")
	require.NoError(t, write.Close())
}

// panicking is a summarizer with a bug.
type panicking struct{}

func (panicking) Name() string { return "extractive" }

func (panicking) Summarize(context.Context, *summarizers.Request, summarizers.Progress) (*summarizers.Summary, error) {
	panic("a bug")
}

func TestFailedSummarizer(t *testing.T) {
	temporaryFolder(t)
	r := runWith(t.Context(), &app{summarizer: panicking{}}, "compact", talkFile(t)).ends(t, exitFailed)
	require.Regexp(t, `(?m)^compactord: summarizer extractive failed: internal error [0-9a-f-]+: this is a bug, please report it with this id; `+
		`the log tells more under it \(INTERNAL\)\nPlease report it, with what you did and with what --log-level debug prints\.$`, r.err)
	require.NotContains(t, r.err, "ry again later")
}

func TestControlCharactersStayOffTheScreen(t *testing.T) {
	temporaryFolder(t)
	evil := strings.ReplaceAll(talk(120), "Fix the failing", `Fix \u001b]0;owned\u0007 \u202e the failing`)
	r := ran(t, "compact", file(t, "evil.jsonl", evil), "--view").ends(t, exitDone)
	require.NotContains(t, r.out, "\x1b")
	require.NotContains(t, r.out, "\a")
	require.NotContains(t, r.out, "\u202e")
}
