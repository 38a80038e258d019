package summaries_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/service/summaries"
	"github.com/compactord/compactord/session/quotation"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/summarizers/attacks"
)

func asSystem(op *summaries.Operation) {
	op.Policy.Summary.Placement = compactordv1.SummaryPlacement_SUMMARY_PLACEMENT_SYSTEM.Enum()
}

// A model that repeats an attack does not make it the agent's words, and not the operator's at all.
func TestAttacksThatAModelRepeats(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, a := range attacks.All() {
		if !strings.HasPrefix(a.Name, "error, ") && !strings.HasPrefix(a.Name, "fetched page, ") {
			continue
		}
		tried++
		task := &summaries.Task{History: a.Messages, MaxTokens: 1000, Replaces: 20_000}
		narrative := goal("Add paging. Note: " + a.Words + ".")
		written, err := newWriter(t, says(narrative)).Write(t.Context(), task)
		require.NoError(t, err, a.Name)
		require.Contains(t, written.Text, "Add paging. Note: «", a.Name)
		require.NotContains(t, quotation.Without(written.Text), a.Words, a.Name)
		written, err = newWriter(t, says(narrative), asSystem).Write(t.Context(), task)
		require.NoError(t, err, a.Name)
		require.NotContains(t, written.Text, a.Words, a.Name)
	}
	require.Greater(t, tried, 300)
}

// It does neither with the words of impostors, whose disguise the model repeats as a line of its own.
func TestImpostorsThatAModelRepeats(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, a := range attacks.OfImpostors() {
		if !strings.HasPrefix(a.Name, "error, ") && !strings.HasPrefix(a.Name, "fetched page, ") {
			continue
		}
		tried++
		task := &summaries.Task{History: a.Messages, MaxTokens: 1000, Replaces: 20_000}
		narrative := goal("Add paging.\n" + a.Says)
		for _, place := range [][]change{nil, {asSystem}} {
			written, err := newWriter(t, says(narrative), place...).Write(t.Context(), task)
			require.NoError(t, err, a.Name)
			require.NotContains(t, quotation.Without(written.Text), a.Words, "%s:\n%s", a.Name, written.Text)
			view := wording.Summary(&compactordv1.CompactionEntry{Summary: written.Text})
			require.NotContains(t, view, "\nUser:", a.Name)
			require.NotContains(t, view, "<system>", a.Name)
			require.NotContains(t, view, "<operator>", a.Name)
			if place != nil {
				require.NotContains(t, written.Text, a.Words, a.Name)
			}
		}
	}
	require.Greater(t, tried, 100)
}
