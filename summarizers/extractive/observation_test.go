package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

func observe(t testing.TB, text string, budget uint32) string {
	t.Helper()
	return summarize(t, &summarizers.Request{
		Kind: summarizers.Observation, MaxTokens: budget,
		Result: &summarizers.ToolResult{Index: 7, Text: text, Tool: "bash", Argument: "make"},
	})
}

// output returns the output of a long build with an error in its middle.
func output(lines int) string {
	var b strings.Builder
	for i := range lines {
		if i == lines/2 {
			b.WriteString("main.go:17:3: error: undefined name `flush`\n")
		}
		fmt.Fprintf(&b, "compiling unit %d of %d\n", i, lines)
	}
	return b.String()
}

func TestObservationKeepsHeadTailAndErrors(t *testing.T) {
	t.Parallel()
	text := observe(t, output(2000), 300)
	require.True(t, strings.HasPrefix(text, "compiling unit 0 of 2000\ncompiling unit 1 of 2000\n"), text)
	require.True(t, strings.HasSuffix(text, "\ncompiling unit 1998 of 2000\ncompiling unit 1999 of 2000"), text)
	require.Contains(t, text, "left out ...]\nmain.go:17:3: error: undefined name `flush`\n[... ")
}

// The kept lines and those that the marks count are all lines.
func TestObservationTellsHowManyLinesAreLeftOut(t *testing.T) {
	t.Parallel()
	text := observe(t, output(2000), 300)
	lines, gaps := 0, 0
	for line := range strings.Lines(text) {
		n := 1
		if strings.Contains(line, "left out ...]") {
			gaps++
			_, err := fmt.Sscanf(line, "[... %d line", &n)
			require.NoError(t, err)
		}
		lines += n
	}
	require.Equal(t, 2, gaps)
	require.Equal(t, 2001, lines)
}

func TestObservationOfOneLine(t *testing.T) {
	t.Parallel()
	text := observe(t, `{"first":1,`+strings.Repeat(`"x":0,`, 5000)+`"last":1}`, 300)
	require.True(t, strings.HasPrefix(text, `{"first":1,`), text)
	require.True(t, strings.HasSuffix(text, `"last":1}`), text)
	require.Contains(t, text, " … ")
}

func TestObservationOfWhiteSpace(t *testing.T) {
	t.Parallel()
	require.Equal(t, "(only white space)", observe(t, strings.Repeat("\n ", 5000), 300))
	require.Equal(t, "(only white space)", observe(t, "\n\ufeff\r\u00a0\n", 300), "a byte order mark was refused as an empty text")
}

// The output began with an empty line, so its error was taken for one of the summarizer's.
func TestObservationOfAnErrorAfterAnEmptyLine(t *testing.T) {
	t.Parallel()
	requireObserved(t, "\n Error: E99 broke\n"+output(100))
}

// A tag in the output was taken for thinking, to the end of the text if nothing closed it.
func TestObservationOfATagOfThinkingIsNoThinking(t *testing.T) {
	t.Parallel()
	require.Contains(t, requireObserved(t, "<think>\n"+output(100)), "\\<think>\ncompiling unit 0 of 100\n")
	require.Contains(t, requireObserved(t, "make\n  <thinking>a\n</thinking>\n"+output(100)), "make\n  \\<thinking>a\n</thinking>\n")
}

// requireObserved checks that the shorter text of a result passes the checks, and returns it as views show it.
func requireObserved(t *testing.T, text string) string {
	t.Helper()
	req := &summarizers.Request{
		Kind: summarizers.Observation, MaxTokens: 200, Replaces: 2000, Count: chars4, Result: &summarizers.ToolResult{Index: 7, Text: text},
	}
	s, err := extractive.New().Summarize(t.Context(), req, &listener{})
	require.NoError(t, err)
	require.NoError(t, summarizers.Check(req, s))
	return req.Result.Replacement(s)
}

func TestObservationHasNoPlaceInNoBudget(t *testing.T) {
	t.Parallel()
	req := &summarizers.Request{
		Kind: summarizers.Observation, MaxTokens: 5, Count: chars4, Result: &summarizers.ToolResult{Text: output(100)},
	}
	_, err := extractive.New().Summarize(t.Context(), req, &listener{})
	require.ErrorContains(t, err, "5 tokens")
}

func FuzzObserve(f *testing.F) {
	f.Add(output(60), uint16(100))
	f.Add(strings.Repeat("错误：无法打开文件\n", 50), uint16(64))
	f.Add("\n\r\n\r\r"+strings.Repeat("panic: x\n", 40), uint16(80))
	f.Add(strings.Repeat("a", 900)+"\n"+strings.Repeat("b", 900), uint16(120))
	f.Fuzz(func(t *testing.T, text string, budget uint16) {
		text = strings.ToValidUTF8(text, "?")
		req := &summarizers.Request{
			Kind: summarizers.Observation, MaxTokens: max(64, uint32(budget)), Count: chars4,
			Result: &summarizers.ToolResult{Index: 7, Text: text},
		}
		got := &summarizers.Summary{Text: summarize(t, req)}
		// Only results well over the budget are shortened.
		req.Replaces = 2 * req.MaxTokens
		if req.Count(text) >= req.Replaces {
			require.NoError(t, summarizers.Check(req, got))
		}
	})
}
