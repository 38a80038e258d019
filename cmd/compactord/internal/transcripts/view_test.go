package transcripts_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/dialects"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// `view --dialect` prints the JSON of a request, which `validate` accepts.
func TestViewInADialectIsARequest(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "talk.jsonl", sample.Talk(120)+`{"role":"user","content":"And the last one?"}`)
	fields := map[string]string{
		"openai_chat": "messages", "openai_responses": "input", "anthropic": "messages", "gemini": "contents",
	}
	for _, d := range dialects.All() {
		t.Run(d.Name(), func(t *testing.T) {
			for _, args := range [][]string{nil, {"--compact", "--context-window", "20000"}} {
				r := programtest.Ran(t, append([]string{"view", path, "--dialect", d.Name(), "-q"}, args...)...).Ends(t, terminal.ExitDone)
				require.Empty(t, r.Err)
				var body map[string]json.RawMessage
				require.NoError(t, json.Unmarshal([]byte(r.Out), &body))
				require.Contains(t, body, fields[d.Name()])
				if args != nil {
					sample.Contains(t, r.Out, "This summary stands in for earlier messages")
					require.Less(t, len(r.Out), 80_000)
				}
				checked := programtest.RanOn(t, strings.NewReader(r.Out), "validate", "-", "--dialect", d.Name()).Ends(t, terminal.ExitDone)
				sample.Contains(t, checked.Out, "no rule of "+d.Name()+" broken")
			}
		})
	}
}

func TestViewMarksBreakpoints(t *testing.T) {
	sample.TemporaryFolder(t)
	r := programtest.Ran(t, "view", sample.TalkFile(t), "--dialect", "anthropic", "--mark-cache-breakpoints").Ends(t, terminal.ExitDone)
	require.Equal(t, 1, strings.Count(r.Out, `"cache_control"`))
	programtest.Ran(t, "view", sample.TalkFile(t), "--dialect", "gemini", "--mark-cache-breakpoints").Ends(t, terminal.ExitUsage)
	programtest.Ran(t, "view", sample.TalkFile(t), "--mark-cache-breakpoints").Ends(t, terminal.ExitUsage).Says(t, "needs --dialect")
	programtest.Ran(t, "view", sample.TalkFile(t), "--dialect", "anthropic", "--json").Ends(t, terminal.ExitUsage)
	programtest.Ran(t, "view", sample.TalkFile(t), "--dialect", "latin").Ends(t, terminal.ExitUsage).Says(t, "there are openai_chat, ")
}

func TestViewOfOpenCallsSaysWhatToDo(t *testing.T) {
	sample.TemporaryFolder(t)
	open := strings.SplitAfter(sample.Talk(1), "\n")[:2]
	programtest.Ran(t, "view", sample.File(t, "open.jsonl", strings.Join(open, "")), "--dialect", "openai_chat").
		Ends(t, terminal.ExitFailed).Says(t, "1 tool call waits for its result").Says(t, "append a USER message to give the calls up")
}

// The program used to print "1 tokens", "from #1 to #1" and "0 messages put aside".
func TestOneIsNotCountedAsMany(t *testing.T) {
	sample.TemporaryFolder(t)
	path, store := sample.File(t, "short.jsonl", `{"role":"user","content":"hi"}`+"\n"), filepath.Join(t.TempDir(), "s.db")
	r := programtest.Ran(t, "view", path, "-q").Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "  1 token   100 %\n")
	require.NotContains(t, r.Out, "1 tokens")
	require.Equal(t, "1 message, #7", conversation.MessageRange(&compactordv1.IndexRange{Start: 7, End: 8}))
	require.Equal(t, "2 messages, from #7 to #8", conversation.MessageRange(&compactordv1.IndexRange{Start: 7, End: 9}))

	on := func(args ...string) programtest.Answer {
		return programtest.Ran(t, append(args, "--session", "s", "--store", store)...)
	}
	on("import", path, "-q").Ends(t, terminal.ExitDone)
	sample.Contains(t, on("revert", "--turns", "1").Ends(t, terminal.ExitDone).Out, ": 1 message put aside, 0 tokens in the context now.\n")
	sample.Contains(t, on("undo").Ends(t, terminal.ExitDone).Out, "to point 1: 1 token in the context now.\n")
	on("revert", "--to-checkpoint", "1").Ends(t, terminal.ExitFailed).Says(t, "there is no checkpoint 1; the session has none")
	programtest.Ran(t, "view", sample.File(t, "x.json", "{}")).Ends(t, terminal.ExitFailed).Says(t, "its first object is empty;")
}

