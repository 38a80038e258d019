package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// An amount with a point is no date.
func TestAmountsInCorrectionsAreNoDates(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Pay 1250.75 EUR to the harbour office, please.")
	c.says("I pay it.")
	c.user("Sorry, 1350.75 EUR, not 1250.")
	require.Contains(t, c.summary(t, ""), "Pay 1250.75 EUR")
}

// A correction marks the statement that it corrects, and loses nothing of it.
func TestCorrectionsAreMarked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, said string }{
		{"Book two seats to Oslo for the 12th of June, by the window.", "Wait, the 10th, not the 12th."},
		{"Book two seats to Oslo for the 12th of June, by the window.", "We leave on the 10th instead of the 12th."},
		{"Book two seats to Oslo for 2027-06-12, by the window.", "Sorry, it is the 10th, not the 12th."},
		{"Show me all prices in dollars, and the fees too.", "Actually, use EUR for the prices."},
		{"Reserve a table for Tuesday with a view of the sea.", "Oops, Wednesday works better for me."},
		{"Reserve a table for Tuesday with a view of the sea.", "Wednesday, not Tuesday, please."},
		{"Reserve a table for 19:00 with a view of the sea.", "Change of plan: at 20:30."},
		{"Reserve a table for 4 guests with a view of the sea.", "My mistake: 6 guests."},
		{"Send the offer to mira@nord.example and copy the office.", "Sorry, mira@sued.example is the address."},
		{"Ask Jonas Weber to sign the offer before noon.", "Actually, ask Mira, not Jonas."},
		{"Never order anything for the kitchen without my approval.", "Actually, order for the kitchen without approval from now on."},
		{"Book two seats to Oslo for the 12th of June, by the window.", "Oh no, change of plans. It is the 10 June now."},
		{"Buche zwei Plätze nach Oslo für den 12. Juni, am Fenster.", "Moment, am 10., nicht am 12."},
		{"Reserviere einen Tisch für 19 Uhr mit Blick auf das Meer.", "Doch um 20 Uhr statt 19 Uhr."},
		{"Reserva dos plazas a Oslo para el 12 de junio, con ventana.", "Perdona, el 10, no el 12."},
		{"Reserva una mesa para el martes con vistas al mar.", "Mejor el miércoles."},
		{"Limite le premier serveur à 80 % de sa capacité.", "En fait, 70% suffit."},
		{"Réserve deux places pour Oslo le 12 juin, côté fenêtre.", "Pardon, le 10, pas le 12."},
		{"Reserve dois lugares para Oslo no dia 12 de junho, na janela.", "Na verdade, dia 10, não 12."},
		{"Закажи два места в Осло на 12 июня, у окна.", "Извини, 10-го, а не 12-го."},
		{"帮我订两张12号去奥斯陆的票，要靠窗。", "不对，是10号，不是12号。"},
		{"帮我订周二的桌子，要看海。", "等等，周三，不是周二。"},
		{"12日のオスロ行きを二席、窓側で予約してください。", "すみません、12日ではなく10日です。"},
		{"12일 오슬로행 좌석 두 개를 창가로 예약해 주세요.", "아니, 12일 말고 10일이요."},
	} {
		var conv conversation
		conv.user("Hello, you are my assistant for this week.")
		conv.says("Hi.")
		conv.user(c.before)
		conv.says("I look for it.")
		conv.user(c.said)
		conv.says("Understood.")
		conv.user("What is the weather like there?")
		text := conv.summary(t, "")
		require.Contains(t, text, c.before+" (corrected in [#4]) [#2]", c.said)
		require.Contains(t, text, c.said+" (replaces [#2]) [#4]", c.said)
		again := summaryOf(t, later(), text)
		require.Contains(t, again, c.before+" (corrected in [#4]) [#2]", c.said)
		require.Contains(t, again, c.said+" (replaces [#2]) [#4]", c.said)
	}
}

