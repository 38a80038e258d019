package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// A value that the user replaces is dropped from the quotes, though they are gathered in another goroutine.
func TestReplacedValueIsNotQuoted(t *testing.T) {
	t.Parallel()
	summary := written(t, extractive.New(), &summarizers.Request{MaxTokens: 1000, Messages: []*compactordv1.LoggedMessage{
		userMessage(0, "Port the parser to `parse.go`."),
		userMessage(1, "DEADLINE: ship `exportPager` on 2026-11-23"),
		assistantMessage(2, "I work on it."),
		userMessage(3, "DEADLINE: ship `exportPager` on 2026-12-01"),
	}})
	require.Contains(t, summary.Text, "2026-12-01")
	require.NotContains(t, summary.Text, "2026-11-23")
}

// A commit has its line, so the line with which git reports it is not quoted, and its hash is no name of a quote. While
// commits are read, quotes are gathered in another goroutine: the race detector finds if both change the same.
func TestCommitIsNotQuoted(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Fix the pager.")
	for i := range 40 {
		c.runs(fmt.Sprintf("git commit -qam 'Fix case %d'", i), fmt.Sprintf("[main %07x] Fix case %d", 0xabcdef0+i, i), false)
		c.says(fmt.Sprintf("The pager of `module%d.go` reads %d rows now.", i, 1000+i))
	}
	text := c.summary(t, "")
	for i := range 40 {
		require.LessOrEqual(t, strings.Count(text, fmt.Sprintf("%07x", 0xabcdef0+i)), 1, text)
	}
	require.Contains(t, text, "abcdf17")
}
