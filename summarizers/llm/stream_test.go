package llm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// White space around an answer and thinking before it are never shown, so they need not be withdrawn.
func TestNothingIsShownTwice(t *testing.T) {
	t.Parallel()
	for name, pieces := range map[string][]string{
		"a break at the end":    {good, "\n"},
		"breaks in pieces":      {"\n", "\n" + good[:40], good[40:], "\n", " \n"},
		"thinking":              {"<thi", "nk>\nHm.\n", "## Goal of this\n</th", "ink>\n\n", good, "\n"},
		"thinking in the midst": {good[:len("## Goal\n")], "<think>Hm.</think>\n", good[len("## Goal\n"):]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := summarize(t, small, asking(summarizers.History, long(3)...), says(pieces...))
			require.NoError(t, r.err)
			require.Zero(t, r.voided)
			require.Len(t, r.sent, 1)
			require.NotContains(t, r.shown, "Hm.")
			require.Contains(t, r.shown, "## Relevant Files")
		})
	}
}

// An answer that broke off in its thinking has shown nothing, and does not affect the next one.
func TestThinkingThatBreaksOff(t *testing.T) {
	t.Parallel()
	broken := reply{deltas: []string{"<think>Hm. "}, err: status(503)}
	r := summarize(t, small, asking(summarizers.History, long(3)...), broken, says(good))
	require.NoError(t, r.err)
	require.Zero(t, r.voided)
	require.Equal(t, good, r.shown)
}
