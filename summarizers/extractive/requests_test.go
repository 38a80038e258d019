package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

const asked = "Give the export of the shop a switch for empty pages."

// endedBy returns a conversation in which the user asks for something, the agent and the user do what a test says, and the
// user turns to something else.
func endedBy(goOn func(c *conversation)) *conversation {
	c := &conversation{}
	c.user("Bring the depot of the shop to the new version.")
	c.tool("edit", `{"path":"depot.go","oldText":"a","newText":"b"}`, "ok", false)
	c.says("The depot is on the new version.")
	c.user(asked)
	goOn(c)
	c.user("Rename the button of the invoices, it is too long for the page.")
	c.says("I look for the button.")
	return c
}

// A request is listed as long as it is open: not once the agent stopped working on it and the user went on.
func TestFinishedRequestsLeaveTheGoal(t *testing.T) {
	t.Parallel()
	edits := func(c *conversation) { c.tool("edit", `{"path":"export.go","oldText":"a","newText":"b"}`, "ok", false) }
	for name, end := range map[string]struct {
		goOn func(c *conversation)
		open bool
	}{
		"done":                {goOn: func(c *conversation) { edits(c); c.says("The switch is there.") }},
		"done, with an offer": {goOn: func(c *conversation) { edits(c); c.says("The switch is there. Shall I write a test for it?") }},
		"told":                {goOn: func(c *conversation) { c.says("The switch is there already.") }},
		"in the agent's work": {goOn: func(c *conversation) { edits(c) }, open: true},
		"asked back":          {goOn: func(c *conversation) { c.says("Which pages count as empty?") }, open: true},
		"asked back, and no":  {goOn: func(c *conversation) { c.says("It takes a day. Shall I go on?"); c.user("no"); c.says("I leave it.") }},
		"asked back, and yes": {goOn: func(c *conversation) {
			c.says("Shall I do it?")
			c.user("yes")
			edits(c)
			c.says("The switch is there.")
		}},
		"asked back, and other": {goOn: func(c *conversation) {
			c.says("Shall I do it?")
			c.user("who reads the export?")
			c.says("The page does.")
		}, open: true},
		"asked back for long": {goOn: func(c *conversation) {
			c.says("Shall I do it?")
			for _, who := range []string{"the export", "the depot", "the page", "the invoices"} {
				c.user("who reads " + who + "?")
				c.says("The mailer reads " + who + ". Shall I add another reader?")
			}
		}},
		"more in the work": {goOn: func(c *conversation) {
			edits(c)
			c.user("The switch must also be in the depot of the shop.")
			edits(c)
			c.says("The switch is in both.")
		}},
	} {
		c := endedBy(end.goOn)
		text := c.summary(t, "")
		for range 2 {
			goal := below(text, "## Goal")
			require.True(t, strings.HasPrefix(goal, "Bring the depot of the shop to the new version. [#0]"), "%s\n%s", name, goal)
			require.Contains(t, goal, "- Last request: Rename the button", name)
			require.Equal(t, end.open, strings.Contains(goal, "- "+asked+" [#4]"), "%s\n%s", name, goal)
			require.Equal(t, !end.open, strings.Contains(below(text, "## Critical Context"), "- Earlier: "+asked+" [#4]"), "%s\n%s", name, text)
			text = summarize(t, &summarizers.Request{PreviousSummary: text, MaxTokens: 2000})
		}
	}
}

// A request that the user turns down is no longer one, and one that the user speaks on about is.
func TestARefusedRequestEnds(t *testing.T) {
	t.Parallel()
	for said, open := range map[string]bool{
		"No, leave it. Rename the button of the invoices, it is too long for the page.": false,
		"The switch is for the page of the invoices, and it is off at first.":           true,
	} {
		var c conversation
		c.user("Bring the depot of the shop to the new version.")
		c.says("The depot is on the new version.")
		c.user(asked)
		c.says("That takes a day. Shall I do it?")
		c.user(said)
		c.says("I look at it.")
		goal := below(c.summary(t, ""), "## Goal")
		require.Equal(t, open, strings.Contains(goal, "- "+asked+" [#2]"), goal)
	}
}

