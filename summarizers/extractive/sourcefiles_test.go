package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// limits are n lines of code with a name each.
func limits(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "const maxRowsOfPage%02d = %d // rows that fit\n", i, 500+i)
	}
	return b.String()
}

// Above several quotes of a file stands which one it is, also in the summary of the summary. Above few quotes, or where it
// is not known, it does not.
func TestQuotesOfAFileStandBelowItsPath(t *testing.T) {
	t.Parallel()
	const heading = "> [#2] `export/limits.go`:\n> const maxRowsOfPage"
	of := func(files int, results ...string) *conversation {
		var c conversation
		c.user("Add paging to the export.")
		var calls, answers []*compactordv1.Part
		for i, text := range results {
			calls = append(calls, callPart(fmt.Sprint("c", i), "read", fmt.Sprintf(`{"path":"/srv/shop/%s"}`, []string{"export/limits.go", "export/pager.go"}[i%files])))
			answers = append(answers, resultPart(fmt.Sprint("c", i), "read", text, false))
		}
		c.add(compactordv1.Role_ROLE_ASSISTANT, calls...)
		c.add(compactordv1.Role_ROLE_TOOL, answers...)
		c.runs("cd /srv/shop && ls export/limits.go", "export/limits.go", false)
		return &c
	}
	text := of(1, limits(9)).summary(t, "")
	require.Contains(t, text, heading)
	require.NotContains(t, below(text, "## Critical Context"), "\n  `export", "the path stands there once")
	again := summarize(t, &summarizers.Request{PreviousSummary: text, MaxTokens: 2000})
	require.Contains(t, again, heading, text)
	require.NotContains(t, of(1, limits(2)).summary(t, ""), "`export/limits.go`:", "two quotes")
	require.NotContains(t, of(2, limits(9), limits(9)).summary(t, ""), "`:\n", "two results in a message")
	small := summarize(t, &summarizers.Request{Messages: of(1, limits(9)).log, MaxTokens: 1000})
	require.NotContains(t, small, "`:\n", "a small budget")
}

// A quote that looks like the line above quotes stays a quote.
func TestQuoteThatNamesAFileIsNoPath(t *testing.T) {
	t.Parallel()
	text := carriedFrom(t, "## Critical Context\n- [#3] \\`export/limits.go`:\n  keepRows = 5 of them\n  dropRows = 6 of them\n")
	require.Equal(t, []string{"- [#3] \\`export/limits.go`:", "  keepRows = 5 of them", "  dropRows = 6 of them"}, evidenceOf(text))
	text = carriedFrom(t, "## Critical Context\n- [#3] `Makefile`:\n  keepRows = 5 of them\n  dropRows = 6 of them\n  lastRows = 7 of them\n")
	require.Equal(t, []string{"- [#3] `Makefile`:", "  keepRows = 5 of them", "  dropRows = 6 of them", "  lastRows = 7 of them"}, evidenceOf(text))
}
