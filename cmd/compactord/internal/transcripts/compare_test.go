package transcripts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/replay"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/cmd/compactord/internal/transcripts"
	"github.com/compactord/compactord/strategies"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// comparedDocument is the document of `compare --json` as its help describes it.
type comparedDocument struct {
	File          string   `json:"file"`
	Messages      int      `json:"messages"`
	Tokens        uint64   `json:"tokens"`
	ContextWindow uint64   `json:"context_window"`
	LeftOut       uint64   `json:"compactions_left_out"`
	Notes         []string `json:"notes"`
	Presets       []struct {
		Name string `json:"name"`
		Once *struct {
			TokensBefore  uint64                   `json:"tokens_before"`
			TokensAfter   uint64                   `json:"tokens_after"`
			MessagesKept  int                      `json:"messages_kept"`
			ResultsHidden int                      `json:"results_hidden"`
			Edits         map[string]uint32        `json:"edits"`
			Summary       bool                     `json:"summary"`
			Skipped       *transcripts.SkippedJSON `json:"skipped"`
		} `json:"once"`
		Replay *replay.Figures `json:"replay"`
		Failed string          `json:"failed"`
	} `json:"presets"`
}

// comparedJSON decodes the document. Undocumented fields are errors.
func comparedJSON(t *testing.T, out string) *comparedDocument {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(out))
	decoder.DisallowUnknownFields()
	doc := &comparedDocument{}
	require.NoError(t, decoder.Decode(doc), out)
	return doc
}

func TestCompareAllPresets(t *testing.T) {
	path := sample.TalkFile(t)
	doc := comparedJSON(t, programtest.Ran(t, "compare", path, "--json", "-q").Ends(t, terminal.ExitDone).Out)
	names := make([]string, len(doc.Presets))
	for i, p := range doc.Presets {
		names[i] = p.Name
		require.Empty(t, p.Failed, p.Name)
		require.EqualValues(t, 240, p.Replay.Requests, p.Name)
	}
	require.Equal(t, strategies.PresetNames(), names)
	require.Equal(t, path, doc.File)
	require.Equal(t, 480, doc.Messages)
	require.EqualValues(t, replay.WindowFor(uint32(doc.Tokens)), doc.ContextWindow)
	require.Equal(t, "default", doc.Presets[0].Name)
	once, replay := doc.Presets[0].Once, doc.Presets[0].Replay
	require.Equal(t, doc.Tokens, once.TokensBefore)
	require.Less(t, once.TokensAfter, once.TokensBefore)
	require.Nil(t, once.Skipped)
	require.Positive(t, replay.Rewrites)
	require.Less(t, replay.ReusedTokens, replay.SentTokens)
}

func TestCompareIsPrintedInATable(t *testing.T) {
	sample.TemporaryFolder(t)
	r := programtest.Ran(t, "compare", sample.TalkFile(t), "--preset", "pi", "--preset", "default,pi", "--window", "40000").Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "The window: 40,000 tokens.\n")
	require.Regexp(t, `(?m)^PRESET +BEFORE +AFTER +LESS +KEPT +HIDDEN +OTHER EDITS +SUMMARY$`, r.Out)
	require.Regexp(t, `(?m)^PRESET +DUE AT +REWRITES +PEAK +WINDOW +OVER +SENT +REUSED +LAST +MESSAGES$`, r.Out)
	require.Len(t, strings.Split(r.Out, "\npi  "), 3, "once in each table, however often it is named")
	require.Regexp(t, `(?m)^pi +30,000 `, r.Out, "the window less a quarter of it")
	require.Regexp(t, `(?m)^default +30,000 `, r.Out, "three quarters of the window")
	for line := range strings.Lines(r.Out) {
		if !strings.Contains(line, ".jsonl") {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), 100, line)
		}
	}
	r.Says(t, "replaying under pi\nreplaying under default\n")
}

