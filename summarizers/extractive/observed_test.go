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

// Orders and rules that name an argument of the last call were taken for a program's complaint, and nothing of them was left.
func TestOrdersAboutArgumentsAreNoComplaints(t *testing.T) {
	t.Parallel()
	for said, left := range map[string]string{
		"The `description` must not name customers.":                                                                "must not name customers",
		"Stop filing for Oslo. The 'description' must be in German, and from now on file all of them under Bergen.": "under Bergen",
		"The 'command' must be run as the user backup, never as root.":                                              "as the user backup",
		"Missing 'description' fields must be filled with the name of the harbour.":                                 "the name of the harbour",
		"The value of 'description' must be a text without names of customers from now on.":                         "without names of customers",
		"The value of \"command\" must be north of the quay.":                                                       "north of the quay",
		"Invalid values of 'description' must be sent back to the office.":                                          "sent back to the office",
		"Argument 'command' is expected to be short. File the rest under Bergen.":                                   "under Bergen",
	} {
		var c conversation
		c.user("File what the customers of the harbour tell us.")
		c.tool("file", `{"description":"A buoy is missing","command":"make buoys"}`, "filed", false)
		c.user(said)
		c.tool("file", `{"description":"A quay is dark","command":"make quays"}`, "filed", false)
		c.user("How many are filed by now?")
		c.says("Two are filed.")
		require.Contains(t, c.summary(t, ""), left, said)
	}
}

// What a program says of a call in the user's name was taken for the last request.
func TestComplaintsAboutCallsAreNoRequests(t *testing.T) {
	t.Parallel()
	for said, request := range map[string]bool{
		"Argument 'quay' is expected to be one of ['north', 'south'].":             false,
		"Missing required value for `quay`":                                        false,
		"The value of \"quay\" must be a text":                                     false,
		"Each 'ferry' must be on the map, too.":                                    true,
		"Is 'quay' required?":                                                      true,
		"Draw the quay in the north. It must be green, and all others are missing": true,
	} {
		var c conversation
		c.user("Draw a map of the harbour.")
		c.tool("paint", `{"quay":"east","colour":"green"}`, "painted", false)
		c.user(said)
		c.tool("paint", `{"quay":"north","colour":"green"}`, "painted", false)
		goal := below(c.summary(t, ""), "## Goal")
		require.Equal(t, request, contains(goal, said), said)
	}
}
