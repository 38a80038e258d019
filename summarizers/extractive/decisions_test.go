package extractive_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const decisionsHeading = "## Key Decisions"

// Only a choice that was made is a decision.
func TestDecisionsAreChoicesThatWereMade(t *testing.T) {
	t.Parallel()
	for sentence, decided := range map[string]bool{
		"We settled on a ring buffer for `trace.log`.":                                            true,
		"I chose SQLite over LevelDB for the catalogue, because backups are one file.":            true,
		"Decision: the sync runs every ten minutes.":                                              true,
		"I switched to streaming reads in `loader.rs`.":                                           true,
		"We will use webhooks instead of polling for the invoices.":                               true,
		"I changed `loadRows` to use a cursor instead of an offset.":                              true,
		"We keep the cache in memory because the box has no disk.":                                true,
		"The counter of `queue.go` shows 12 instead of 11.":                                       false,
		"The failing test prints an empty list instead of the three names of `rows.txt`.":         false,
		"This would be cleaner than a second table in `schema.sql`.":                              false,
		"Maybe we go with a ring buffer for `trace.log`.":                                         false,
		"Another option: we'll use webhooks instead of polling for the invoices.":                 false,
		"I think we settled on the wrong port in `compose.yaml`.":                                 false,
		"If the box had a disk, I'd go with a file instead of memory for `cache.go`.":             false,
		"Optionally, use the name `rowCount` instead of `n` in `rows.go`.":                        false,
		"I'll use the search tool because I need all callers of `loadRows`.":                      false,
		"The parser picked the third candidate of `grammar.txt`, which nobody has chosen so far.": false,
	} {
		var c conversation
		c.user("Mend the loader of the catalogue, please.")
		c.says(sentence)
		c.runs("ls", "loader.rs", false)
		require.Equal(t, decided, below(c.summary(t, ""), decisionsHeading) != "", sentence)
	}
}

// What the user chooses is a decision; what the user asks is none.
func TestUsersDecide(t *testing.T) {
	t.Parallel()
	for message, decided := range map[string]bool{
		"Let's go with SQLite for the catalogue.":                     true,
		"We decided on SQLite for the catalogue, it is one file.":     true,
		"can we go with SQLite instead of files for the catalogue":    false,
		"Have we decided on SQLite for the catalogue, or on a file?":  false,
		"Maybe we go with SQLite for the catalogue, I will tell you.": false,
	} {
		var c conversation
		c.user("Mend the loader of the catalogue, please.")
		c.says("The loader reads each file of the catalogue.")
		c.user(message)
		c.runs("ls", "loader.rs", false)
		c.user("And how long does the loader take?")
		require.Equal(t, decided, contains(below(c.summary(t, ""), decisionsHeading), message), message)
	}
}

// What is below a title for decisions are decisions, but not what is below one for a single decision's reasons.
func TestTitlesOfDecisions(t *testing.T) {
	t.Parallel()
	for title, decided := range map[string]bool{"## Key decisions": true, "**Decisions**": true, "## Why this decision": false, "## Open decisions": false} {
		var c conversation
		c.user("Mend the loader of the catalogue, please.")
		c.says("The loader works again.\n\n" + title + "\n\n- One table per supplier in `catalogue.db`\n")
		require.Equal(t, decided, below(c.summary(t, ""), decisionsHeading) != "", title)
	}
}

// What the agent decided or proposed stands or falls with the user's answer to it.
func TestTheUserOverrulesTheAgent(t *testing.T) {
	t.Parallel()
	const decision, proposal = "I decided to keep the parser in `core/parse.go`.", "I suggest moving the parser of the feeds to `feeds/parse.go`."
	for _, c := range []struct {
		said, answer, want string
	}{
		{decision, "Thanks, now write the tests.", decision},
		{decision, "No, it belongs into the feeds.", ""},
		{decision, "Actually, it belongs into the feeds.", ""},
		{decision, "Let's put the parser into feeds/ instead.", ""},
		{decision, "Don't forget the changelog.", decision},
		{decision, "No problem, go ahead with the tests.", decision},
		{proposal, "yes, do it", "Accepted: " + proposal},
		{proposal, "好的", "Accepted: " + proposal},
		{proposal, "no", ""},
		{proposal, "What would that cost?", ""},
		{proposal, "Now write the tests of the feeds.", ""},
	} {
		var conv conversation
		conv.user("Tidy up the parser of the feeds, please.")
		conv.runs("ls", "core", false)
		conv.says(c.said)
		conv.user(c.answer)
		conv.says("I begin.")
		found := below(conv.summary(t, ""), decisionsHeading)
		if c.want == "" {
			require.Empty(t, found, c.answer)
		} else {
			require.Contains(t, found, c.want, c.answer)
		}
	}
}