// Messages of 1,000 tokens each: requests of 1,000, 3,000 and 5,000.
func TestCompareWhatIsTooShort(t *testing.T) {
	sample.TemporaryFolder(t)
	line := func(role string) string {
		return fmt.Sprintf(`{"role":%q,"content":%q}`+"\n", role, strings.Repeat("word", 1000))
	}
	path := sample.File(t, "short.jsonl", strings.Repeat(line("user")+line("assistant"), 3))
	r := programtest.Ran(t, "compare", path, "--json", "--preset", "hybrid").Ends(t, terminal.ExitNothing).
		Says(t, "nothing to do: in this window no preset changes the transcript\n"+
			"In a smaller window they may: compactord compare "+path+" --json --preset hybrid --context-window 4000\n")
	doc := comparedJSON(t, r.Out)
	require.EqualValues(t, 6000, doc.Tokens)
	require.EqualValues(t, 8000, doc.ContextWindow)
	p := doc.Presets[0]
	require.Equal(t, "SKIP_REASON_NOTHING_TO_COMPACT", p.Once.Skipped.Reason)
	require.Equal(t, p.Once.TokensBefore, p.Once.TokensAfter)
	require.Equal(t, 6, p.Once.MessagesKept)
	require.EqualValues(t, 9000, p.Replay.SentTokens)
	require.EqualValues(t, 4000, p.Replay.ReusedTokens)
	require.EqualValues(t, 5000, p.Replay.PeakTokens)
	require.Regexp(t, `(?m)^hybrid +6,000 +6,000 +0 % +6 +0 +0 +nothing to compact$`,
		programtest.Ran(t, "compare", path, "--preset", "hybrid").Ends(t, terminal.ExitNothing).Out)
}

// Instructions that reach the trigger are named under the table.
func TestCompareSaysWhatReachesTheTrigger(t *testing.T) {
	sample.TemporaryFolder(t)
	line := func(role string, words int) string {
		return fmt.Sprintf(`{"role":%q,"content":%q}`+"\n", role, strings.Repeat("word", words))
	}
	path := sample.File(t, "long.jsonl", line("system", 4000)+strings.Repeat(line("user", 300)+line("assistant", 300), 10))
	args := []string{"compare", path, "--preset", "klaude,pi", "--window", "8000"}
	r := programtest.Ran(t, args...).Ends(t, terminal.ExitDone)
	unwrapped := strings.Join(strings.Fields(r.Out), " ")
	sample.Contains(t, unwrapped, "Under klaude 10 requests were above DUE AT because of up to 4,300 tokens that no compaction can remove")
	require.NotContains(t, unwrapped, "Under pi")
	replays := comparedJSON(t, programtest.Ran(t, append(args, "--json")...).Ends(t, terminal.ExitDone).Out)
	require.Zero(t, replays.Presets[0].Replay.RequestsOverWindow)
	require.EqualValues(t, 10, replays.Presets[0].Replay.RequestsUnreachable)
	evaluated := programtest.Ran(t, "evaluate", path, "--preset", "klaude,pi", "--window", "8000").Ends(t, terminal.ExitDone).Out
	sample.Contains(t, evaluated, "Under klaude 10 requests were above the trigger because of what no compaction can remove.\n")
	require.NotContains(t, evaluated, "Under pi")
}

