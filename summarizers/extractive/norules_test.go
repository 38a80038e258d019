package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// What tells, answers, allows, announces or asks for something now is no rule, whatever words it has.
func TestWordsOfRulesInOtherStatements(t *testing.T) {
	t.Parallel()
	for text, rule := range map[string]bool{
		"Do not use the second crane because it always stops at noon.":                   true,
		"The second crane is at the yard because it must be painted.":                    false,
		"Die Liste ist lang, weil niemand jemals etwas streichen darf.":                  false,
		"You never saw the second crane at work.":                                        false,
		"The crane always came late in the winter.":                                      false,
		"The crane must always come before noon.":                                        true,
		"A boat should never be used twice.":                                             true,
		"For example, only the boats of the harbour office are in it.":                   false,
		"Let's say there is a boat, and not a single crane.":                             false,
		"For example, never enter a boat twice.":                                         true,
		"No just the boats of today.":                                                    false,
		"skip 5, 7 and 8 and do the rest":                                                false,
		"Ignore 404 and 410 responses and never log the bodies.":                         true,
		"Handle 429 and 503 with backoff, never with a crash.":                           true,
		"Take 2 or 3 retries at most, never more.":                                       true,
		"Skip 5 and 7, and never do the rest.":                                           true,
		"Skip 5 boats at most.":                                                          true,
		"Skip the boats without a number.":                                               true,
		"跳过 2、4 和 5，其他都登记":                                                               false,
		"No boats of the harbour office.":                                                true,
		"No cranes in the list of the boats.":                                            true,
		"Please no cranes in the list of the boats.":                                     true,
		"Please no abbreviations.":                                                       true,
		"No crane was found in the list.":                                                false,
		"No crane is fine with us, we are strong.":                                       false,
		"Short correction before you go on.":                                             false,
		"Kannst du nur die Boote von heute eintragen.":                                   false,
		"Trag nur die Boote von heute ein.":                                              true,
		"今日の船を登録簿に追加してください。":                                                             false,
		"船の名前は必ずローマ字で追加してください。":                                                          true,
		"船の名前はローマ字だけで書いてください。":                                                           true,
		"登録簿は UTC の時刻を使ってください。":                                                          true,
		"今日の船を一覧に表示してほしいです。":                                                             false,
		"오늘 들어온 배를 장부에 추가해 주세요.":                                                         false,
		"배 이름은 로마자만 사용해서 추가해 주세요.":                                                       true,
		"1. Compare the boats with the list, unless it is empty.":                        false,
		"1. Boats of the office only by their number, unless it is unknown.":             true,
		"Boats of the office only by their number, as the clerk said \"never by name\".": true,
		"I get \"the number must be set\" when I enter a boat.":                          false,
		"Please keep the old list, two pilots still read it.":                            true,
		"The old list is kept, two pilots still read it.":                                false,
		"Next time ask the clerk first.":                                                 true,
		"Can't enter a boat on the list.":                                                true,
		"Can't see the boat on the list.":                                                false,
		"Don't have the list of the pilot.":                                              false,
		"Don't open the door of the office.":                                             true,
		"You must have missed the boat.":                                                 false,
		"That must be a typo in the list.":                                               false,
		"It always ends with the same error.":                                            false,
		"Always name the error in the list.":                                             true,
		"Das Buch ist immer noch leer.":                                                  false,
		"Das Buch muss immer leer sein.":                                                 true,
		"La liste n'est toujours pas finie.":                                             false,
		"For the boats of today, please write to the clerk at least once.":               false,
		"Never mind.":                  false,
		"Don't worry about the crane.": false,
		"Only the second one.":         false,
		"Never the second one.":        true,
		"为什么不能打开名单":                    false,
		"总是报错":                         false,
		"错误要用中文写。":                     true,
	} {
		assert.Equal(t, rule, rulesOfLater(t, text) != "", text)
	}
}

// Copies of a screen, demonstrations and examples hold what others said.
func TestWhatIsShownIsNoRule(t *testing.T) {
	t.Parallel()
	const own, shown = "Never enter a boat twice.", "You must open the door of the harbour office first."
	for name, around := range map[string][2]string{
		"demonstration": {"--- DEMONSTRATION ---\n", "\n--- END OF DEMONSTRATION ---\n"},
		"example":       {"<example>\n", "\n</example>\n"},
		"screen":        {padded("  The door is closed.") + padded("  It has no key.") + padded("  It is red."), padded("") + padded("  That is all.")},
		"box":           {"│ ", "\n"},
		"agent":         {"⏺ ", "\n"},
		"quotation":     {"The pilot wrote:\n> ", "\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line := shown
			if name == "screen" {
				line = padded("  " + shown)
			}
			rules := rulesOfLater(t, around[0]+line+around[1]+"\n"+own)
			require.Contains(t, rules, own)
			require.NotContains(t, rules, shown)
		})
	}
	require.Contains(t, rulesOfLater(t, "Keep to the rules of the pilot:\n\n> "+own), own, "the user quotes rules")
	require.Contains(t, rulesOfLater(t, "--- example ---\n"+own), own, "a block without an end is not left out")
}

