package extractive_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// The digest says where the results of tools are that it does not quote, and the next one adds to it.
func TestDigestsSayWhereResultsAre(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Port the parser, please.")
	calls := func(tool string, n int) {
		for i := range n {
			c.tool(tool, fmt.Sprintf(`{"path":"src/part%d.go"}`, i), "package part", false)
		}
	}
	calls("read_file", 7)
	calls("list_dir", 4)
	text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 2000})
	require.Contains(t, evidenceOf(text), "- [#2 to #14] 7 results of `read_file`", text)
	require.NotContains(t, text, "results of `list_dir`", "few results")
	require.NotContains(t, summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 600}), "results of", "a small budget is for names")

	before := len(c.log)
	calls("read_file", 3)
	calls("list_dir", 6)
	text = summarize(t, &summarizers.Request{Messages: c.log[before:], PreviousSummary: text, MaxTokens: 2000})
	require.Contains(t, evidenceOf(text), "- [#2 to #28] 10 results of `read_file`", text)
	require.Contains(t, evidenceOf(text), "- [#30 to #40] 6 results of `list_dir`", text)
}

// The digest says where the results of files are that it does not list, by folder, and the next one adds to it.
func TestDigestsSayWhereResultsOfUnlistedFilesAre(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Port the parser, please.")
	for i := range 200 {
		c.tool("read_file", fmt.Sprintf(`{"path":"src/lexer/tokens/kinds/generated_token_%d.go"}`, i), "package kinds", false)
	}
	for i := range 7 {
		c.tool("read_file", fmt.Sprintf(`{"path":"docs/page%d.md"}`, i), "A page", false)
	}
	text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 1600})
	require.Contains(t, evidenceOf(text), "- [#2 to #400] 200 results of files in `src/lexer/tokens`", text)
	for i := range 7 {
		require.Contains(t, text, fmt.Sprintf("`docs/page%d.md` read", i))
	}
	require.NotContains(t, text, "files in `docs`", "all of them are listed")

	before := len(c.log)
	c.tool("read_file", `{"path":"src/lexer/tokens/kinds/other.go"}`, "package kinds", false)
	text = summarize(t, &summarizers.Request{Messages: c.log[before:], PreviousSummary: text, MaxTokens: 1600})
	require.Contains(t, evidenceOf(text), "- [#2 to #416] 201 results of files in `src/lexer/tokens`", text)
}
