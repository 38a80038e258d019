package extractive_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// What the user said in other words to be another way now stood beside the old value, and nothing said which one holds.
func TestUpdatesInOtherWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		was, now string
		// gone is the old value, if the statement goes as a whole; left is what stays of it.
		gone, left string
	}{
		{was: "The ferry to the island leaves at 9:40.", now: "Heads up: the island ferry now leaves at 10:15.", gone: "9:40"},
		{was: "Mara Lindt runs the harbour desk in May.", now: "Jonas Weber now runs the harbour desk.", gone: "Mara"},
		{was: "FACT: The boathouse is rented until 2027-03-09.", now: "Change: we rent the boathouse until April 2.", gone: "2027-03-09"},
		{was: "We name the new ship GULL-204 in all papers.", now: "The papers use HERON-377 as the name of the ship from now on.", gone: "GULL-204"},
		{was: "The drawings are in plans/harbour-2.", now: "The drawings have moved to plans/harbour-5.", gone: "harbour-2"},
		{was: "Show departures in UTC.", now: "From now on, show departures in Lisbon time.", gone: "UTC"},
		{
			was: "LIMIT: The rent of the crane is at most $900. Never pay without a receipt.", now: "Update: keep the rent of the crane below four hundred dollars.",
			left: "Never pay without a receipt. (corrected in [#6])",
		},
		{was: "FACT: The pilot of this week is Mara Lindt.", now: "FACT: Jonas Weber is the pilot of this week.", gone: "Mara"},
		{was: "Die Fähre zur Insel fährt um 9:40.", now: "Ab jetzt fährt die Fähre zur Insel um 10:15.", gone: "9:40"},
	} {
		var c conversation
		c.user("Look at the timetable of the harbour and find out why it has no Sundays.")
		c.says("I look.")
		c.user(test.was)
		c.says("Noted.")
		c.user("The gulls are loud today.")
		c.says("They are.")
		c.user(test.now)
		c.says("Noted.")
		c.user("What do the buses do?")
		text := c.summary(t, "")
		require.Contains(t, text, test.now+" (replaces [#2])", test.was)
		if test.gone != "" {
			require.NotContains(t, text, test.gone)
		} else {
			require.Contains(t, text, test.left)
		}
		first := summarize(t, &summarizers.Request{Messages: c.log[:5], MaxTokens: 2000})
		merged := summarize(t, &summarizers.Request{Messages: c.log[5:], PreviousSummary: first, MaxTokens: 2000})
		require.Contains(t, merged, test.now+" (replaces [#2])", "over two digests: "+test.was)
	}
}

// Two statements about different things, or of different kinds, both hold.
func TestOtherStatementsAreNoUpdates(t *testing.T) {
	t.Parallel()
	for _, test := range [][2]string{
		{"The north quay opens on 2027-03-09.", "The south quay now opens on 2027-04-02."},
		{"FACT: The pilot of this week is Mara Lindt.", "FACT: Jonas Weber is the cook of this week."},
		{"RULE: Never paint the boat GULL-204 in the harbour.", "RULE: Never move the boat HERON-377 in the harbour."},
		{"RULE: Don’t open plans/ships.md in the harbour.", "RULE: Don’t open docs/cranes.md in the harbour."},
		{"RULE: Nobody enters plans/ships.md without the word of the harbour.", "RULE: Nobody enters docs/cranes.md without the word of the harbour."},
		{"FACT: The ferry to the island costs $9.", "FACT: The ferry to the coast costs $4."},
		{"The ferry to the island leaves at 9:40.", "The ferry to the island now has GULL-204 on its side."},
		{"The list of ships is in plans/ships.md.", "Now read the list of cranes in docs/cranes.md."},
		{"The ferry to the island leaves at 9:40.", "The office opens at 10:15 now."},
	} {
		var c conversation
		c.user("Look at the timetable of the harbour and find out why it has no Sundays.")
		c.says("I look.")
		for _, said := range test {
			c.user(said)
			c.says("Noted.")
		}
		c.user("What do the buses do?")
		text := c.summary(t, "")
		require.NotContains(t, text, "(replaces")
		require.NotContains(t, text, "corrected in")
		require.Contains(t, text, test[0])
		require.Contains(t, text, test[1])
	}
}

// If two older statements could be meant, both stay as they are.
func TestUpdateOfOneOfTwoThings(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Look at the timetable of the harbour and find out why it has no Sundays.")
	for _, way := range []string{"coast", "island"} {
		c.says("Noted.")
		c.user(fmt.Sprintf("The ferry of the %s leaves at %d:40.", way, 3+len(way)))
	}
	c.says("Noted.")
	c.user("The ferry now leaves at 10:15.")
	c.says("Noted.")
	c.user("What do the buses do?")
	require.NotContains(t, c.summary(t, ""), "(replaces")
}
