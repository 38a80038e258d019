package extractive_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

const nextHeading = "## Next Steps"

// What the agent asked at last is open until the user answers.
func TestAQuestionIsOpenUntilTheUserAnswers(t *testing.T) {
	t.Parallel()
	const question = "Which of the two accounts should I use for the transfer?"
	for _, c := range []struct {
		name, said, line string
		then             func(c *conversation)
	}{
		{"at the end", "Both accounts are open. " + question, question, nil},
		{"in bold", "**" + question + "**", question, nil},
		{"with a remark", question + " The fee is the same.", question, nil},
		{"in another language", "Hay dos cuentas abiertas. ¿Desde cuál de ellas hago la transferencia?", "¿Desde cuál de ellas hago la transferencia?", nil},
		{"without its subject", "There is a savings account and a current account. Which one?", "a current account. Which one?", nil},
		{"behind a list", "I found these accounts:\n\n1. Savings at Nordbank\n2. Current account\n\nWhich one do you want to use?", "(1: Savings at Nordbank; 2: Current account)", nil},
		{"answered", question, "", func(c *conversation) { c.user("The first."); c.says("The transfer is done.") }},
		{"and went on", question, "", func(c *conversation) { c.runs("ls", "ok", false) }},
		{"of itself", "Why does it fail? The limit was reached. It is 500 a day. The bank resets it at night. I try again tomorrow.", "", nil},
		{"of nothing", "The transfer is done. Anything else?", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var conv conversation
			conv.user("Transfer the rent for May.")
			conv.runs("accounts", "two accounts", false)
			conv.says(c.said)
			if c.then != nil {
				c.then(&conv)
			}
			text := conv.summary(t, "")
			require.Equal(t, c.line != "", contains(below(text, nextHeading), "Asked the user: "), text)
			require.Contains(t, below(text, nextHeading), c.line)
		})
	}
}

// An answer that the view keeps is not understood without its question, so the summary has that, but not as open work.
func TestAQuestionStaysForItsKeptAnswer(t *testing.T) {
	t.Parallel()
	var conv, kept conversation
	conv.user("Transfer the rent for May.")
	conv.says("Which of the two accounts should I use for the transfer?")
	kept.user("The first.")
	text := summarize(t, &summarizers.Request{Messages: conv.log, Kept: kept.log, MaxTokens: 2000})
	require.Contains(t, below(text, "## Critical Context"), "Asked the user, who answers next: Which of the two accounts")
	require.Empty(t, below(text, nextHeading))

	var goesOn conversation
	goesOn.says("I use the first one, it is the default.")
	require.NotContains(t, summarize(t, &summarizers.Request{Messages: conv.log, Kept: goesOn.log, MaxTokens: 2000}), "Asked the user")
}

// The next compaction drops a question that was answered meanwhile, and shows it beside a short answer.
func TestACarriedQuestionEnds(t *testing.T) {
	t.Parallel()
	var conv conversation
	conv.user("Transfer the rent for May.")
	conv.says("Which of the two accounts should I use for the transfer?")
	previous := conv.summary(t, "")
	require.Contains(t, below(previous, nextHeading), "Asked the user: ")
	require.Contains(t, below(summarize(t, &summarizers.Request{PreviousSummary: previous, MaxTokens: 2000}), nextHeading), "Asked the user: ")

	log := append([]*compactordv1.LoggedMessage{nil, nil}, conv.log...)
	conv.log = log[:2]
	conv.user("Savings.")
	text := summaryOf(t, &conv, previous)
	require.NotContains(t, text, "Asked the user")
	require.Contains(t, text, "Savings. (answering: “Which of the two accounts should I use")
}
