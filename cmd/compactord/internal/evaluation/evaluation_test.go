package evaluation_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/api"
	"github.com/compactord/compactord/cmd/compactord/internal/evaluation"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// example is the example transcript, in which names of the older part are needed later.
var example = filepath.Join("..", "..", "..", "..", "examples", "transcript", "session.jsonl")

func evaluated(t *testing.T, args ...string) *evaluation.Report {
	t.Helper()
	r := programtest.Ran(t, append([]string{"evaluate", "--json", "-q"}, args...)...).Ends(t, terminal.ExitDone)
	var report evaluation.Report
	require.NoError(t, json.Unmarshal([]byte(r.Out), &report))
	return &report
}

func TestEvaluate(t *testing.T) {
	sample.TemporaryFolder(t)
	page := filepath.Join(t.TempDir(), "page.html")
	r := programtest.Ran(t, "evaluate", example, "--preset", "default", "--preset", "xbot", "--html", page).Ends(t, terminal.ExitDone)
	for _, part := range []string{
		"session: 398 messages, ", "\ndefault ", "\nxbot ", "\nThe least possible cost: ", "\nextractive ", "\nnames by frequency ",
		"\nWhat was lost, for example", "\nThe page: " + page,
	} {
		sample.Contains(t, r.Out, part)
	}
	sample.Narrow(t, strings.ReplaceAll(r.Out, page, ""))
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, 4, strings.Count(string(text), "<svg"))
	require.NotContains(t, string(text), "<script")
	require.NotContains(t, string(text), "ZgotmplZ", "the template took a value for unsafe")
	require.NotRegexp(t, `(src|href)="[^#]`, string(text), "the page needs nothing from elsewhere")
	wellFormed(t, string(text))
	r = programtest.Ran(t, "evaluate", example, "--preset", "xbot", "--figures-only", "--budget", "64").Ends(t, terminal.ExitDone)
	require.NotContains(t, r.Out, "What was lost")
}

// wellFormed requires that all elements are closed.
func wellFormed(t *testing.T, page string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(page))
	decoder.Strict, decoder.AutoClose, decoder.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
	}
}

// The cost of each preset adds up, what is reachable or held is not lost, and the best timing is the cheapest.
func TestFiguresOfAnEvaluation(t *testing.T) {
	sample.TemporaryFolder(t)
	r := evaluated(t, example, "--preset", "default,pi,xbot,masking", "--budget", "500,1000")
	require.Len(t, r.Presets, 4)
	require.Equal(t, 43, r.Transcripts[0].Needed)
	require.Len(t, r.Transcripts[0].Cuts, 7)
	for _, p := range r.Presets {
		require.Equal(t, r.Transcripts[0].Requests, p.Requests)
		require.Equal(t, p.SentTokens, p.ReadTokens+p.WriteTokens+p.PlainTokens)
		require.Less(t, p.Dollars, p.Uncached)
		require.NotNil(t, p.Recall)
		require.Equal(t, 43, p.Recall.Needed)
		require.InDelta(t, 1-float64(p.LostCount)/43, p.Recall.Kept.Mean, 1e-9)
		require.LessOrEqual(t, p.Recall.InContext.Mean, 1.0)
		for _, lost := range p.Lost {
			require.Contains(t, lost.Excerpt, lost.Value)
			require.Less(t, lost.Sources[0], lost.End)
			require.GreaterOrEqual(t, lost.UsedAt, lost.End)
		}
	}
	for _, trigger := range r.Optimum.Triggers {
		require.GreaterOrEqual(t, trigger.Dollars, r.Optimum.Dollars)
	}
	for _, s := range r.Summaries {
		require.LessOrEqual(t, s.Used, 1.0)
	}
	require.Equal(t, "extractive", r.Summaries[0].Writer)
	require.False(t, r.Summaries[0].Baseline)
	require.True(t, r.Summaries[2].Baseline)
}

// Each price changes the cost as it should.
func TestPrices(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.TalkFile(t)
	dollars := func(args ...string) float64 {
		return evaluated(t, append([]string{path, "--preset", "xbot", "--budget", "64"}, args...)...).Presets[0].Dollars
	}
	usual := dollars()
	require.InDelta(t, 2*usual, dollars("--price", "6"), 1e-9)
	require.Greater(t, dollars("--cache-write", "2"), usual)
	require.Less(t, dollars("--cache-read", "0"), usual)
	require.NotEqual(t, usual, dollars("--cache-model", "breakpoints"))
}

