package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// TestAChoiceIsShownInWords: who answers a list of options by a number, a letter or a place chooses its item.
func TestAChoiceIsShownInWords(t *testing.T) {
	t.Parallel()
	numbers := "There are three ways:\n\n1. **A queue** in front of the writer.\n   - slower\n2. A lock in the database.\n3. Retry until it works.\n\nWhich one do you want?"
	letters := "I can do this:\n\na) A queue in front of the writer.\nb) A lock in the database.\n\nWhat do you prefer?"
	words := "### Option 1: A queue in front of the writer\nIt is slow.\n\n### Option 2: A lock in the database\n1. It needs a migration.\n2. It needs a rest.\n\nTell me."
	german := "**Variante A** – A queue in front of the writer\n\n**Variante B** – A lock in the database\n\nWas soll ich tun?"
	chinese := "有两个方案：\n\n方案一：A queue in front of the writer\n方案二：A lock in the database\n\n选哪个？"
	bullets := "We could do one of these:\n\n- A queue in front of the writer\n- A lock in the database\n\nWhich?"
	table := "| # | Way | Cost |\n|---|---|---|\n| 1 | **A queue** in front of the writer | low |\n| 2 | A lock in the database | high |\n| 3 | Retry until it works | low |\n\nWhich?"
	question := numbers + "\n\nShall I go with option 2?"
	for _, c := range []struct{ offered, said, chosen string }{
		{numbers, "3", "Retry until it works."},
		{numbers, "2.", "A lock in the database."},
		{numbers, "(1)", "A queue in front of the writer."},
		{numbers, "#2 please", "A lock in the database."},
		{numbers, "option 2", "A lock in the database."},
		{numbers, "Nummer 3, bitte", "Retry until it works."},
		{numbers, "let's do 2", "A lock in the database."},
		{numbers, "1 and 3", "A queue in front of the writer.”, “Retry until it works."},
		{numbers, "let's add 3 too", "Retry until it works."},
		{numbers, "1, 3", "A queue in front of the writer.”, “Retry until it works."},
		{numbers, "the first one", "A queue in front of the writer."},
		{numbers, "The last one, please", "Retry until it works."},
		{numbers, "le deuxième", "A lock in the database."},
		{numbers, "第二个", "A lock in the database."},
		{numbers, "选2", "A lock in the database."},
		{numbers, "all", "A queue in front of the writer.”, “A lock in the database.”, “Retry until it works."},
		{numbers, "3 and I would even consider to log each try, could that be done?", "Retry until it works."},
		{letters, "b", "A lock in the database."},
		{letters, "B.", "A lock in the database."},
		{letters, "both", "A queue in front of the writer.”, “A lock in the database."},
		{words, "2", "A lock in the database"},
		{words, "I take option 2, since it is fast", "A lock in the database"},
		{german, "Variante B", "A lock in the database"},
		{german, "b", "A lock in the database"},
		{german, "beide", "A queue in front of the writer”, “A lock in the database"},
		{chinese, "方案二", "A lock in the database"},
		{chinese, "2", "A lock in the database"},
		{bullets, "the second one", "A lock in the database"},
		{numbers, "skip 1,3 and do the rest", "A queue in front of the writer.”, “Retry until it works."},
		{table, "2", "A lock in the database | high"},
		{table, "skip 1, 3 and do the rest", "A queue in front of the writer | low”, “Retry until it works | low"},
		{question, "yes, do that", "A lock in the database."},
	} {
		t.Run(c.said+" of "+c.offered[:20], func(t *testing.T) {
			t.Parallel()
			var log conversation
			log.user("Make the import safe when two of them run at once.")
			log.says(c.offered)
			log.user(c.said)
			text := log.summary(t, "")
			require.Contains(t, below(text, "## Goal"), "- Last request: "+c.said+" (that is: “"+c.chosen+"”) [#1, #2]")
			require.Equal(t, 1, strings.Count(text, c.chosen+"”)"))
		})
	}
}

func TestNoChoiceIsMadeUp(t *testing.T) {
	t.Parallel()
	options := "There are three ways:\n\n1. A queue in front of the writer.\n2. A lock in the database.\n3. Retry until it works.\n\nWhich one?"
	for _, c := range []struct{ offered, said string }{
		{options, "wait 5 minutes, then try again"},
		{options, "2 new comments came in on the page, have a look"},
		{options, "1. lint fails 2. update the branch"},
		{options, "do the tests first"},
		{options, "use port 2 of the switch instead"},
		{options, "7"},
		{options, "a bit later"},
		{options, "all of the tests fail now, why?"},
		{"It is done: the writer waits now.", "2"},
		{"1. Only one way is left.", "1"},
		{"```\n1. not an option\n2. code\n```\nShall I?", "2"},
	} {
		var log conversation
		log.user("Make the import safe when two of them run at once.")
		log.says(c.offered)
		log.user(c.said)
		require.NotContains(t, log.summary(t, ""), "that is:", c.said)
	}
}

// TestAChoiceBecomesADecision: once the user said more, what was chosen is among the decisions, and stays there.
func TestAChoiceBecomesADecision(t *testing.T) {
	t.Parallel()
	var log conversation
	log.user("Make the import safe when two of them run at once.")
	log.says("Two ways:\n\n1. A queue in front of the writer.\n2. A lock in the database.")
	log.user("2")
	first := log.summary(t, "")
	log.says("I added the lock.")
	log.user("Now add a test for two imports at once.")
	log.says("I begin with the test.")
	line := "- 2 (that is: “A lock in the database.”) [#1, #2]"
	for _, previous := range []string{"", first} {
		rest := log.log
		if previous != "" {
			rest = log.log[3:]
		}
		text := summarize(t, &summarizers.Request{Messages: rest, PreviousSummary: previous, MaxTokens: 2000})
		for range 3 {
			require.Contains(t, below(text, "## Key Decisions"), line)
			require.Equal(t, 1, strings.Count(text, "A lock in the database"), text)
			text = summarize(t, &summarizers.Request{PreviousSummary: text, MaxTokens: 2000})
		}
	}
}

// TestASecretInAnOptionIsRedacted: a choice cites the message with the options.
func TestASecretInAnOptionIsRedacted(t *testing.T) {
	t.Parallel()
	var log conversation
	log.user("Which key do we use for the import?")
	log.says("1. The key hunter2hunter2 of the shop.\n2. The key of the depot.")
	log.user("1")
	text := summarize(t, &summarizers.Request{
		Messages: log.log, MaxTokens: 2000, Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2hunter2", "[secret]") },
	})
	require.Contains(t, text, "The key [secret] of the shop.")
	require.NotContains(t, text, "hunter2")
}