// A preset that is disabled because its reserve takes the window says so, and what to do.
func TestCompareSaysWhyAPresetIsNeverDue(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.TalkFile(t)
	r := programtest.Ran(t, "compare", path, "--preset", "klaude,pi", "--window", "32000", "--max-output", "32000").Ends(t, terminal.ExitDone)
	require.Regexp(t, `(?m)^klaude +never `, r.Out)
	unwrapped := strings.Join(strings.Fields(r.Out), " ")
	sample.Contains(t, unwrapped, "Under klaude compaction is never due: the output limit leaves no room for input.")
	require.NotContains(t, unwrapped, "Under pi")
	_, tables, _ := strings.Cut(r.Out, "\n")
	sample.Narrow(t, tables)
	doc := comparedJSON(t, programtest.Ran(t, "compare", path, "--preset", "klaude,pi", "--window", "32000", "--max-output", "32000", "--json").Ends(t, terminal.ExitDone).Out)
	require.True(t, doc.Presets[0].Replay.Disabled)
	require.False(t, doc.Presets[1].Replay.Disabled)

	r = programtest.Ran(t, "compare", path, "--preset", "klaude", "--window", "32000", "--max-output", "8000").Ends(t, terminal.ExitDone)
	require.Regexp(t, `(?m)^klaude +18,000 `, r.Out, "three quarters of 24,000")
	require.NotContains(t, r.Out, "never")
	r = programtest.Ran(t, "compare", path, "--preset", "klaude", "--window", "32000").Ends(t, terminal.ExitDone)
	require.Regexp(t, `(?m)^klaude +12,000 `, r.Out, "three quarters of half of the window")

	for _, limits := range [][]string{{}, {"--window", "32000"}, {"--window", "32000", "--max-output", "8000"}} {
		require.NotContains(t, programtest.Ran(t, append([]string{"strategies", "klaude"}, limits...)...).Ends(t, terminal.ExitDone).Out, "never due: the")
	}
}

// Usage reports and compactions in the file are ignored.
func TestCompareLeavesOutReports(t *testing.T) {
	sample.TemporaryFolder(t)
	pi := `{"type":"session","id":"x","version":3,"timestamp":"2026-01-01T00:00:00Z","cwd":"/"}
{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"Hello there.","timestamp":1}}
{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":[{"type":"text","text":"Hello."}],"usage":{"input":900000,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":900005},"stopReason":"stop","timestamp":2}}
{"type":"compaction","id":"k","parentId":"b","timestamp":"2026-01-01T00:00:00Z","summary":"They said hello.","firstKeptEntryId":"b","tokensBefore":900005}
{"type":"message","id":"c","parentId":"k","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"Goodbye.","timestamp":3}}
{"type":"message","id":"d","parentId":"c","timestamp":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":[{"type":"text","text":"Goodbye."}],"stopReason":"stop","timestamp":4}}
`
	doc := comparedJSON(t, programtest.Ran(t, "compare", sample.File(t, "pi.jsonl", pi), "--json", "--preset", "pi").Ends(t, terminal.ExitNothing).Out)
	require.EqualValues(t, 3+2+2+2, doc.Tokens)
	require.EqualValues(t, 9, doc.Presets[0].Once.TokensBefore)
	require.EqualValues(t, 3+2+2, doc.Presets[0].Replay.PeakTokens)
}

func TestCompareRefuses(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "talk.jsonl", sample.Talk(3))
	for _, test := range []struct {
		code int
		args []string
		says string
	}{
		{terminal.ExitUsage, []string{}, "<file>"},
		{terminal.ExitUsage, []string{path, "--preset", "nope"}, `there is no preset "nope"; there are default, pi`},
		{terminal.ExitUsage, []string{path, "--window", "0"}, "--context-window"},
		{terminal.ExitUsage, []string{path, "--window", "-1"}, "--context-window"},
		{terminal.ExitUsage, []string{path, "--format", "nope"}, "there is no format \"nope\"; there are pi, claude-code"},
		{terminal.ExitFailed, []string{path + "x"}, "there is no such file"},
		{terminal.ExitFailed, []string{sample.File(t, "bad.jsonl", "hello")}, "the format is not recognized"},
		{terminal.ExitFailed, []string{sample.File(t, "empty.jsonl", "")}, "the input is empty"},
		{terminal.ExitNothing, []string{sample.File(t, "none.jsonl",
			`{"type":"session","id":"x","version":3,"timestamp":"2026-01-01T00:00:00Z","cwd":"/"}`)}, "has no messages"},
	} {
		r := programtest.Ran(t, append([]string{"compare"}, test.args...)...)
		r.Ends(t, test.code).Says(t, test.says)
		require.Empty(t, r.Out, test.args)
	}
}