// A later decision about the same thing replaces an earlier one; one about another thing does not.
func TestLaterDecisionsReplaceEarlierOnes(t *testing.T) {
	t.Parallel()
	const first = "I decided to store the sessions of the portal in Redis."
	for second, replaced := range map[string]bool{
		"We switched from Redis to Postgres for the sessions of the portal.":              true,
		"I decided to store the sessions of the portal in Postgres instead of Redis.":     true,
		"After all, I decided to store the sessions of the portal in a signed cookie.":    true,
		"I decided to store the invoices in Postgres instead of Oracle.":                  false,
		"We settled on Postgres rather than Redis for the queue of the mailer.":           false,
		"I decided to store the pictures of the portal in a bucket, since they are huge.": false,
	} {
		for _, merged := range []bool{false, true} {
			var c conversation
			c.user("Make the portal faster, please.")
			c.says(first)
			c.runs("ls", "portal", false)
			previous := ""
			if merged {
				previous = c.summary(t, "")
				for i := range c.log {
					c.log[i] = nil
				}
			}
			c.says(second)
			c.runs("ls", "portal", false)
			found := below(summaryOf(t, &c, previous), decisionsHeading)
			require.Contains(t, found, second)
			require.Equal(t, replaced, !contains(found, first), "%s\n%s", second, found)
		}
	}
}

// How something works now is what came of a choice, and a finding is none.
func TestReportsAreNoDecisions(t *testing.T) {
	t.Parallel()
	for said, decision := range map[string]bool{
		"All callers now use `FileStore` instead of `RowStore`.":                                             false,
		"Now the importer uses `FileStore` instead of `RowStore` for empty pages.":                           false,
		"All callers now use `FileStore` instead of `RowStore` because rows are locked while they are read.": true,
		"I'll use `FileStore` instead of `RowStore` for the pages.":                                          true,
		"Verdict: `FileStore` is fine.":                                                                      false,
		"Decision: `FileStore` for all pages.":                                                               true,
	} {
		var c conversation
		c.user("Port the importer to files, please.")
		c.says(said)
		require.Equal(t, decision, below(c.summary(t, ""), "## Key Decisions") != "", said)
	}
}

// A message without a sentence, such as a mark for a program, decides nothing.
func TestAMessageWithoutASentenceDecidesNothing(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"###STOP###", "# Limits of the depot", "```yaml\nretries: 7\n```", "---"} {
		var c conversation
		c.user("Move the boats of the harbour to the north quay, please.")
		c.says("The boats are at the north quay now. Safe travels!")
		c.user(said)
		require.Empty(t, below(c.summary(t, ""), "## Key Decisions"), said)
	}
}

// A report of what was changed is no decision unless it says why, even if it says instead of what.
func TestReportsOfChangesAreDoneAndNotDecided(t *testing.T) {
	t.Parallel()
	for said, decided := range map[string]bool{
		"Changed `loadRows` to use a cursor instead of an offset.":                               false,
		"The importer of `rows.csv` now reads a page instead of the whole file.":                 false,
		"Page cache hoisted - `pageOf` now called once instead of for every row.":                false,
		"I changed `loadRows` to use a cursor instead of an offset.":                             true,
		"Changed `loadRows` to use a cursor instead of an offset, because the table is written.": true,
	} {
		var c conversation
		c.user("Make the catalogue faster, please.")
		c.says(said)
		c.user("And how long does the loader take?")
		summary := c.summary(t, "")
		require.Equal(t, decided, below(summary, decisionsHeading) != "", said)
		require.Contains(t, summary, said)
	}
}

// What the user chooses is a decision, also with a word that tells the agent to do it.
func TestUsersChooseAndSayGoAhead(t *testing.T) {
	t.Parallel()
	for message, decided := range map[string]bool{
		"Let's go with the slip in Lerwick, berth 14. Please proceed with the booking.": true,
		"Great! I’d like to go with the second berth. Can you book that for me?":        true,
		"I would like to choose the berth beside the crane, please.":                    true,
		"Let's go with berth 14. What does the crane cost there for a whole week?":      false,
		"I would like to know the berths beside the crane, please.":                     false,
	} {
		var c conversation
		c.user("Find a berth for the ketch Solveig.")
		c.says("There are three free berths in Lerwick.")
		c.user(message)
		c.tool("find_berths", `{"harbour":"Lerwick"}`, "3 berths", false)
		c.user("And how deep is the water there?")
		require.Equal(t, decided, contains(below(c.summary(t, ""), decisionsHeading), message), message)
	}
}

// Who answers a question about the code tells what others decided. Who changed it for the question tells of their own.
func TestDecisionsThatTheAgentExplainsAreNotItsOwn(t *testing.T) {
	t.Parallel()
	const told = "The ferry has two clocks.\n\n## Key design decisions\n\n- `tide_clock.go` keeps the time of the harbour\n- `deck_clock.go` keeps the time of the ferry\n"
	for name, test := range map[string]struct {
		asks    string
		changes bool
		decided bool
	}{
		"explained": {asks: "How does the clock of the ferry work?"},
		"changed":   {asks: "How does the clock of the ferry work?", changes: true, decided: true},
		"ordered":   {asks: "Design the clock of the ferry.", decided: true},
	} {
		var c conversation
		c.user(test.asks)
		c.runs("cat tide_clock.go", "package clock", false)
		if test.changes {
			c.tool("edit", `{"path":"tide_clock.go","oldText":"a","newText":"b"}`, "ok", false)
		}
		c.says(told)
		text := c.summary(t, "")
		require.Equal(t, test.decided, below(text, decisionsHeading) != "", name)
		require.Contains(t, text, "`deck_clock.go` keeps the time of the ferry", name)
	}
}
