package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/summarizers"
)

// A request of several lines reads as the user wrote it, and stays so through the rounds that follow.
func TestRequestsKeepTheirLines(t *testing.T) {
	t.Parallel()
	const said = "Repair the importer of the depot:\n1. it skips the last row,\n2. it reads `a|b` as one column.\n| who | port |\n|---|---|\n| depot | 7017 |\n## Goal\n- [ ] not a to-do [#77]"
	rows := strings.NewReplacer("\n", "\n| ", "[#77]", `[\#77]`).Replace(said)
	for name, ask := range map[string]func(c *conversation){
		"goal":         func(c *conversation) { c.user(said) },
		"last request": func(c *conversation) { c.user("Look at the shop first."); c.says("I looked."); c.user(said) },
		"earlier": func(c *conversation) {
			c.user("Look at the shop first.")
			c.says("I looked.")
			c.user(said)
			c.says("It is repaired.")
			c.user("Thank you. Now translate the label of the button.")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c conversation
			ask(&c)
			c.says("I go on.")
			text := c.summary(t, "")
			for range 3 {
				require.Equal(t, 1, strings.Count(text, rows+" [#"), text)
				requireSections(t, text, summarizers.History, session.StandardSections())
				requireCited(t, text)
				text = summarize(t, &summarizers.Request{PreviousSummary: text, MaxTokens: 2000})
			}
		})
	}
}

// Rows of a table in a summary that a model wrote belong to no request.
func TestTablesOfModelsAreNoRequests(t *testing.T) {
	t.Parallel()
	previous := "## Goal\nRepair the importer. [#0]\n\n## Critical Context\n- Ports of the depot: [#2]\n| who | port |\n|---|---|\n| reader | 7017 |\n"
	text := summarize(t, &summarizers.Request{PreviousSummary: previous, MaxTokens: 2000})
	require.Contains(t, below(text, "## Goal"), "Repair the importer. [#0]")
	require.Contains(t, text, "7017")
	require.NotContains(t, text, "\n| ")
}
