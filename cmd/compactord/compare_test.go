package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/strategies"
)

// comparedDocument is the document of `compare --json`, as its help tells it.
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
			TokensBefore  uint64            `json:"tokens_before"`
			TokensAfter   uint64            `json:"tokens_after"`
			MessagesKept  int               `json:"messages_kept"`
			ResultsHidden int               `json:"results_hidden"`
			Edits         map[string]uint32 `json:"edits"`
			Summary       bool              `json:"summary"`
			Skipped       *skippedJSON      `json:"skipped"`
		} `json:"once"`
		Replay *replayFigures `json:"replay"`
		Failed string         `json:"failed"`
	} `json:"presets"`
}

// comparedJSON decodes the document, which must hold nothing that is not documented.
func comparedJSON(t *testing.T, out string) *comparedDocument {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(out))
	decoder.DisallowUnknownFields()
	doc := &comparedDocument{}
	require.NoError(t, decoder.Decode(doc), out)
	return doc
}

func TestCompareAllPresets(t *testing.T) {
	path := talkFile(t)
	doc := comparedJSON(t, ran(t, "compare", path, "--json", "-q").ends(t, exitDone).out)
	names := make([]string, len(doc.Presets))
	for i, p := range doc.Presets {
		names[i] = p.Name
		require.Empty(t, p.Failed, p.Name)
		require.EqualValues(t, 240, p.Replay.Requests, p.Name)
	}
	require.Equal(t, strategies.PresetNames(), names)
	require.Equal(t, path, doc.File)
	require.Equal(t, 480, doc.Messages)
	require.EqualValues(t, windowFor(uint32(doc.Tokens)), doc.ContextWindow)
	require.Equal(t, "default", doc.Presets[0].Name)
	once, replay := doc.Presets[0].Once, doc.Presets[0].Replay
	require.Equal(t, doc.Tokens, once.TokensBefore)
	require.Less(t, once.TokensAfter, once.TokensBefore)
	require.Nil(t, once.Skipped)
	require.Positive(t, replay.Rewrites)
	require.Less(t, replay.ReusedTokens, replay.SentTokens)
}

func TestCompareIsPrintedInATable(t *testing.T) {
	temporaryFolder(t)
	r := ran(t, "compare", talkFile(t), "--preset", "pi", "--preset", "default,pi", "--window", "40000").ends(t, exitDone)
	contains(t, r.out, "The window: 40,000 tokens.\n")
	require.Regexp(t, `(?m)^PRESET +BEFORE +AFTER +LESS +KEPT +HIDDEN +OTHER EDITS +SUMMARY$`, r.out)
	require.Regexp(t, `(?m)^PRESET +DUE AT +REWRITES +PEAK +WINDOW +OVER +SENT +REUSED +LAST +MESSAGES$`, r.out)
	require.Len(t, strings.Split(r.out, "\npi  "), 3, "once in each table, however often it is named")
	require.Regexp(t, `(?m)^pi +30,000 `, r.out, "the window less a quarter of it")
	require.Regexp(t, `(?m)^default +30,000 `, r.out, "three quarters of the window")
	for line := range strings.Lines(r.out) {
		if !strings.Contains(line, ".jsonl") {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), 100, line)
		}
	}
	r.says(t, "replaying under pi\nreplaying under default\n")
}

// Messages of 1,000 tokens each: requests of 1,000, 3,000 and 5,000.
func TestCompareWhatIsTooShort(t *testing.T) {
	temporaryFolder(t)
	line := func(role string) string {
		return fmt.Sprintf(`{"role":%q,"content":%q}`+"\n", role, strings.Repeat("word", 1000))
	}
	path := file(t, "short.jsonl", strings.Repeat(line("user")+line("assistant"), 3))
	r := ran(t, "compare", path, "--json", "--preset", "hybrid").ends(t, exitNothing).
		says(t, "nothing to do: in this window the transcript is left as it is under every preset\n"+
			"In a smaller window they may differ: compactord compare "+path+" --json --preset hybrid --context-window 4000\n")
	doc := comparedJSON(t, r.out)
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
		ran(t, "compare", path, "--preset", "hybrid").ends(t, exitNothing).out)
}

// A preset that is disabled for want of room says so, and what would help.
func TestCompareSaysWhyAPresetIsNeverDue(t *testing.T) {
	temporaryFolder(t)
	path := talkFile(t)
	r := ran(t, "compare", path, "--preset", "klaude,pi", "--window", "32000").ends(t, exitDone)
	require.Regexp(t, `(?m)^klaude +never `, r.out)
	unwrapped := strings.Join(strings.Fields(r.out), " ")
	contains(t, unwrapped, "Under klaude it is never due: the output limit is unknown, and what is taken for it leaves nothing of "+
		"the window. --max-output-tokens gives it.")
	require.NotContains(t, unwrapped, "Under pi")
	_, tables, _ := strings.Cut(r.out, "\n")
	narrow(t, tables)
	doc := comparedJSON(t, ran(t, "compare", path, "--preset", "klaude,pi", "--window", "32000", "--json").ends(t, exitDone).out)
	require.True(t, doc.Presets[0].Replay.Disabled)
	require.False(t, doc.Presets[1].Replay.Disabled)

	r = ran(t, "compare", path, "--preset", "klaude", "--window", "32000", "--max-output", "8000").ends(t, exitDone)
	require.Regexp(t, `(?m)^klaude +18,000 `, r.out, "three quarters of 24,000")
	require.NotContains(t, r.out, "never")
	r = ran(t, "compare", path, "--preset", "klaude", "--window", "32000", "--max-output", "32000").ends(t, exitDone)
	contains(t, r.out, "Under klaude it is never due: the output limit leaves nothing of what the model can read.\n")

	contains(t, ran(t, "strategies", "klaude", "--window", "32000").ends(t, exitDone).out,
		"With these limits it is never due: the output limit is unknown,")
	for _, limits := range [][]string{{}, {"--window", "32001"}, {"--window", "32000", "--max-output", "8000"}} {
		require.NotContains(t, ran(t, append([]string{"strategies", "klaude"}, limits...)...).ends(t, exitDone).out, "never due: the")
	}
}

