package summarizers_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

func TestSaysNothing(t *testing.T) {
	t.Parallel()
	skeleton := written(summarizers.History, session.StandardSections())
	for _, empty := range []string{
		skeleton,
		strings.ReplaceAll(skeleton, "(none)", ""),
		strings.ReplaceAll(skeleton, "(none)", "- None."),
		strings.ReplaceAll(skeleton, "(none)", "* *N/A*"),
		strings.ReplaceAll(skeleton, "(none)", "（无）"),
		"<think>\nThere is much to say.\n</think>\n" + skeleton,
	} {
		require.True(t, summarizers.SaysNothing(empty), empty)
	}
	for _, text := range []string{
		strings.Replace(skeleton, "(none)", "- Fix the parser [#1]", 1),
		strings.Replace(skeleton, "(none)", "- None of the tests pass", 1),
		"There is nothing to summarize.",
		"(none)",
		"",
	} {
		require.False(t, summarizers.SaysNothing(text), text)
	}
}
