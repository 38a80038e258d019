package extractive_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Where several persons write as the user, each statement keeps its author, in whatever way they sign.
func TestStatementsKeepTheirAuthor(t *testing.T) {
	t.Parallel()
	for _, form := range []struct{ anna, bob string }{
		{"Anna Brandt: ", "Bob: "},
		{"[anna] ", "[bob_w] "},
		{"<anna> ", "<bob> "},
		{"**Anna**: ", "**Bob:** "},
		{"[14:02] Anna: ", "[14:05] Bob: "},
		{"Anna (14:02): ", "Bob (14:05): "},
		{"安娜：", "鲍勃："},
	} {
		var c conversation
		c.user(form.anna + "Please plan the summer party of the office.")
		c.says("I look for a place.")
		c.user(form.bob + "The garden of the club is free in July. Never book anything above 900 euros.")
		c.says("I ask the club.")
		c.user(form.anna + "I like that. The food must be vegetarian, and the music has to end at ten.")
		c.says("Noted.")
		c.user(form.bob + "ok")
		c.says("The garden is reserved.")
		c.user(form.anna + "Find a band for the evening.")
		text := c.summary(t, "")
		rules := below(text, rulesHeading)
		require.Contains(t, rules, "- "+form.bob+"Never book anything above 900 euros. [#2]", text)
		require.Contains(t, rules, form.anna+"The food must be vegetarian", text)
		require.Contains(t, text, ": "+form.bob+"The garden of the club is free in July. [#2]", text)
		require.NotContains(t, text, form.bob+"ok", "A nod of an author is a nod.")
	}
}

// A message that is a piece of a chat has several authors.
func TestAPastedChatHasAuthors(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Anna: Please plan the summer party of the office.\nBob: The garden is free. Never book anything above 900 euros.\nAnna: Agreed. The food must be vegetarian.")
	c.says("I look for a place.")
	c.user("Go on.")
	rules := below(c.summary(t, ""), rulesHeading)
	require.Contains(t, rules, "- Bob: Never book anything above 900 euros. [#0]")
	require.Contains(t, rules, "- Anna: The food must be vegetarian. [#0]")
}

// Labels of one person are no authors.
func TestLabelsAreNoAuthors(t *testing.T) {
	t.Parallel()
	for _, messages := range [][]string{
		{"Input: Plan the party. Never book anything.", "Feedback: The garden is too small. Always ask the club first.", "Input: Look for a hall. Never pay in advance."},
		{"Plan it. Never book anything.", "Party: The garden is too small. Always ask the club first.", "Look for a hall. Never pay in advance.", "Party: go on.", "Music: no, no band."},
		{"Place: Plan the party there. Never book anything.", "Club: The garden is too small. Always ask the club first.", "Hall: Look at it. Never pay in advance."},
		{"Anna: Plan the party. Never book anything.", "Anna: The garden is too small. Always ask the club first.", "Anna: Look for a hall. Never pay in advance."},
	} {
		var c conversation
		for _, said := range messages {
			c.user(said)
			c.says("I look at it.")
		}
		require.Contains(t, below(c.summary(t, ""), rulesHeading), "- Always ask the club first. [#2]")
	}
}

// A label behind an author counts as if the author had not signed.
func TestALabelBehindAnAuthorIsReplaced(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Anna: Plan the party.")
	c.says("I look for a place.")
	c.user("Bob: Budget: 900 euros")
	c.says("Noted.")
	c.user("Anna: Budget: 1200 euros")
	c.says("Noted.")
	text := c.summary(t, "")
	require.Contains(t, text, "Anna: Budget: 1200 euros (replaces [#2])")
	require.NotContains(t, text, "900 euros")
}