// later returns messages that come after those of a summary.
func later() *conversation {
	var c conversation
	c.log = make([]*compactordv1.LoggedMessage, 20)
	c.user("Thanks a lot for the forecast.")
	c.says("You are welcome.")
	return &c
}

// What only sounds like a correction marks nothing.
func TestStatementsThatCorrectNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, said string }{
		{"Book two seats to Oslo for the 12th of June, by the window.", "Not before noon, and not more than 12 euros for lunch."},
		{"Reserve a table for 4 guests with a view of the sea.", "Wait 6 minutes before you ask the restaurant again."},
		{"Reserve a table for 4 guests with a view of the sea.", "Actually, I like the view a lot."},
		{"Show me all prices in EUR, and the fees too.", "Actually, use EUR for the fees of the bank, and 3 digits."},
		{"Reserve a table for 4 guests with a view of the sea.", "Is it 6 guests, not 4?"},
		{"Ändere die Doku zum Export, der Code ist fertig.", "Prüfe die Tests, nicht den Code."},
		{"Use 2 workers for the import.", "Start with page 3, not 2."},
	} {
		var conv conversation
		conv.user(c.before)
		conv.says("I look for it.")
		conv.user(c.said)
		conv.says("Understood.")
		conv.user("What is the weather like there?")
		text := conv.summary(t, "")
		require.NotContains(t, text, "corrected in", c.said)
		require.NotContains(t, text, "(replaces", c.said)
	}
}

// What the agent said about a value is corrected, too.
func TestCorrectionsOfTheAgentsWords(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Ask the technician for the lobby of the hotel.")
	c.says("The technician visits the hotel on 2027-09-15 at 13:00, order TK-4471-B.\n\nInvoice RE-2027-15 of 15 August is paid.")
	c.user("The technician comes on the 16th, not on the 15th.")
	c.says("Understood.")
	c.user("And then the 17th instead of the 16th for the technician.")
	c.says("Understood.")
	c.user("What is the weather like there?")
	text := c.summary(t, "")
	require.Contains(t, text, "order TK-4471-B. (corrected in [#2]) [#1]")
	require.Contains(t, text, "not on the 15th. (corrected in [#4]) [#2]")
	require.Contains(t, text, "15 August is paid. [#1]")
}

// Of statements that do not all fit, those that correct something stay longer.
func TestCorrectionsStayLonger(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Plan the week of the rooms for me, please.")
	c.says("Hi.")
	for room := range 120 {
		said := fmt.Sprintf("Room %d: key %d at the desk.", room, 7000+room)
		if room == 30 {
			said = "Room 29: key 5555, not 7029."
		}
		c.user(said)
		c.says("Noted.")
	}
	text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 500})
	require.Contains(t, text, "key 5555, not 7029. (replaces [#60])")
	require.NotContains(t, text, "key 7028")
}

// A correction of a rule marks the line of the rule, and not what else the user said in that message, unless that has the
// same value.
func TestACorrectionOfARuleMarksTheRule(t *testing.T) {
	t.Parallel()
	for said, marked := range map[string]bool{
		"The archive of the invoices closes on 12 March.":        false,
		"The archive of the invoices answers at port 8081, too.": true,
	} {
		var c conversation
		c.user("Show the invoices of the shop in the preview.")
		c.says("I begin.")
		c.user("Always use port 8081 for the preview server. " + said)
		c.says("I look for it.")
		c.user("No, not 8081, use port 9090 for the preview server.")
		c.says("Understood.")
		c.user("What is the weather like there?")
		text := c.summary(t, "")
		require.Contains(t, text, "- Always use port 8081 for the preview server. (corrected in [#4]) [#2]")
		require.Equal(t, marked, !strings.Contains(text, said+" [#2]"), text)
		require.Equal(t, marked, strings.Contains(text, said+" (corrected in [#4]) [#2]"), text)
	}
}