// The output does not depend on how many jobs run at the same time.
func TestSameOutputWithAnyNumberOfJobs(t *testing.T) {
	sample.TemporaryFolder(t)
	folder := t.TempDir()
	content, err := os.ReadFile(example)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "b.jsonl"), content, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "a.jsonl"), []byte(sample.Talk(120)), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "notes.txt"), []byte("no transcript"), 0o600))
	presets, budgets := "default,pi,xbot", "1000,2000,4000"
	if testing.Short() {
		presets, budgets = "pi,xbot", "1000,2000"
		t.Log("two presets and two budgets: -short")
	}
	run := func(jobs string) (document, page string) {
		path := filepath.Join(t.TempDir(), "page.html")
		r := programtest.Ran(t, "evaluate", folder, "--json", "-q", "--preset", presets, "--budget", budgets, "--jobs", jobs, "--html", path).Ends(t, terminal.ExitDone)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return r.Out, string(text)
	}
	document, page := run("1")
	again, pageAgain := run("7")
	require.Equal(t, document, again)
	require.Equal(t, page, pageAgain)
	require.Less(t, strings.Index(document, `"name": "a"`), strings.Index(document, `"name": "b"`))
}

// A file that cannot be read does not keep the others from being evaluated.
func TestUnreadFiles(t *testing.T) {
	sample.TemporaryFolder(t)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "a.json"), []byte("no transcript"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "b.jsonl"), []byte(sample.Talk(40)), 0o600))
	r := programtest.Ran(t, "evaluate", folder, "--preset", "pi").Ends(t, terminal.ExitFailed)
	require.Contains(t, r.Err, "1 of 2 files could not be read")
	require.Contains(t, r.Out, "\nNot read:\n")
	require.Contains(t, r.Out, "\npi ")
	programtest.Ran(t, "evaluate", filepath.Join(folder, "nowhere")).Ends(t, terminal.ExitFailed).Says(t, "there is no such file")
	programtest.Ran(t, "evaluate", t.TempDir()).Ends(t, terminal.ExitUsage).Says(t, "has no *.jsonl or *.json files")
}

// A page that cannot be written is refused before anything is measured.
func TestPageWithoutAFolder(t *testing.T) {
	sample.TemporaryFolder(t)
	folder := t.TempDir()
	for path, says := range map[string]string{
		filepath.Join(folder, "nowhere", "page.html"): "--html: there is no folder ",
		folder: "is a folder",
	} {
		r := programtest.Ran(t, "evaluate", example, "--html", path).Ends(t, terminal.ExitUsage).Says(t, says)
		require.Empty(t, r.Out)
		require.NotContains(t, r.Err, "evaluating")
	}
}

// A transcript without cuts has costs and no recall.
func TestShortTranscript(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "talk.jsonl", sample.Talk(30))
	r := evaluated(t, path, "--preset", "pi")
	require.Nil(t, r.Presets[0].Recall)
	require.Positive(t, r.Presets[0].Dollars)
	require.Empty(t, r.Summaries)
	require.Contains(t, programtest.Ran(t, "evaluate", path, "--preset", "pi").Ends(t, terminal.ExitDone).Out, "Recall is not measured")
	programtest.Ran(t, "evaluate", path, "--recall-only").Ends(t, terminal.ExitNothing)
}

// A bug under one preset is shown in its row, and the others are evaluated.
func TestFailedPreset(t *testing.T) {
	sample.TemporaryFolder(t)
	a := &api.App{Summarizer: programtest.Panicking{}}
	r := programtest.RunWith(t.Context(), a, "evaluate", sample.File(t, "talk.jsonl", sample.Talk(120)), "-q", "--preset", "pi", "--preset", "klip13")
	r.Ends(t, terminal.ExitFailed).Says(t, "1 of 2 presets failed")
	sample.Contains(t, r.Out, "\npi      failed: INTERNAL\n")
	require.Regexp(t, `(?m)^klip13 +[0-9.]+ `, r.Out)
	sample.Contains(t, r.Out, "\nFailed:\n")
}

// A summary in the file is scored with what was needed after it.
func TestSummariesInTheFile(t *testing.T) {
	sample.TemporaryFolder(t)
	lines := []string{
		`{"role": "user", "content": "parse_header fails in pkg/header.go, since the line is empty."}`,
		`{"role": "assistant", "content": "I look."}`,
		`{"role": "_compaction", "first_kept": 3, "summary": "parse_header fails since the line is empty; new_made_up is the cause."}`,
		`{"role": "user", "content": "Go on."}`,
		`{"role": "assistant", "content": "I fixed parse_header in pkg/header.go."}`,
	}
	path := sample.File(t, "talk.jsonl", strings.Join(lines, "\n"))
	r := evaluated(t, path, "--recall-only")
	require.Equal(t, "recorded", r.Recorded[0].Writer)
	recall := r.Recorded[0].Recall
	require.Equal(t, 2, recall.Needed)
	require.InDelta(t, 0.5, recall.Held.Mean, 1e-9)
	require.InDelta(t, 0.5, recall.InContext.Mean, 1e-9)
	require.InDelta(t, 0.5, recall.Absent, 1e-9, "of the two names in the summary one is made up")
	require.Len(t, r.Recorded, 8, "and of each writer")
	require.Equal(t, "extractive", r.Recorded[1].Writer)
	sample.Contains(t, programtest.Ran(t, "evaluate", path, "--recall-only").Ends(t, terminal.ExitDone).Out, "\nrecorded ")
}