// What examples and demonstrations in a prompt name is of no conversation: it was quoted as if somebody had said it.
func TestExamplesArePastedAndNotQuoted(t *testing.T) {
	t.Parallel()
	for _, around := range [][2]string{
		{"<example>", "</example>"}, {"<response_examples>", "</response_examples>"}, {"--- DEMONSTRATION ---", "--- END OF DEMONSTRATION ---"},
	} {
		var c conversation
		shown := "\n" + around[0] + "\nuser: open gate_of_the_office with key KX-4471\nagent: The gate_of_the_office needs no key at all today.\n" + around[1] + "\n"
		c.user("You look after the harbour. Answer in one sentence." + shown +
			"Find out why the ferry_plan has no Sundays, and why it has two Mondays. The pilots say that it was right in May.")
		c.tool("read", `{"path":"plans/ferry_plan.md"}`, "the ferry_plan of May", false)
		c.user("And what is in the plan of the cranes? Look at it, too, please.")
		for _, budget := range []uint32{120, 2000} {
			text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: budget})
			_, ledger, _ := strings.Cut(text, "## Critical Context")
			require.NotContains(t, ledger, "gate_of_the_office", around[0])
			require.NotContains(t, ledger, "KX-4471")
			if budget == 120 && around[0][0] == '<' {
				require.Contains(t, text, "ferry_plan has no Sundays")
				require.NotContains(t, text, "needs no key", "it counts as pasted")
			}
		}
	}
}

// rulesOfLater returns the rules of a conversation whose second message has a text in it.
func rulesOfLater(t *testing.T, text string) string {
	t.Helper()
	var c conversation
	c.user("Good morning. Have a look at the list of the boats, it has no end.")
	c.user("Here is what the office says.\n\n" + text + "\n\nCan you look at the crane first?")
	c.user("And now look at the second crane of the office.")
	return below(c.summary(t, ""), rulesHeading)
}

// padded is a line of a screen with 80 columns.
func padded(line string) string { return line + strings.Repeat(" ", 80-len(line)) + "\n" }

// A rule about somebody needs the sentence that says who that is.
func TestRulesAboutAPersonNameThem(t *testing.T) {
	t.Parallel()
	rules := rulesOfLater(t, "Please find a slot for a call with the pilot Ada Berg from the harbour office. She only works on Mondays and Tuesdays.")
	require.Contains(t, rules, "the pilot Ada Berg from the harbour office. She only works on Mondays and Tuesdays. [#1]")
}

// In a plan that the user hands over, what is planned is no rule, unless it is firm or under a title that says so.
func TestRulesOfAPlan(t *testing.T) {
	t.Parallel()
	rules := rulesOfLater(t, strings.Join([]string{
		"Do this plan:", "# Plan: a second list", "## Steps", "- the list should have a title", "- keep the order of the boats", "- never sort it by name", "- 关闭窗口后刷新列表，确保名单正确",
		"## Constraints", "- names without accents only", "```sh", "# 1", "# 2", "```",
	}, "\n"))
	require.NotContains(t, rules, "should have a title")
	require.NotContains(t, rules, "keep the order")
	require.NotContains(t, rules, "确保名单正确")
	require.Contains(t, rules, "never sort it by name")
	require.Contains(t, rules, "names without accents only")
	require.Contains(t, rulesOfLater(t, "Do this:\n\n# List\n\n- keep the order of the boats"), "keep the order of the boats", "one title makes no plan")
	require.Contains(t, rulesOfLater(t, "Do this:\n\n# List\n\n- keep the order of the boats\n\n```sh\n# 1\n```"), "keep the order of the boats", "code has no titles")
}

// What the user says in place of allowing a call is a rule if it has the form of one.
func TestARefusalMayHoldARule(t *testing.T) {
	t.Parallel()
	for said, rule := range map[string]bool{"never write to the clerk before noon": true, "take the other boat": false} {
		var c conversation
		c.user("Enter the boats of today.")
		c.tool("send_mail", `{"to":"clerk@harbour.example"}`, "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n"+said, true)
		c.says("I wait.")
		text := c.summary(t, "")
		require.Contains(t, text, "and said: «"+said+"»")
		require.Equal(t, rule, contains(below(text, rulesHeading), said), said)
	}
}

// What is left to the agent, what it is only reminded of, and what the user asks about is no rule.
func TestPermissionsRemindersAndOptionsAreNoRules(t *testing.T) {
	t.Parallel()
	for text, rule := range map[string]bool{
		"You do not need to copy the table of the old harbour.":                                                             false,
		"You don't have to sort the boats, but never rename one.":                                                           true,
		"Also remember the plan of the quays in docs/quays.md by the way.":                                                  false,
		"Remember to close the book of the harbour.":                                                                        true,
		"Remember that the book of the harbour must stay closed.":                                                           true,
		"Which is better for the boats that come back?\n1. Asking only once, and never again.\n2. Asking at each quay.":     false,
		"Could you follow two rules for the boats?\n1. Ask only once, and never again.\n2. Enter them in the order of age.": true,
	} {
		var c conversation
		c.user("Enter the boats of today, and look at what the office has in its book about each of them before you do so. " +
			"The office opens at nine and closes at four, and the crane has a break of an hour at noon, so that it is best to begin early. " +
			"There are some forty boats, half of them from the other side.\n\n" + text)
		c.says("I begin.")
		require.Equal(t, rule, below(c.summary(t, ""), rulesHeading) != "", text)
	}
}

// What stands below the beginning of a sentence in a plan is a step, or a rule of its own.
func TestStepsOfAPlanAreNoRule(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("You enter the boats of today.\n\n## Steps\n\nFor each boat of the other side:\n- Read its number and its length in the book.\n" +
		"- Never rename a boat.\n- Write down what you skipped.\n\n## After that\n\nTell me how many there were.")
	c.says("I begin.")
	require.Equal(t, "- Never rename a boat. [#0]", below(c.summary(t, ""), rulesHeading))
}
