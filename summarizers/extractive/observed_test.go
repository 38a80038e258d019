package extractive_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a program writes as the user, since the agent has no tools, is no request.
func TestResultsInUserMessagesAreNoRequests(t *testing.T) {
	t.Parallel()
	for _, label := range []string{"Observation: ", "OBSERVATION:\n", "[Tool result 3] ", "<tool_response>\n", "**Observation:** ", "Tool output for `probe`:\n", "[Observation]: "} {
		var c conversation
		c.user("Find out why the cards of our customers are refused.")
		c.says("I look at the acquirers.\nACTION: probe all")
		c.user(label + "acq-1 ok 41 ms, acq-2 has no route")
		c.says("The second one has no route.\nACTION: weights acq-1=80")
		c.user(label + "weights v41 replaced by v42")
		c.says("Done.")
		c.user("Limit the first one to 70 percent.")
		goal := below(c.summary(t, ""), "## Goal")
		require.NotContains(t, goal, "41", label)
		require.Contains(t, goal, "Last request: Limit the first one to 70 percent.", label)
	}
}

// A user can speak of results.
func TestUsersSpeakOfResults(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"Observations of the customers say that refunds are slow.", "Tool results are too long, shorten them to 200 lines.", "Result: the cards work, look at the refunds of 2031.",
	} {
		var c conversation
		c.user("Find out why the cards of our customers are refused.")
		c.says("The limit was too low.")
		c.user(said)
		c.says("I look at it.")
		c.user("Go on.")
		require.Contains(t, below(c.summary(t, ""), "## Goal"), said)
	}
}
