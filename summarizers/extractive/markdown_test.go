package extractive_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// The grammar of Markdown as people, models and programs write it, with their mistakes. A document consists of blocks,
// and a block of lines. Most blocks can be in a quotation or in a list item. Each has an empty variant.

// pieces are parts of lines: words with a meaning for the summarizer, marks, and characters that break lines.
var pieces = []string{
	"", " ", "a", "the parser", "we decided on B because it is fast", "never push", "Always use UTC", "Fixed E1234", "next step", "TODO", "let me",
	"`a.go`", "`", "``", "``` ", "**", "**bold**", "*", "_", "~~", "[", "]", "[#1]", "[\\#2]", "[#", "[x](y)", "![](z)", "https://a.b/c?d=e", "<b>", "</b>", "<",
	">", "|", "\\", "\\|", ":", "：", ".", "...", "!", "?", "。", "？", "；", "“", "”", "必须用 UTC", "决定用 B", "请修复", "没有", "😀", "e.g. x", "1.", "$", "#", "&amp;", "\u00a0",
	"\u200b", "\ufeff", "\u2028", "\r", "\t", "\v", "\x00", "Error: E99 broke", "FAIL", "path/to/file.go:12:3: undefined: x", "- [ ] x", "> y", "(none)", " ⏎ ", " … ",
	"an open line of more than fifty letters that has not ended and so goes", "Last request: ", "(system) ", "Ran `x`", "Task 3: x",
	"Summary:", "remaining work:", "接下来：", "I cannot", "<system-reminder>", "</system-reminder>", "<command-name>", "<think>",
}

var newlines = []string{"\n", "\n", "\n", "\n", "\r\n", "\r", "\n\n", "\n\r", "\u2028", "\u0085", "\v", ""}

func inline() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "pieces"), rapid.SampledFrom([]string{" ", "", "  "}).Draw(t, "glue"))
	})
}

// openings are beginnings of lines.
var openings = []string{
	"- ", "* ", "+ ", "-", "•  ", "1. ", "1) ", "12. ", "1234. ", "3、", "- [ ] ", "- [x] ", "- [-] ", "* []", "☐", "☑ ", "- - ", "-\t", "   - ", "\t- ", "1. - ",
	"#", "# ", "###### ", "####### ", "#x", "> ", ">", ">>", "> > ", " >", ">- ", ">1. ", "> [ ] ", "| a | b |", "|", "||", "|-|", "---", "***", "_ _ _", "===", "- - -", "--", "    ", "\t", "",
	"<div>", "</div>", "<br/>", "<!-- ", " -->", "<!--", "<details><summary>", "[ref]: ", "[^1]: ", ": ", "\\# ", "$ ", "@@ -1 +1 @@", "diff --git a/x b/y", "+++ ", "*** Update File: ",
}

var fences = []string{"```", "~~~", "````", "```go", "~~~ ", "``", "  ```", "``` ```"}

// block draws lines of one block.
func block(depth int) *rapid.Generator[[]string] {
	return rapid.Custom(func(t *rapid.T) []string {
		lines := rapid.SliceOfN(inline(), 0, 4)
		switch rapid.IntRange(0, 7).Draw(t, "block") {
		case 0, 1:
			return lines.Draw(t, "paragraph")
		case 2, 3:
			opening := rapid.SampledFrom(openings)
			var list []string
			for _, text := range lines.Draw(t, "items") {
				list = append(list, opening.Draw(t, "opening")+text)
			}
			return append(list, opening.Draw(t, "empty"))
		case 4:
			// One in five is never closed, or closed by another fence.
			code := append([]string{rapid.SampledFrom(fences).Draw(t, "fence")}, lines.Draw(t, "code")...)
			if rapid.IntRange(0, 4).Draw(t, "closed") > 0 {
				code = append(code, rapid.SampledFrom(fences).Draw(t, "closing"))
			}
			return code
		case 5:
			row := func() string {
				return "| " + strings.Join(rapid.SliceOfN(inline(), 0, 3).Draw(t, "cells"), " | ") + rapid.SampledFrom([]string{" |", "", "|"}).Draw(t, "end")
			}
			return []string{row(), "|---|:-:|", row(), row()}
		}
		if depth == 0 {
			return nil
		}
		// A block in a quotation or a list item, in which any line may have lost its mark.
		mark := rapid.SampledFrom([]string{"> ", ">", ">> ", "  ", "    ", "\t", "- "}).Draw(t, "mark")
		var nested []string
		for _, line := range blocks(depth-1).Draw(t, "nested") {
			if rapid.IntRange(0, 9).Draw(t, "kept") > 0 {
				line = mark + line
			}
			nested = append(nested, line)
		}
		return nested
	})
}

func blocks(depth int) *rapid.Generator[[]string] {
	return rapid.Custom(func(t *rapid.T) []string {
		var lines []string
		for _, b := range rapid.SliceOfN(block(depth), 0, 5).Draw(t, "blocks") {
			lines = append(append(lines, b...), "")
		}
		return lines
	})
}

// markdown draws a document, with any line ends.
func markdown() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		lines := blocks(2).Draw(t, "lines")
		ends := rapid.SampledFrom(newlines[:rapid.SampledFrom([]int{1, 5, len(newlines)}).Draw(t, "mixed")])
		var b strings.Builder
		for _, line := range lines {
			b.WriteString(line + ends.Draw(t, "end"))
		}
		return b.String()
	})
}

