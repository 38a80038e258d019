package extractive_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

func TestChats(t *testing.T) {
	t.Parallel()
	for said, chat := range map[string]bool{
		"I'll gather the papers of the ferry and get back to you soon. Thanks a lot!": true,
		"Thank you for your patience! Have a nice day.":                               true,
		"Great, thanks. Once I have the number of the quay, I'll reach out again.":    true,
		"Danke dir. Ich melde mich, sobald die Fähre da ist.":                         true,
		"Muchas gracias, le aviso cuando llegue el barco.":                            true,
		"Спасибо! Я напишу, когда придёт паром.":                                      true,
		"谢谢，我稍后再来。":                                                                   true,
		"ありがとうございます。また連絡します。":                                                         true,
		"I'll take the ferry in the morning. Thanks!":                                 false,
		"Thanks, but the quay must stay open at night.":                               false,
		"Thanks. The quay must stay open at night.":                                   false,
		"I'll check the quay with PORT-4711 and get back to you.":                     false,
		"I'll look for it. Can you tell me when the ferry leaves?":                    false,
		"Danke. Die Fähre darf nachts nicht fahren.":                                  false,
		"Yes, go on.": false,
	} {
		require.Equal(t, chat, extractive.Chats(said), said)
	}
}

// Where there is no room for all that the user said, chat goes first.
func TestChatGivesWayFirst(t *testing.T) {
	t.Parallel()
	const chat, statement = "I'll gather all papers about ferries, buoys, quays, pilots and tides, and get back to you.", "The buoys are red where it is as deep as that."
	var c conversation
	c.user("Draw a map of the harbour with all of its quays.")
	c.says("I draw it.")
	c.user(statement)
	c.says("I put it below.")
	c.user(chat)
	c.says("Very well.")
	for i := range 8 {
		c.user(fmt.Sprintf("The colour of quay number %d is what its signs have in the north.", i))
		c.says("I paint it.")
	}
	require.True(t, extractive.Chats(chat))
	seen := false
	for budget := uint32(60); budget < 600; budget += 4 {
		text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: budget})
		if contains(text, "Earlier: "+chat) {
			require.Contains(t, text, statement, "%d tokens", budget)
			seen = true
		}
	}
	require.True(t, seen)
}