// A request of an earlier summary ends as well.
func TestARequestOfAnEarlierSummaryEnds(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Bring the depot of the shop to the new version.")
	c.says("The depot is on the new version.")
	c.user(asked)
	c.tool("edit", `{"path":"export.go","oldText":"a","newText":"b"}`, "ok", false)
	before := c.summary(t, "")
	require.Contains(t, below(before, "## Goal"), "- Last request: "+asked)
	clear(c.log)
	c.says("The switch is there.")
	c.user("Rename the button of the invoices, it is too long for the page.")
	c.says("I look for the button.")
	text := summaryOf(t, &c, before)
	require.NotContains(t, below(text, "## Goal"), asked)
	require.Contains(t, text, "- Earlier: "+asked)
}

// A merge with nothing does not take a request that ended for the task again, though the messages after it that said nothing
// are gone.
func TestAnEndedRequestStaysAmongTheFacts(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Move my berth in Bergen from 20 May to 24 May, please.")
	c.says("Which boat is it?")
	c.user("I'd like to go on with that. Could the fee be waived, since the boat is insured?")
	c.says("The fee cannot be waived.")
	c.user("Okay.")
	c.tool("update_berth", `{"id":"B-12"}`, `{"status":"updated"}`, false)
	c.says("The berth is moved.")
	c.user("No, thanks, that is all.")
	text := c.summary(t, "")
	require.Contains(t, below(text, "## Critical Context"), "Earlier: I'd like to go on with that.")
	require.Equal(t, text, summarize(t, &summarizers.Request{PreviousSummary: text, MaxTokens: 2000}))
}

// An order of a few words that was carried out leaves its place to what says more.
func TestShortOrdersThatWereCarriedOutAreLeftOut(t *testing.T) {
	t.Parallel()
	c := offers(16)
	c.user("Now run the tests again.")
	c.runs("make test", "ok", false)
	c.says("They are fine.")
	value := c.user("The room is 8080.")
	c.says("I use that room.")
	c.user("Which of the caterers in your list from Weimar is the cheapest one for eighty guests?")
	c.says("The first one.")
	for i, m := range c.log {
		m.Index = uint32(i)
	}
	text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 400})
	require.NotContains(t, text, "Earlier: Now run the tests again.")
	require.Contains(t, text, fmt.Sprintf("- Earlier: The room is 8080. [#%d]", value))
}

// A request that is said again, before the agent has answered, replaces the first one.
func TestARequestThatIsSaidAgainIsListedOnce(t *testing.T) {
	t.Parallel()
	for again, once := range map[string]bool{
		"Give the export of the shop a switch for empty pages, and one for old pages.": true,
		"Give the mailer of the shop a switch.":                                        false,
	} {
		c := endedBy(func(c *conversation) {
			c.runs("ls", "export.go", false)
			c.user("[Request interrupted by user]")
			c.user(again)
			c.runs("ls", "export.go", false)
		})
		goal := below(c.summary(t, ""), "## Goal")
		require.Contains(t, goal, "- "+again)
		require.Equal(t, once, !strings.Contains(goal, "- "+asked+" "), goal)
	}
}

// A message that asks and tells is no longer a request once the agent answered it and asked something else.
func TestAnAnsweredMessageThatAlsoTellsIsHistory(t *testing.T) {
	t.Parallel()
	for told, open := range map[string]bool{
		"How do the readers of the export find its pages? All I see is the mailer.":       false,
		"Do the readers of the export find its pages? Add a link to the mailer if not.":   true,
		"The readers of the export look for its pages, and all they see is their mailer.": true,
	} {
		c := endedBy(func(c *conversation) {
			c.user(told)
			c.says("They follow the link in the mailer. Shall I change it?")
		})
		goal := below(c.summary(t, ""), "## Goal")
		require.Equal(t, open, strings.Contains(goal, told), goal)
	}
}

// A question that the user asked while the agent still worked on the one before it stayed open, if the answer to both ended
// with a question back.
func TestQuestionsThatAreAnsweredTogetherEnd(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Look at the plan of the harbour and write down where the ferries turn.")
	c.says("They turn beside quay 3.")
	c.user("And are we sure that this is the plan of May?")
	c.tool("grep", `{"pattern":"May"}`, "plans/a.md:3: May", false)
	c.user("What do the two marks on its margin mean then?")
	c.says("It is the plan of May, and the marks are those of the pilots. Is it intended that they are red?")
	c.user("For the printed plan, paint the marks of the pilots in blue.")
	goal := below(c.summary(t, ""), "## Goal")
	require.NotContains(t, goal, "plan of May")
	require.Contains(t, goal, "paint the marks")
}