// `view --as-of` shows the figures, messages and dialects of an earlier point, and changes nothing.
func TestViewAsOfAPoint(t *testing.T) {
	on := programtest.FiveTurns(t)
	whole := on("view", "--session", "s", "--messages").Ends(t, terminal.ExitDone).Out
	rendered := on("view", "--session", "s", "--dialect", "anthropic").Ends(t, terminal.ExitDone).Out
	on("compact", "--session", "s", "--keep-recent-tokens", "100").Ends(t, terminal.ExitDone)
	on("revert", "--session", "s", "--to-point", "8").Ends(t, terminal.ExitDone)
	now := on("view", "--session", "s", "--messages").Ends(t, terminal.ExitDone).Out
	require.NotEqual(t, whole, now)
	require.Equal(t, whole, on("view", "--session", "s", "--as-of", "20", "--messages").Ends(t, terminal.ExitDone).Out)
	require.Equal(t, rendered, on("view", "--session", "s", "--as-of", "20", "--dialect", "anthropic").Ends(t, terminal.ExitDone).Out)
	sample.Contains(t, on("view", "--session", "s", "--as-of", "21", "--messages").Ends(t, terminal.ExitDone).Out, " (summary)")
	figures := on("view", "--session", "s", "--as-of", "21").Ends(t, terminal.ExitDone).Out
	sample.Contains(t, figures, "What the model sees of session s as of point 21: ")
	require.NotContains(t, figures, "Not shown")
	doc := sample.Document(t, on("view", "--session", "s", "--as-of", "8", "--json").Ends(t, terminal.ExitDone).Out)
	require.InDelta(t, 8, sample.At(t, doc, "messages"), 0)
	require.NotContains(t, doc, "not_shown")
	require.Equal(t, now, on("view", "--session", "s", "--messages").Ends(t, terminal.ExitDone).Out)
	for _, args := range [][]string{
		{"--session", "s", "--as-of", "4000"},
		{"--session", "s", "--as-of", "4000", "--dialect", "gemini"},
		{"--session", "s", "--as-of", "8", "--compact"},
		{"--session", "s", "--as-of=-1"},
	} {
		on(append([]string{"view"}, args...)...).Ends(t, terminal.ExitUsage)
	}
	programtest.Ran(t, "view", sample.File(t, "talk.jsonl", sample.Talk(2)), "--as-of", "3").Ends(t, terminal.ExitUsage).Says(t, "--as-of needs --session")
}

// mixed is a transcript with every kind of content that a file can have.
const mixed = `{"role":"system","content":"You are a careful engineer."}
{"role":"user","content":[{"type":"text","text":"What is on this picture?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}
{"role":"assistant","reasoning_content":"I should look at it closely first.","content":"Let me look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c1","content":"A cat sits on a mat."}
{"role":"assistant","content":"It is a cat."}
`

// Media are shown to people as they are to the model.
func TestMediaReadAsInTheView(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "mixed.jsonl", mixed)
	r := programtest.Ran(t, "compact", path, "--context-window", "10000", "--view")
	require.Contains(t, r.Out, "[Attached image/png: file]")
}

func TestViewShowsEveryKind(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "mixed.jsonl", mixed)
	r := programtest.Ran(t, "view", path, "--context-window", "10000").Ends(t, terminal.ExitDone)
	require.NotContains(t, r.Out, "\x1b")
	require.Contains(t, r.Out, "#")
	require.Contains(t, r.Out, "The window has 10,000 tokens")
	doc := sample.Document(t, programtest.Ran(t, "view", path, "--json").Ends(t, terminal.ExitDone).Out)
	var sum float64
	shares, ok := sample.At(t, doc, "in_view").([]any)
	require.True(t, ok)
	for _, share := range shares {
		kind, ok := sample.At(t, share, "kind").(string)
		require.True(t, ok)
		tokens, ok := sample.At(t, share, "tokens").(float64)
		require.True(t, ok)
		sum += tokens
		if kind == "summary" {
			require.Zero(t, tokens)
		} else {
			require.Positive(t, tokens, kind)
		}
		require.Contains(t, r.Out, strings.ReplaceAll(kind, "_", " "))
	}
	require.InDelta(t, sample.At(t, doc, "tokens"), sum, 0, "the kinds are all of the view")
	require.InDelta(t, 5, sample.At(t, doc, "messages"), 0)
	require.NotContains(t, doc, "view")
	require.Contains(t, sample.Document(t, programtest.Ran(t, "view", path, "--json", "--messages").Ends(t, terminal.ExitDone).Out), "view")
}

