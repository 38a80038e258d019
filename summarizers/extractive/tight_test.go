package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// Of rules that do not all fit, the oldest ones stayed, however long they were, and what replaces an older rule went.
func TestShortAndChangedRulesStayLonger(t *testing.T) {
	t.Parallel()
	var c conversation
	tell := func(format string, args ...any) {
		c.user(fmt.Sprintf(format, args...))
		c.says("Noted.")
	}
	for i := range 6 {
		tell("Never let the boat of quay %d leave before its captain has signed the sheet that hangs beside the door of the harbour office.", i)
	}
	for i := range 6 {
		tell("Never lock gate %d.", i)
	}
	tell("LIMIT: The crane never lifts more than $400 of cargo without a second signature from the office of the port.")
	tell("LIMIT: The crane never lifts more than $900 of cargo without a second signature from the office of the port.")
	tell("The gulls are loud today.")
	text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 200, Count: chars4})
	require.Equal(t, 6, strings.Count(text, "Never lock gate"), text)
	require.Contains(t, text, "$900")
	require.Less(t, strings.Count(text, "Never let the boat"), 6)
}

// Of statements that do not all fit, the short ones stay: more of them fit.
func TestShortStatementsStayLonger(t *testing.T) {
	t.Parallel()
	var c conversation
	for _, quay := range strings.Fields("alba brim corso delta ember fjord gravel heron") {
		c.user("FACT: Quay " + quay + " is in Porto.")
		c.says("Noted.")
	}
	for _, quay := range strings.Fields("iris jetty kelp lagoon marsh nimbus otter pier") {
		c.user(fmt.Sprintf("FACT: The ferry of quay %s is painted in the colours of the town that lies on the other side of the wide bay.", quay))
		c.says("Noted.")
	}
	text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 200, Count: chars4})
	require.Equal(t, 8, strings.Count(text, "in Porto"), text)
}

// In a budget that not even the rules fit into, a seventh of it was filled with names.
func TestRulesFillASmallBudget(t *testing.T) {
	t.Parallel()
	var c conversation
	for i := range 40 {
		c.user(fmt.Sprintf("Never open the gate of quay_%c%c at night.", 'a'+i%20, 'c'+i/2))
		c.says("Noted.")
	}
	rules := 0
	for budget := uint32(120); budget < 480; budget += 8 {
		rules += strings.Count(summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: budget, Count: chars4}), "- Never open")
	}
	require.Greater(t, rules, 880, "it was 874")
}

// What the user states with a label needs no other one, and stays the user's in the next digests. What the agent states
// in this form gets one.
func TestStatementsOfTheUserHaveOnlyTheirOwnLabel(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Look at the plan of the harbour and tell me where the ferries turn.")
	c.says("They turn beside quay 3.")
	c.user("Where do the buses wait? Draw them into the plan.")
	c.says("They wait at the gate. I drew them.")
	c.user("FACT: The depot of the ferries is in Porto.")
	c.says("Noted.")
	c.user("CRANE: It lifts 40 tons.")
	c.says("Noted.")
	c.user("What does the plan say about the water?")
	c.says("DEPTH: The water at quay 3 is 9 m deep, because the harbour was dredged in 2019. The plan says that.")
	c.user("Good. Now look at the cranes of the north quay.")
	text := c.summary(t, "")
	for range 3 {
		context := below(text, "## Critical Context")
		require.Contains(t, context, "- FACT: The depot of the ferries is in Porto. [#4]")
		require.Contains(t, context, "- CRANE: It lifts 40 tons. [#6]")
		require.Contains(t, context, "- Note: DEPTH: The water at quay 3 is 9 m deep")
		text = summarize(t, &summarizers.Request{Messages: c.log[10:], PreviousSummary: text, MaxTokens: 2000})
	}
	at := c.user("CRANE: It lifts 55 tons.")
	text = summarize(t, &summarizers.Request{Messages: c.log[at:], PreviousSummary: text, MaxTokens: 2000})
	require.Contains(t, text, "55 tons. (replaces [#6])")
	require.NotContains(t, text, "40 tons")
	require.Contains(t, text, "- Note: DEPTH: The water at quay 3 is 9 m deep")
}

// Where the rules do not all fit, the beginning of one is better than nothing of it. A sign says that more follows.
func TestOfARuleThatDoesNotFitTheFirstSentenceIsShown(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Look at the plan of the harbour and tell me where the ferries turn.")
	c.says("They turn beside quay 3.")
	c.user("Never open the north gate.")
	c.says("Noted.")
	c.user("Never lift more than 40 tons. Always ask the master of the harbour for a written consent before you lift anything at all at the north quay.")
	c.says("Noted.")
	c.user("Now look where the buses wait.")
	whole, brief := "", "- Never lift more than 40 tons. … [#4]"
	begun := false
	for budget := uint32(60); whole == "" && budget < 240; budget++ {
		text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: budget, Count: chars4})
		begun = begun || strings.Contains(text, brief)
		if strings.Contains(text, "at the north quay.") {
			whole = text
			require.NotContains(t, text, brief)
		}
	}
	require.NotEmpty(t, whole)
	require.True(t, begun, "no budget has only its beginning")
}
