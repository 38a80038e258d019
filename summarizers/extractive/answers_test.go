package extractive_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// An answer that has no letter or digit chooses nothing, and does no harm.
func TestAnswersOfPunctuation(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"?", "...", "!!", "—", "…", "/", "` `", "(", "\xff"} {
		var c conversation
		c.user("Port the deploy script to Go.")
		c.says("We can do it in two ways:\n1. Use one file for it\n2. Use two files for it\n\nWhich one?")
		c.user(said)
		c.says("I wait.")
		require.NotContains(t, c.summary(t, ""), "that is", said)
	}
}

// A no to another question refuses no decision.
func TestANoAnswersItsQuestion(t *testing.T) {
	t.Parallel()
	const decision = "I decided to use `FileStore` instead of redis because it is faster."
	for _, c := range []struct {
		question, said string
		stays          bool
	}{
		{"", "No.", false},
		{"", "No, that's fine, go on.", true},
		{" Do you have any objections?", "No.", true},
		{" Shall I also update the docs?", "no", true},
		{" Is anything missing?", "Nope, all good!", true},
		{" Is `FileStore` what you want?", "no", false},
	} {
		var conv conversation
		conv.user("Port the deploy script to Go.")
		conv.says(decision + c.question)
		conv.user(c.said)
		conv.says("The script now reads its settings.")
		conv.runs("go test ./...", "ok", false)
		require.Equal(t, c.stays, contains(below(conv.summary(t, ""), "## Key Decisions"), "FileStore"), "%s %s", c.question, c.said)
	}
}

// A rule beside a choice is of the user's message, not of the one with the options.
func TestARuleBesideAChoiceCitesTheUser(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Port the deploy script to Go.")
	c.says("We can do it in two ways:\n1. Use one file for it\n2. Use two files for it\n\nWhich one?")
	c.user("Option 2. Never push to main.")
	c.says("I use two files.")
	c.user("What is left?")
	require.Contains(t, below(c.summary(t, ""), rulesHeading), "Never push to main. [#2]")
}

// A fact is left out for a quote that holds it only if that quote stays.
func TestAFactAndItsQuoteAreNotBothLeftOut(t *testing.T) {
	t.Parallel()
	const decided, cause = "I decided to use `FileStore` instead of redis.", "The root cause is `LedgerX77` in pkg/ledger/a.go."
	for _, line := range []string{decided + " " + cause, cause + " " + decided} {
		for budget := uint32(150); budget < 1500; budget += 50 {
			var c conversation
			c.user("Port the deploy script to Go and keep its tests.")
			c.says(line + " Let me look at `QueueY88`, `QueueY89`, `SocketZ5` and pkg/queue/b.go now.")
			c.runs("ls", "a.go", false)
			c.says("The script now reads its settings.")
			require.Contains(t, summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: budget}), "LedgerX77", budget)
		}
	}
}

// An error that the user quotes in a request is what the request is about. One that a program puts beside it is open.
func TestErrorsThatARequestQuotesAreNoObstacles(t *testing.T) {
	t.Parallel()
	const failure = "ValueError: mast is not a spar of this boat"
	for beside, open := range map[string]bool{"The book of the harbour is open.": false, failure: true} {
		var c conversation
		request := "Mend the list of the spars.\n\nTraceback (most recent call last):\n  File \"spars.py\", line 4\n" + failure
		if open {
			request = "Mend the list of the spars."
		}
		c.user("<environment_details>\n" + beside + "\n</environment_details>\n" + request)
		c.says("I look at the list.")
		require.Equal(t, open, contains(below(c.summary(t, ""), "### Blocked"), failure), beside)
	}
}