// The whole output is compared, with all figures.
func TestViewPrintsItsFigures(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "mixed.jsonl", mixed)
	r := programtest.Ran(t, "view", path, "--context-window", "10000", "-q").Ends(t, terminal.ExitDone)
	require.Equal(t, "What the model sees of "+path+`: 5 messages, an estimated 1,234 tokens.

  system        #...................................            7 tokens   <1 %
  summary       ....................................            0 tokens    0 %
  user          #...................................            6 tokens   <1 %
  assistant     #...................................            6 tokens   <1 %
  thinking      #...................................            9 tokens   <1 %
  tool calls    #...................................            1 token    <1 %
  tool results  #...................................            5 tokens   <1 %
  media         ###################################.        1,200 tokens   97 %

  window        ####................................        1,234 tokens   12 %

The window has 10,000 tokens; the context holds 1,234 (estimated).
Compaction is due at 7,500.
`, r.Out)
}

func TestViewAfterCompacting(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.TalkFile(t)
	r := programtest.Ran(t, "view", path, "--compact", "-q").Ends(t, terminal.ExitDone)
	require.Contains(t, r.Out, "covered by the summary")
	require.Contains(t, r.Out, "The window is unknown")
	short := sample.File(t, "short.jsonl", sample.Talk(2))
	programtest.Ran(t, "view", short, "--compact").Ends(t, terminal.ExitDone).Says(t, "not compacted: ")
	require.Contains(t, programtest.Ran(t, "view", short, "--messages").Ends(t, terminal.ExitDone).Out, "#0 user  ")
}

func TestViewInColour(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "mixed.jsonl", mixed)
	colourful := programtest.RunWith(t.Context(), &api.App{Terminal: terminal.Terminal{OutTerminal: true}}, "view", path).Ends(t, terminal.ExitDone)
	require.Contains(t, colourful.Out, "\x1b[32m█")
	t.Setenv("NO_COLOR", "1")
	plain := programtest.RunWith(t.Context(), &api.App{Terminal: terminal.Terminal{OutTerminal: true}}, "view", path).Ends(t, terminal.ExitDone)
	require.NotContains(t, plain.Out, "\x1b")
}

// On a terminal, and only there, the context is drawn over the log.
func TestViewDrawsACurveOnATerminal(t *testing.T) {
	path := sample.TalkFile(t)
	a := &api.App{Terminal: terminal.Terminal{Stdin: strings.NewReader(""), OutTerminal: true, Columns: 60}}
	drawn := programtest.RunWith(t.Context(), a, "view", path, "--compact", "--context-window", "60000").Ends(t, terminal.ExitDone).Out
	sample.Contains(t, drawn, "The context over the log, by its estimates:\n")
	sample.Contains(t, drawn, "window 60,000\n")
	plain := programtest.Ran(t, "view", path, "--compact", "--context-window", "60000").Ends(t, terminal.ExitDone).Out
	require.NotContains(t, plain, "over the log")
	require.NotContains(t, plain, "\x1b")
}

// On a terminal, and only there, a comparison is drawn, too.
func TestComparisonIsDrawnOnATerminal(t *testing.T) {
	path := sample.TalkFile(t)
	run := func(onTerminal bool, args ...string) string {
		a := &api.App{Terminal: terminal.Terminal{Stdin: strings.NewReader(""), OutTerminal: onTerminal, Columns: 60}}
		return programtest.RunWith(t.Context(), a, append([]string{"compare", path, "--preset", "default", "--preset", "masking"}, args...)...).
			Ends(t, terminal.ExitDone).Out
	}
	drawn := run(true)
	sample.Contains(t, drawn, "The view after the one compaction:\n")
	sample.Contains(t, drawn, "The requests under default:\n")
	sample.Contains(t, drawn, "The requests under masking:\n")
	for _, out := range []string{run(false), run(true, "--json")} {
		require.NotContains(t, out, "The requests under")
	}
}
