package extractive_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// offers is a conversation in which the agent asks for many offers and says what it learnt. Nobody uses the names in the
// results.
func offers(n int) *conversation {
	c := &conversation{}
	c.user("Find a caterer for the anniversary in May, 80 guests, and compare the offers.")
	for i := range n {
		var rows strings.Builder
		for row := range 25 {
			fmt.Fprintf(&rows, "listing_%d_%d https://caterers.example/l/%d-%d rating \"%d of 10 guests came back\"\n", i, row, i, row, row)
		}
		c.tool("find_caterers", fmt.Sprintf(`{"page":%d}`, i+1), rows.String(), false)
		c.says(fmt.Sprintf("The root cause of the price of caterer %c is its kitchen: it takes %d.50 EUR for each guest, because all is cooked in Weimar.", 'A'+i, 20+i))
	}
	return c
}

// Names that nobody used leave their place to statements.
func TestStatementsComeBeforeNamesThatNobodyUsed(t *testing.T) {
	t.Parallel()
	c := offers(16)
	summary := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 2000})
	for i := range 16 {
		require.Contains(t, summary, fmt.Sprintf("it takes %d.50 EUR", 20+i))
	}
	require.Contains(t, summary, "listing_", "what is left is still for names")
}

// A long message in the middle of a conversation keeps its first sentences, and what it asks for.
func TestLongMessagesOfTheUserStay(t *testing.T) {
	t.Parallel()
	c := offers(8)
	at := c.user("Hold on, I spoke with the board today and they see this in another light than we did last week. The party moves to the " +
		"garden of the old mill in Apolda, since the hall is being painted. There are 64 guests now and eleven of them eat no meat, " +
		"and the mayor comes as well, but only for the soup. Could you ask the three cheapest ones again with these figures? " +
		"I will be in the train until six and can be reached only by mail.")
	c.log = append(c.log, offers(12).log[1:]...)
	for i := range 25 {
		c.user(fmt.Sprintf("Write to caterer %c that we need %d plates and ask what the transport of them to Apolda costs us.", 'A'+i, 64+i))
		c.says("I have written to them.")
	}
	c.user("What do they say?")
	for i, m := range c.log {
		m.Index = uint32(i)
	}
	for _, tokens := range []uint32{2000, 4000} {
		summary := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: tokens})
		line := lineWith(summary, "- Earlier: Hold on, I spoke with the board today")
		require.Contains(t, line, "ask the three cheapest ones again", tokens)
		require.Contains(t, line, fmt.Sprintf("[#%d]", at), tokens)
	}
}

// lineWith returns the line of a summary that begins with a text, or "".
func lineWith(summary, beginning string) string {
	for line := range strings.Lines(summary) {
		if strings.HasPrefix(line, beginning) {
			return line
		}
	}
	return ""
}

// Where statements repeat the quotes that were chosen before, the room of these stayed empty.
func TestRoomOfQuotesThatStatementsRepeatIsUsed(t *testing.T) {
	t.Parallel()
	var c conversation
	var told []string
	chatter := []string{
		"We walked along the river for an hour, and it was a fine day for that.", "The bakery at the corner sells a new kind of bread since Monday.",
		"Somebody painted the door of the boathouse green last night.", "Moving the old_ropes to the shed beside new_ropes.",
		"The gulls are louder than they were in the spring; nobody knows why.", "Walking past the lighthouse and its two gardens.",
	}
	tell := func(i int, format string, args ...any) {
		told = append(told, fmt.Sprintf(format, args...))
		for _, said := range []string{chatter[i%6], told[len(told)-1], chatter[(i+2)%6]} {
			c.user(said)
			c.says("Noted.")
		}
	}
	for i := range 12 {
		tell(i, "RULE: Never let boat_%02d leave its quay before the captain has signed the sheet.", i)
		if i%2 == 0 {
			tell(i+1, "FACT: The ferry of quay %d leaves for port_%02d at %d:%02d.", i, i, 5+i%17, i*7%60)
		}
	}
	// Statements with the same label stand below it.
	shows := func(text, said string) bool { return strings.Contains(text, said[strings.Index(said, ": ")+2:]) }
	unused := 0
	for budget := uint32(420); budget <= 700; budget += 4 {
		text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: budget, Count: chars4})
		if slices.ContainsFunc(told, func(said string) bool { return !shows(text, said) }) && 100*chars4(text) < 95*budget {
			unused++
		}
	}
	require.Zero(t, unused)
}

// Room that no name needs was left empty, although tools had said more about the names.
func TestRoomThatNoNameNeedsIsForFurtherLines(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Why does the ferry plan have no Sundays?")
	var lines strings.Builder
	for i := range 80 {
		fmt.Fprintf(&lines, "the ferry_plan of harbour %c%c opens a gate for boats from the east when the tide is high\n", 'A'+i%26, 'a'+i/26)
	}
	c.tool("read", `{"path":"docs/ferries.txt"}`, lines.String(), false)
	kept := c.log[2]
	c.says("The plan skips them.")
	summary := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 1000, Count: chars4})
	require.GreaterOrEqual(t, chars4(summary), uint32(950))
	require.Greater(t, strings.Count(summary, "opens a gate"), 20)
	again := summarize(t, &summarizers.Request{Messages: c.log, Kept: []*compactordv1.LoggedMessage{kept}, MaxTokens: 1000, Count: chars4})
	require.NotContains(t, again, "opens a gate", "the agent still sees these lines")
}

// In a small budget, what the user said over time left no room for where the work stands: no changed file, nothing that
// was done, and not the last step.
func TestSmallBudgetsSayWhereTheWorkStands(t *testing.T) {
	t.Parallel()
	var c conversation
	for i := range 24 {
		c.user(fmt.Sprintf("Now give pier %c of the harbour plan its own page, with the depth of the water and the %d names of its boats. "+
			"Mrs. %c. told me today that the old page said too little of the tide, which is %d cm there. Could you show it as a table, too?", 'A'+i, 10+i, 'Z'-i, 90+i))
		c.tool("Edit", fmt.Sprintf(`{"file_path":"site/pier_%c.html","old_string":"depth_%d","new_string":"depth_%d"}`, 'a'+i, i, i+40), "ok", false)
		for k := range 8 {
			c.tool("grep", fmt.Sprintf(`{"pattern":"mooring_%d_%d|berthOfShip%dAtQuay%d"}`, i, k, k, i),
				fmt.Sprintf("chart.go:%d: mooring_%d_%d = berthOfShip%dAtQuay%d(depth)", 10*k+i, i, k, k, i), false)
		}
		c.runs(fmt.Sprintf("make check-pier-%d", i), "ok 12 pages", false)
		c.says(fmt.Sprintf("Pier %c has a page.", 'A'+i))
	}
	c.user("Which boats have no page yet, and which of them lie at two piers?")
	c.tool("read", `{"path":"site/boats.csv"}`, "cutter_12, pier A", false)
	for _, budget := range []uint32{600, 1000, 1400} {
		text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: budget})
		require.Contains(t, below(text, "## Relevant Files"), "modified", budget)
		require.NotEmpty(t, below(text, "### Done"), budget)
		require.Contains(t, below(text, "### In Progress"), "Last step: `read` site/boats.csv", budget)
	}
}
