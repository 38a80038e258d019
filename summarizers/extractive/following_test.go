package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// splitTurn is a conversation whose last turn begins at the index that it returns, and settles what was open before it.
func splitTurn() (c *conversation, turn uint32) {
	c = &conversation{}
	c.user("Plan the regatta: write the course and the list of boats.")
	c.says("I begin with the course.")
	c.user("Show the depth of the water in the course, too.")
	c.tool("TodoWrite", `{"todos":[{"content":"Write the course","status":"in_progress"},{"content":"List the boats","status":"pending"}]}`, "ok", false)
	c.runs("make course", "Error: E7731 the buoy is missing", true)
	c.says("The course needs another buoy.")
	turn = c.user("Take the red buoy and go on, then print the programme of the regatta.")
	c.runs("make course", "course.pdf written", false)
	c.tool("TodoWrite", `{"todos":[{"content":"Write the course","status":"completed"},{"content":"List the boats","status":"completed"},
		{"content":"Print the programme","status":"in_progress"}]}`, "ok", false)
	c.runs("cat programme.txt", "12 races", false)
	return c, turn
}

// The summary of the complete turns did not know how the split turn went on: it listed to-dos and errors as open that the
// turn had settled, and each of the two texts had a last request.
func TestTheTextBeforeASplitTurnKnowsHowItWentOn(t *testing.T) {
	t.Parallel()
	c, turn := splitTurn()
	text := summarize(t, &summarizers.Request{Messages: c.log[:turn], Following: c.log[turn:], MaxTokens: 800})
	require.NotContains(t, text, "[ ]")
	require.NotContains(t, text, "### Blocked")
	require.NotContains(t, text, "Last request:")
	require.NotContains(t, text, "Print the programme", "the other text says it")
	require.NotContains(t, text, "programme.txt", "the other text says it")
	require.Contains(t, text, "Plan the regatta: write the course and the list of boats. [#0]")
}

// A summary in two texts has one last request, and each to-do once, when it is summarized again.
func TestASummaryInTwoTextsIsReadAsOne(t *testing.T) {
	t.Parallel()
	c, turn := splitTurn()
	previous := summarize(t, &summarizers.Request{Messages: c.log[:turn], MaxTokens: 800}) + "\n\n---\n\n# The turn in progress\n\n" +
		summarize(t, &summarizers.Request{Kind: summarizers.TurnPrefix, Messages: c.log[turn:], MaxTokens: 500})
	require.Contains(t, previous, "[ ] List the boats")
	next := uint32(len(c.log))
	text := summarize(t, &summarizers.Request{PreviousSummary: previous, MaxTokens: 1200, Messages: []*compactordv1.LoggedMessage{
		{Index: next, Message: &compactordv1.Message{Role: compactordv1.Role_ROLE_ASSISTANT, Parts: []*compactordv1.Part{textPart("The printer hums.")}}},
	}})
	require.Equal(t, 1, strings.Count(text, "Last request:"), text)
	require.Contains(t, text, "- Last request: Take the red buoy and go on")
	require.NotContains(t, text, "[ ] List the boats")
	require.Equal(t, 1, strings.Count(text, "Print the programme"), text)
}

// What a program said last in the user's name stood there as a request, though the user says something else right after it.
func TestWhatAProgramSaidLastGoesOnceTheUserSaysMore(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Plan the regatta: write the course and the list of boats.")
	c.says("The course is written.")
	c.user("<system-reminder>\nThe list of skills has a new entry for sailing in the fog.\n</system-reminder>")
	last := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 800})
	require.Contains(t, last, "- Last user message: «")
	text := summarize(t, &summarizers.Request{Messages: c.log, Kept: []*compactordv1.LoggedMessage{userMessage(3, "Now print the programme.")}, MaxTokens: 800})
	require.NotContains(t, text, "Request: «")
	require.NotContains(t, text, "Last user message:")
	require.Contains(t, text, "Plan the regatta: write the course and the list of boats. [#0]")
}
