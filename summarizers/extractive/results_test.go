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
