package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// A bug printed pages of a stack on the terminal, with -q too.
func TestStackOfABugIsForWhoAsksForIt(t *testing.T) {
	temporaryFolder(t)
	run := func(args ...string) string {
		return runWith(t.Context(), &app{summarizer: panicking{}}, append([]string{"compact", talkFile(t)}, args...)...).ends(t, exitFailed).err
	}
	plain := run()
	require.Contains(t, plain, "level=ERROR msg=panicked")
	require.NotContains(t, plain, "goroutine")
	require.NotContains(t, plain, "stack=")

	quiet := run("-q")
	require.Len(t, strings.Split(strings.TrimSpace(quiet), "\n"), 2, quiet)
	require.True(t, strings.HasPrefix(quiet, "compactord: summarizer extractive failed: internal error "), quiet)

	for _, level := range []string{"info", "warn", "error"} {
		require.NotContains(t, run("--log-level", level), "goroutine", level)
	}
	debug := run("-q", "--log-level", "debug")
	require.Contains(t, debug, "compact_test.go")
	require.Contains(t, debug, "\nPlease report it, with what you did.\n")

	runWith(t.Context(), &app{}, "compact", talkFile(t), "--log-level", "loud").ends(t, exitUsage).says(t, "--log-level")
}

// broken is a standard error with a bug, which strikes once.
type broken struct {
	strings.Builder
	struck bool
}

// Write panics when the command, and not the service's log, has something to tell.
func (b *broken) Write(p []byte) (int, error) {
	if !b.struck && strings.HasPrefix(string(p), "reading ") {
		b.struck = true
		panic(errors.New("secret"))
	}
	return b.Builder.Write(p)
}

// A bug of a command itself is told as one too, and not by the stack of the runtime.
func TestPanicOfACommandIsTold(t *testing.T) {
	temporaryFolder(t)
	path := talkFile(t)
	run := func(args ...string) string {
		var told broken
		a := &app{terminal: terminal{stdin: strings.NewReader(""), stdout: io.Discard, stderr: &told}}
		require.Equal(t, exitFailed, run(t.Context(), a, append([]string{"view", path}, args...)))
		return told.String()
	}
	require.Equal(t, "compactord: this is a bug: the program panicked with a *errors.errorString\n"+
		"Please report it, with what you did and with what --log-level debug prints.\n", run())
	debug := run("--log-level", "debug")
	require.Contains(t, debug, "diagnosis_test.go")
	require.NotContains(t, debug, "secret")
}

// panickingOnKimi is a summarizer with a bug in one set of sections.
type panickingOnKimi struct{ extractive.Summarizer }

func (s *panickingOnKimi) Summarize(
	ctx context.Context, req *summarizers.Request, p summarizers.Progress,
) (*summarizers.Summary, error) {
	if req.Sections == compactordv1.SectionSet_SECTION_SET_KIMI {
		panic("a bug")
	}
	return s.Summarizer.Summarize(ctx, req, p)
}

// A bug under one preset, or under all, took the table with it.
func TestCompareTellsAFailureInItsRow(t *testing.T) {
	temporaryFolder(t)
	path := talkFile(t)
	compare := func(args ...string) answer {
		return runWith(t.Context(), &app{summarizer: &panickingOnKimi{}}, append([]string{"compare", path, "-q"}, args...)...).ends(t, exitFailed)
	}
	for presets, says := range map[string]string{"kimi,pi": "1 of 2 presets failed: kimi", "kimi": "1 of 1 preset failed: kimi"} {
		r := compare("--preset", presets)
		require.Equal(t, 2, strings.Count(r.out, "\nkimi    failed: INTERNAL\n"), r.out)
		require.Regexp(t, `(?m)^Failed:\n\n  kimi +summarizer extractive failed: internal error [0-9a-f-]+: this is a bug`, r.out)
		require.Equal(t, "compactord: "+says+"\nPlease report it, with what you did and with what --log-level debug prints.\n", r.err)
		if presets != "kimi" {
			require.Regexp(t, `(?m)^pi +[0-9,]+ +[0-9,]+ `, r.out)
			narrow(t, r.out[strings.Index(r.out, "The whole transcript"):strings.Index(r.out, "Failed:")])
		}
	}
	doc := comparedJSON(t, compare("--preset", "kimi,pi", "--json").out)
	require.Contains(t, doc.Presets[0].Failed, "(INTERNAL)")
	require.Nil(t, doc.Presets[0].Once)
	require.Nil(t, doc.Presets[0].Replay)
	require.Empty(t, doc.Presets[1].Failed)
	require.NotNil(t, doc.Presets[1].Once)
	require.NotNil(t, doc.Presets[1].Replay)
	require.Len(t, comparedJSON(t, compare("--preset", "kimi", "--json").out).Presets, 1)
}

// What one of the two runs comes to is shown where the other fails.
func TestCompareShowsTheRunThatEnds(t *testing.T) {
	c := &comparison{file: &readFile{name: "x"}, trials: []*trial{{preset: "a", replay: &replayFigures{PeakTokens: 4711}, failed: fmt.Errorf("no luck")}}}
	window := uint32(8000)
	c.limits.ContextWindow = &window
	var out strings.Builder
	c.print(&out)
	contains(t, out.String(), "\na       failed\n")
	contains(t, out.String(), " 4,711 ")
}
