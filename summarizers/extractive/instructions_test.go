package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Instructions for agents also tell what is there and what happens, and have titles and halves of sentences.
func TestOnlyRulesOfInstructionsAreKept(t *testing.T) {
	t.Parallel()
	for text, rule := range map[string]bool{
		"Every remark names its line.":                     true,
		"Write each answer as one paragraph.":              true,
		"You must name the line of each remark.":           true,
		"You have only the tools of the harbour at hand.":  true,
		"You are a careful clerk of the harbour office.":   false,
		"You have a desk with a lamp and a chair.":         false,
		"You see the list of the boats then.":              false,
		"There are four quays in this harbour.":            false,
		"The following remarks are about the quays.":       false,
		"It may be of no use for the boats of today.":      false,
		"You're working in an office where":                false,
		"Each entry of the book has fields such as":        false,
		"Step 2: Enter the boat (EXACT form required)":     false,
		"**Phase 3: Check the fees, never by heart**":      false,
		"Step 2: You must never enter a boat by its name.": true,
	} {
		var c conversation
		c.user("Enter the boats of today.")
		c.says("I begin.")
		c.add(compactordv1.Role_ROLE_SYSTEM, textPart(text))
		c.says("Good.")
		require.Equal(t, rule, below(c.summary(t, ""), rulesHeading) != "", text)
	}
}

// People leave out full stops: a rule of the user may end like the beginning of a list.
func TestRulesOfTheUserMayEndInAPreposition(t *testing.T) {
	t.Parallel()
	const rule = "Never rename the account that the clerk works with"
	var c conversation
	c.user("Enter the boats of today, and look at what the harbour office has in its book about each of them before you do so.\n\n" + rule +
		"\n\nThe office opens at nine and closes at four, and the crane has a break of an hour at noon, so that it is best to begin early.")
	c.says("I begin.")
	c.user("How many are there?")
	require.Contains(t, below(c.summary(t, ""), rulesHeading), rule)
}

// Instructions that are loaded for a piece of work end with it.
func TestLoadedInstructionsEnd(t *testing.T) {
	t.Parallel()
	const firm = "Never enter a boat by its name."
	skill := "# Entering boats\n\n" + firm + "\n\n" + strings.Repeat("A boat has a number and a length, and both are in the book. ", 8)
	var c conversation
	c.user("Enter the boats of today.")
	c.tool("load", `{"name":"entering"}`, "loaded", false)
	c.user(skill)
	c.tool("enter", `{"number":4711}`, "entered", false)
	require.Contains(t, below(c.summary(t, ""), rulesHeading), firm, "the work goes on")
	c.says("All boats are entered.")
	require.Contains(t, below(c.summary(t, ""), rulesHeading), firm, "the user may ask for more of it")
	c.user("Thanks. What does the crane cost?")
	require.NotContains(t, c.summary(t, ""), firm)
}

// What a call loads is not the user's, whatever it looks like.
func TestWhatACallLoadsIsNoRequest(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Enter the boats of today.")
	c.tool("Skill", `{"name":"entering"}`, "Launching it", false)
	c.user("Spawn a clerk and let him enter the boats. Do NOT enter a boat directly.")
	c.says("The clerk has entered them.")
	require.Equal(t, "Enter the boats of today. [#0]", below(c.summary(t, ""), "## Goal"))
	require.Contains(t, below(c.summary(t, ""), rulesHeading), "(system) Do NOT enter a boat directly.")
}

// A message that is one element in tags is not the user's, unless the first one was in the same tags.
func TestElementsAreNoRequests(t *testing.T) {
	t.Parallel()
	const notice = "<crane-report>\nThe crane has come back and waits for orders.\n</crane-report>"
	var c conversation
	c.user("Enter the boats of today.")
	c.says("They are entered.")
	c.user(notice)
	c.says("Good.")
	require.Equal(t, "Enter the boats of today. [#0]", below(c.summary(t, ""), "## Goal"))

	for _, tag := range []string{"job", "user_query"} {
		var wrapped conversation
		if tag == "job" {
			wrapped.user("<job>Enter the boats of today.</job>")
			wrapped.says("They are entered.")
		}
		wrapped.user("<" + tag + ">What does the crane cost today?</" + tag + ">")
		require.Contains(t, below(wrapped.summary(t, ""), "## Goal"), "What does the crane cost today?", tag)
	}
}

// Instructions end where the agent answers: what the user says then is the user's own.
func TestOnlyTheMessageAfterALoaderIsLoaded(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Enter the boats of today.")
	c.tool("Skill", `{"name":"entering"}`, "Launching it", false)
	c.user("Spawn a clerk and let him enter the boats. Do NOT enter a boat directly.")
	c.says("Shall I also enter the boats of yesterday?")
	c.user("Never enter a boat twice.")
	c.says("I will not.")
	c.user("What does the crane cost today?")
	require.Contains(t, below(c.summary(t, ""), rulesHeading), "- Never enter a boat twice. [#5]")
}

// A document in tags beside the task is read as one: its firm rules are kept, and the steps and cycles in it are not.
func TestInstructionsBesideATaskAreADocument(t *testing.T) {
	t.Parallel()
	const steps = `## Workflow

1. Open the book of the harbour
2. Enter the boats of today
3. Compare the number of boats with the list of the pilot

You work in an office where

1. You send one form
2. The office answers it
`
	const rules = `## Rules

- NEVER enter a boat by its name.
- Enter only boats that the pilot has seen.

Do not enter any of the following boats:

- boats of the harbour office
- boats that were here yesterday
`
	var c conversation
	c.user("Enter the boats of today, and say which of them stay for longer than a week.\n\n<instructions>\n# How to work\n\n" + steps + "\n" + rules + "</instructions>")
	c.says("I begin.")
	require.Equal(t, []string{
		"- (system) NEVER enter a boat by its name. [#0]",
		"- (system) Do not enter any of the following boats: boats of the harbour office; boats that were here yesterday [#0]",
	}, strings.Split(below(c.summary(t, ""), rulesHeading), "\n"))
}

// The instructions of a skill that the user calls end with its work as well.
func TestACalledSkillEnds(t *testing.T) {
	t.Parallel()
	const firm = "Never enter a boat by its name."
	var c conversation
	c.user("/entering")
	c.user("Base directory for this skill: /skills/entering\n\n# Entering boats\n\n" + firm + "\n\n" + strings.Repeat("A boat has a number and a length, and both are in the book. ", 8))
	c.says("Which boats?")
	require.Contains(t, below(c.summary(t, ""), rulesHeading), firm)
	c.user("Those of today. What does the crane cost?")
	require.NotContains(t, c.summary(t, ""), firm)
}

// What a command says ends with the work that it was for, also where the conversation begins with it.
func TestInstructionsOfACommandEnd(t *testing.T) {
	t.Parallel()
	const firm = "Never enter a boat by its name."
	document := "# Entering boats\n\n" + firm + "\n\n" + strings.Repeat("A boat has a number and a length, and both are in the book. ", 8)
	for _, asked := range []bool{false, true} {
		var c conversation
		c.user("<command-name>/enter</command-name>\n<command-args>today</command-args>")
		c.user(document)
		if asked {
			c.user("Enter the boats of today.")
		}
		c.tool("enter", `{"number":4711}`, "entered", false)
		c.says("All boats are entered.")
		require.Contains(t, below(c.summary(t, ""), rulesHeading), firm)
		c.user("Thanks. What does the crane cost?")
		require.Equal(t, asked, contains(c.summary(t, ""), firm), "the user asked for something beside it: %v", asked)
	}
}