// What providers reported of other views, and what other tools compacted, does not count.
func TestCompareLeavesOutReports(t *testing.T) {
	temporaryFolder(t)
	pi := `{"type":"session","id":"x","version":3,"timestamp":"2026-01-01T00:00:00Z","cwd":"/"}
{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"Hello there.","timestamp":1}}
{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":[{"type":"text","text":"Hello."}],"usage":{"input":900000,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":900005},"stopReason":"stop","timestamp":2}}
{"type":"compaction","id":"k","parentId":"b","timestamp":"2026-01-01T00:00:00Z","summary":"They said hello.","firstKeptEntryId":"b","tokensBefore":900005}
{"type":"message","id":"c","parentId":"k","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":"Goodbye.","timestamp":3}}
{"type":"message","id":"d","parentId":"c","timestamp":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":[{"type":"text","text":"Goodbye."}],"stopReason":"stop","timestamp":4}}
`
	doc := comparedJSON(t, ran(t, "compare", file(t, "pi.jsonl", pi), "--json", "--preset", "pi").ends(t, exitNothing).out)
	require.EqualValues(t, 3+2+2+2, doc.Tokens)
	require.EqualValues(t, 9, doc.Presets[0].Once.TokensBefore)
	require.EqualValues(t, 3+2+2, doc.Presets[0].Replay.PeakTokens)
}

func TestCompareRefuses(t *testing.T) {
	temporaryFolder(t)
	path := file(t, "talk.jsonl", talk(3))
	for _, test := range []struct {
		code int
		args []string
		says string
	}{
		{exitUsage, []string{}, "<file>"},
		{exitUsage, []string{path, "--preset", "nope"}, `there is no preset "nope"; there are default, pi`},
		{exitUsage, []string{path, "--window", "0"}, "policy.context_window"},
		{exitUsage, []string{path, "--window", "-1"}, "--context-window"},
		{exitUsage, []string{path, "--format", "nope"}, "there is no format \"nope\"; there are pi, claude-code"},
		{exitFailed, []string{path + "x"}, "there is no such file"},
		{exitFailed, []string{file(t, "bad.jsonl", "hello")}, "the format is not recognized"},
		{exitFailed, []string{file(t, "empty.jsonl", "")}, "the input is empty"},
		{exitNothing, []string{file(t, "none.jsonl",
			`{"type":"session","id":"x","version":3,"timestamp":"2026-01-01T00:00:00Z","cwd":"/"}`)}, "holds no messages"},
	} {
		r := ran(t, append([]string{"compare"}, test.args...)...)
		r.ends(t, test.code).says(t, test.says)
		require.Empty(t, r.out, test.args)
	}
}

func TestCompareIsInterrupted(t *testing.T) {
	temporaryFolder(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	h := &held{make(chan struct{})}
	go func() {
		<-h.reached
		cancel(errInterrupted)
	}()
	r := runWith(ctx, &app{terminal: terminal{stdin: strings.NewReader("")}, summarizer: h}, "compare", talkFile(t), "--preset", "pi")
	r.ends(t, exitFailed).says(t, "compactord: interrupted\nThe file is as it was.\n")
	require.Empty(t, r.out)
}

// One preset that fails does not hide what the others come to.
func TestCompareWithAFailure(t *testing.T) {
	c := &comparison{file: &readFile{name: "x"}, trials: []*trial{
		{preset: "a", once: &onceFigures{}, replay: &replayFigures{Rewrites: 1}},
		{preset: "b", failed: fmt.Errorf("out of luck")},
	}}
	window := uint32(8000)
	c.limits.ContextWindow = &window
	var out strings.Builder
	c.print(&out)
	contains(t, out.String(), "\nb       failed\n")
	contains(t, out.String(), "\nFailed:\n\n  b            out of luck\n")
	err := c.ending()
	require.EqualError(t, err, "1 of 2 presets failed: b")
	require.Equal(t, exitFailed, exitCode(err))
}

func TestWindowForATranscript(t *testing.T) {
	for tokens, window := range map[uint32]uint32{
		0: 8000, 11_999: 8000, 12_000: 8000, 12_001: 8100, 131_361: 88_000, 150_000: 100_000, 150_001: 110_000,
		4_000_000_000: 100_000_000,
	} {
		require.Equal(t, window, windowFor(tokens), "%d tokens", tokens)
	}
}

// On recorded conversations the figures keep together, whatever is in them.
func TestCompareOnTheCorpus(t *testing.T) {
	folder := corpus(t)
	temporaryFolder(t)
	paths := transcriptsOf(t, folder)
	most := 5
	if testing.Short() {
		most = 2
	}
	for i := 0; i < len(paths); i += max(1, len(paths)/most) {
		name, err := filepath.Rel(folder, paths[i])
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) {
			r := ran(t, "compare", paths[i], "--json", "--preset", "default,pi,hybrid")
			require.Contains(t, []int{exitDone, exitNothing}, r.code, r.err)
			if r.out == "" {
				return
			}
			for _, p := range comparedJSON(t, r.out).Presets {
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
