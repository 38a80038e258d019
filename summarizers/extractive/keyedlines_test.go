package extractive_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// A value that was one line of a longer message changes: the message stays, and says where the line is corrected.
func TestALineOfALongerMessageChanges(t *testing.T) {
	t.Parallel()
	const settings = "Plan the fair of the depot with these settings.\n- BUDGET: 4,000 EUR\n- **Deadline:** 2031-05-04\n- HALL: north"
	for name, of := range map[string]struct{ now, newer, older string }{
		"a statement alone": {
			"BUDGET: 6,500 EUR", "BUDGET: 6,500 EUR (replaces [#0]) [#2]", "- HALL: north (corrected in [#2]) [#0]",
		},
		"a line of a message": {
			"Some news.\nDeadline: 2031-06-11\nThe rest stays as it is.", "| The rest stays as it is. (replaces [#0]) [#2]",
			"- HALL: north (corrected in [#2]) [#0]",
		},
		"the same again":  {"BUDGET: 4,000 EUR", "BUDGET: 4,000 EUR [#2]", "- HALL: north [#0]"},
		"another subject": {"BUDGET of the kitchen: 900 EUR", "BUDGET of the kitchen: 900 EUR [#2]", "- HALL: north [#0]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c conversation
			c.user(settings)
			c.says("I begin with the plan.")
			c.user(of.now)
			c.says("Noted.")
			text := c.summary(t, "")
			for range 2 {
				require.Contains(t, text, of.newer)
				require.Contains(t, text, of.older)
				text = summarize(t, &summarizers.Request{PreviousSummary: text, MaxTokens: 2000})
			}
		})
	}
}

// A line of a summary that is carried over is still known by its label.
func TestALineOfACarriedMessageChanges(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Plan the fair of the depot.\nBUDGET: 4,000 EUR")
	c.says("I begin with the plan.")
	text := c.summary(t, "")
	c.log = nil
	c.user("BUDGET: 6,500 EUR")
	c.log[0].Index = 2
	text = c.summary(t, text)
	require.Contains(t, text, "| BUDGET: 4,000 EUR (corrected in [#2]) [#0]")
	require.Contains(t, text, "BUDGET: 6,500 EUR (replaces [#0]) [#2]")
}