func TestCompareIsInterrupted(t *testing.T) {
	sample.TemporaryFolder(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	h := &programtest.Held{Reached: make(chan struct{})}
	go func() {
		<-h.Reached
		cancel(terminal.ErrInterrupted)
	}()
	r := programtest.RunWith(ctx, &api.App{Terminal: terminal.Terminal{Stdin: strings.NewReader("")}, Summarizer: h}, "compare", sample.TalkFile(t), "--preset", "pi")
	r.Ends(t, terminal.ExitFailed).Says(t, "compactord: interrupted\nThe file is unchanged.\n")
	require.Empty(t, r.Out)
}

// The figures of recorded conversations are consistent.
func TestCompareOnTheCorpus(t *testing.T) {
	folder := sample.Corpus(t)
	sample.TemporaryFolder(t)
	paths := sample.TranscriptsOf(t, folder)
	most := 5
	if testing.Short() {
		most = 2
	}
	for i := 0; i < len(paths); i += max(1, len(paths)/most) {
		name, err := filepath.Rel(folder, paths[i])
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) {
			r := programtest.Ran(t, "compare", paths[i], "--json", "--preset", "default,pi,hybrid")
			require.Contains(t, []int{terminal.ExitDone, terminal.ExitNothing}, r.Code, r.Err)
			if r.Out == "" {
				return
			}
			for _, p := range comparedJSON(t, r.Out).Presets {
				require.Empty(t, p.Failed, p.Name)
				f := p.Replay
				require.LessOrEqual(t, f.LastTokens, f.PeakTokens)
				require.LessOrEqual(t, f.Compactions, f.Rewrites)
				if f.Rewrites == 0 && f.Requests > 0 {
					require.Equal(t, f.SentTokens-uint64(f.LastTokens), f.ReusedTokens, "every request is the beginning of the next")
				}
			}
		})
	}
}

// panickingOnKimi is a summarizer that panics on the sections of one preset.
type panickingOnKimi struct{ extractive.Summarizer }

func (s *panickingOnKimi) Summarize(
	ctx context.Context, req *summarizers.Request, p summarizers.Progress,
) (*summarizers.Summary, error) {
	if req.Sections[0].GetTitle() == "Current Focus" {
		panic("a bug")
	}
	return s.Summarizer.Summarize(ctx, req, p)
}

// A bug under one preset used to suppress the whole table.
func TestCompareShowsAFailureInItsRow(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.TalkFile(t)
	compare := func(args ...string) programtest.Answer {
		return programtest.RunWith(t.Context(), &api.App{Summarizer: &panickingOnKimi{}}, append([]string{"compare", path, "-q"}, args...)...).Ends(t, terminal.ExitFailed)
	}
	for presets, says := range map[string]string{"kimi,pi": "1 of 2 presets failed: kimi", "kimi": "1 of 1 preset failed: kimi"} {
		r := compare("--preset", presets)
		require.Equal(t, 2, strings.Count(r.Out, "\nkimi    failed: INTERNAL\n"), r.Out)
		require.Regexp(t, `(?m)^Failed:\n\n  kimi +summarizer extractive failed: internal error [0-9a-f-]+: this is a bug`, r.Out)
		require.Equal(t, "compactord: "+says+"\nPlease report it, with what you did and with what --log-level debug prints.\n", r.Err)
		if presets != "kimi" {
			require.Regexp(t, `(?m)^pi +[0-9,]+ +[0-9,]+ `, r.Out)
			sample.Narrow(t, r.Out[strings.Index(r.Out, "The whole transcript"):strings.Index(r.Out, "Failed:")])
		}
	}
	doc := comparedJSON(t, compare("--preset", "kimi,pi", "--json").Out)
	require.Contains(t, doc.Presets[0].Failed, "(INTERNAL)")
	require.Nil(t, doc.Presets[0].Once)
	require.Nil(t, doc.Presets[0].Replay)
	require.Empty(t, doc.Presets[1].Failed)
	require.NotNil(t, doc.Presets[1].Once)
	require.NotNil(t, doc.Presets[1].Replay)
	require.Len(t, comparedJSON(t, compare("--preset", "kimi", "--json").Out).Presets, 1)
}
