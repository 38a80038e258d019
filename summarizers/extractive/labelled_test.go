package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// TestLabelsSayWhatIsARule: people who write labels say by them what is a rule, whatever the words behind it are.
func TestLabelsSayWhatIsARule(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{
		"Safety rule: If a caller sounds upset, hand over to a person.",
		"SAFETY RULE: If what somebody asks for could hurt a neighbour, stop and ask instead of doing it.", "POLICY: Refunds above 50 EUR go to the desk in Lisbon.",
		"**Constraint:** The image stays below 80 MB.", "Regel: Rechnungen gehen an die Buchhaltung.", "Règle : les factures vont à la comptabilité.",
		"规则：发票交给财务部门。",
	} {
		var c conversation
		c.user("Good morning. Have a look at the parser, it fails on nested comments.")
		c.user("Here is what holds from today on:\n\n" + rule + "\n\nCan you look at the importer first?")
		c.user("And now look at the exporter of the same module.")
		require.Contains(t, below(c.summary(t, ""), "## Constraints & Preferences"), rule[strings.Index(rule, " ")+1:], rule)
	}
}

// TestLabelSaysTheGoal: a statement that is called the goal is the goal, also where the talk began with something else.
func TestLabelSaysTheGoal(t *testing.T) {
	t.Parallel()
	for goal, want := range map[string]bool{
		"Goal: ship the importer of the ledger with release 4.2.": true,
		"Current objective: the importer of the ledger in 4.2.":   true,
		"目标：把账本的导入功能随 4.2 版一起发布。":                                 true,
		"Background: the importer of the ledger came with 4.2.":   false,
	} {
		var c conversation
		c.user("The gateway retries three times before it gives up.")
		c.user(goal)
		c.user("The queue keeps its messages for nine days.")
		first, _, _ := strings.Cut(below(c.summary(t, ""), "## Goal"), "\n")
		require.Equal(t, want, strings.Contains(first, "4.2"), goal)
	}
}

// Of many messages that do not all fit, statements with labels stay, and not the chatter after them.
func TestLabelledStatementsStayLonger(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Good morning. Have a look at the parser, it fails on nested comments.")
	c.says("I look.")
	c.user("FACT: The depot of the parser is in Porto.")
	c.says("Noted.")
	for range 60 {
		c.user("I am walking through the park on my way to the office and it rains.")
		c.user("The weather of the last week was better than that of this one, they say.")
		c.says("Nice.")
	}
	for i := range 12 {
		c.user("Today I saw " + strings.Repeat("many ", i+1) + "boats on the river beside the office.")
		c.says("Nice.")
	}
	require.Contains(t, c.summary(t, ""), "FACT: The depot of the parser is in Porto. [#2]")
	text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 300})
	require.Contains(t, text, "FACT: The depot of the parser is in Porto. [#2]")
	require.NotContains(t, text, "Today I saw many boats")
}

// TestLinesWithTheSameLabelStandBelowIt: the label is written once, and each line is still known by it in the next summary.
func TestLinesWithTheSameLabelStandBelowIt(t *testing.T) {
	t.Parallel()
	const together = "- HARBOUR RULE:\n" +
		"  - Never tie a boat to the north mole. [#2]\n" +
		"  - \\(developer) boats always keep their lights on. [#6]\n" +
		"- DEPOT RULE: Never lock the east gate. [#4]"
	var c conversation
	c.user("Port the timetable of the harbour to the new format.")
	c.says("I begin with the ferries.")
	c.user("HARBOUR RULE: Never tie a boat to the north mole.")
	c.says("Noted.")
	c.user("DEPOT RULE: Never lock the east gate.")
	c.says("Noted.")
	c.user("HARBOUR RULE: (developer) boats always keep their lights on.")
	c.says("Noted.")
	c.user("Go on with the timetable.")
	text := c.summary(t, "")
	for range 2 {
		require.Equal(t, together, below(text, "## Constraints & Preferences"))
		text = summarize(t, &summarizers.Request{PreviousSummary: text, MaxTokens: 2000})
	}
	c.log = nil
	c.user("HARBOUR RULE: Never leave a boat without a fender.")
	c.says("Noted.")
	c.user("Go on.")
	for i, m := range c.log {
		m.Index = uint32(10 + i)
	}
	require.Contains(t, c.summary(t, text), "always keep their lights on. [#6]\n  - Never leave a boat without a fender. [#10]\n- DEPOT")
}

// TestShortLabelsStayInTheirLines: a label of its own line would be longer than what it saves.
func TestShortLabelsStayInTheirLines(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Port the timetable of the harbour to the new format.")
	c.says("I begin with the ferries.")
	for _, rule := range []string{"BAN: Never tie a boat to the north mole.", "BAN: Never lock the east gate."} {
		c.user(rule)
		c.says("Noted.")
	}
	c.user("Go on with the timetable.")
	require.Contains(t, c.summary(t, ""), "- BAN: Never tie a boat to the north mole. [#2]\n- BAN: Never lock the east gate. [#4]")
}

// TestLabelsOfOneMessageStayInTheirLines: a label that heads a list in one message is not written without what it heads.
func TestLabelsOfOneMessageStayInTheirLines(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Port the timetable of the harbour to the new format.")
	c.says("I begin with the ferries.")
	c.user("HARBOUR RULE: Never tie a boat to the north mole.\nHARBOUR RULE: Never leave a boat without a fender.")
	c.says("Noted.")
	c.user("Go on with the timetable.")
	require.NotContains(t, c.summary(t, ""), "- HARBOUR RULE:\n")
}