// markdownMessage draws a message with documents in all of its texts.
func markdownMessage(index uint32) *rapid.Generator[*compactordv1.LoggedMessage] {
	return rapid.Custom(func(t *rapid.T) *compactordv1.LoggedMessage {
		text := markdown().Draw(t, "text")
		m := &compactordv1.Message{Role: compactordv1.Role(rapid.IntRange(1, 5).Draw(t, "role"))}
		id := fmt.Sprint(index / 2)
		switch m.GetRole() {
		case compactordv1.Role_ROLE_TOOL:
			m.Parts = append(m.Parts, resultPart(id, rapid.SampledFrom(tools).Draw(t, "tool"), text, rapid.Bool().Draw(t, "failed")))
		case compactordv1.Role_ROLE_ASSISTANT:
			m.StopReason = rapid.SampledFrom([]compactordv1.StopReason{0, 0, 0, compactordv1.StopReason_STOP_REASON_ERROR}).Draw(t, "stop")
			m.ErrorText = text
			m.Parts = append(m.Parts, textPart(text))
			if rapid.Bool().Draw(t, "calls") {
				key := rapid.SampledFrom([]string{"command", "todos", "path", "thought", "plan", "content", "taskId"}).Draw(t, "key")
				arguments := fmt.Sprintf("{%q:%q,\"status\":%q}", key, markdown().Draw(t, "argument"), inline().Draw(t, "status"))
				m.Parts = append(m.Parts, callPart(id, rapid.SampledFrom(tools).Draw(t, "called"), arguments[:len(arguments)-rapid.IntRange(0, 3).Draw(t, "broken")]))
			}
		default:
			m.Origin = compactordv1.Origin(rapid.IntRange(0, 7).Draw(t, "origin"))
			m.Parts = append(m.Parts, textPart(text))
			if rapid.IntRange(0, 4).Draw(t, "second") == 0 {
				m.Parts = append(m.Parts, textPart(markdown().Draw(t, "more")))
			}
		}
		return &compactordv1.LoggedMessage{Index: index, Tokens: chars4(text), Message: m}
	})
}

var tools = []string{"bash", "edit", "Read", "TodoWrite", "TaskUpdate", "think", "grep", "apply_patch", "book_flight", ""}

// anyMarkdown checks that any conversation in Markdown is summarized within the budget and without a fault. The summary
// passes the checks of every summary, and so does a merge with it.
func anyMarkdown(t *rapid.T) {
	var log []*compactordv1.LoggedMessage
	for i := range uint32(rapid.IntRange(0, 5).Draw(t, "messages")) {
		log = append(log, markdownMessage(3*i).Draw(t, "message"))
	}
	count := rapid.SampledFrom([]string{"chars4", "bytes", "dense", "words"}).Draw(t, "estimator")
	req := &summarizers.Request{
		Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Sections: sessiontest.Sections(t),
		Lead: log[:len(log)/3], Messages: log[len(log)/3:], Focus: inline().Draw(t, "focus"),
		MaxTokens: rapid.Uint32Range(64, 3000).Draw(t, "budget"), Count: estimators[count],
	}
	if rapid.Bool().Draw(t, "merged") {
		req.PreviousSummary = markdown().Draw(t, "previous")
	}
	if len(req.Messages) == 0 {
		// Where there is nothing to say, only the headings are written, and long ones can exceed the smallest budget.
		req.Sections = nil
	}
	text := checkedSummary(t, req)
	req.PreviousSummary, req.Messages = text, nil
	checkedSummary(t, req)
	tool := &summarizers.Request{
		Kind: summarizers.Observation, MaxTokens: req.MaxTokens, Count: req.Count,
		Result: &summarizers.ToolResult{Index: 7, Text: markdown().Draw(t, "result")},
	}
	checkedSummary(t, tool)
}

// checkedSummary writes a text, and makes the service's checks, which include the budget.
func checkedSummary(t *rapid.T, req *summarizers.Request) string {
	req.Replaces = math.MaxUint32
	var l listener
	s, err := extractive.New().Summarize(t.Context(), req, &l)
	require.NoError(t, err)
	require.Empty(t, s.Faults)
	require.Equal(t, strings.Join(l.texts, ""), s.Text)
	require.True(t, utf8.ValidString(s.Text))
	require.NoError(t, summarizers.Check(req, s), "%s", s.Text)
	return s.Text
}

func TestAnyMarkdownIsSummarized(t *testing.T) {
	t.Parallel()
	rapid.Check(t, anyMarkdown)
}

// The work on a text is linear in its size: each byte is in one statement, however often its marks are nested or
// repeated. The factor of two is for reading with and without joining lists.
func TestNoTextHasMoreStatementsThanBytes(t *testing.T) {
	t.Parallel()
	within := func(t require.TestingT, text string) {
		n, bytes := extractive.Statements(text)
		require.LessOrEqual(t, n, 2*len(text))
		// A wrapped line is joined with a space for its end, and a list item with two characters for its mark.
		require.LessOrEqual(t, bytes, 2*2*len(text))
	}
	for _, opening := range slices.Concat(openings, fences, pieces) {
		for _, end := range newlines {
			within(t, strings.Repeat(opening+end, 5000))
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		within(rt, strings.Repeat(markdown().Draw(rt, "text"), rapid.IntRange(1, 50).Draw(rt, "times")))
	})
}

func FuzzMarkdown(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(anyMarkdown))
}
