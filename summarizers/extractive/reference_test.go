package extractive_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A short message that refers to what the agent said stands beside it.
func TestReferencesAreShownWithWhatTheyAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, said string }{
		{"The hash of the commit now stands in the footer of the page.", "remove this again, somebody will take it for a link"},
		{"Shall I count the imported rows in the nightly export, too?", "ok, do nothing, then write the tests for the depot"},
		{"The retries are in their own file.", "undo that and write them into the pager again"},
	} {
		var log conversation
		log.user("Make the import safe when two of them run at once.")
		log.says(c.before)
		log.user(c.said)
		log.says("I mind it and go on with the import.")
		log.user("Now write the notes for the release of the shop.")
		log.says("I write them.")
		require.Contains(t, log.summary(t, ""), "- Earlier: "+c.said+" (answering: “"+c.before+"”) [#2]")
	}
}

// Others stand alone.
func TestNoReferenceIsMadeUp(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"Commit and go on.",
		"提交并推送。",
		"Write this week's notes for the release of the shop.",
		"The export of the shop should write that file only once a day.",
		"Write the notes for the release of the shop, which is due on Friday at noon, and send it to the depot and to the shop, which need that.",
	} {
		var log conversation
		log.user("Make the import safe when two of them run at once.")
		log.says("The retries are in their own file.")
		log.user(said)
		log.says("I begin with it.")
		require.NotContains(t, log.summary(t, ""), "answering", said)
	}
}

// What the user wrote again, with more, after an interruption is shown once.
func TestAMessageWrittenAgainIsShownOnce(t *testing.T) {
	t.Parallel()
	var log conversation
	log.user("Make the import safe when two of them run at once.")
	log.says("I look at the import.")
	log.user("Move the retries to their own file.")
	log.user("Move the retries to their own file, and count them there.")
	log.says("I move them.")
	log.user("Now write the notes for the release of the shop.")
	log.says("I write them.")
	text := log.summary(t, "")
	require.Contains(t, text, "Move the retries to their own file, and count them there. [#3]")
	require.NotContains(t, text, "[#2]")
}
