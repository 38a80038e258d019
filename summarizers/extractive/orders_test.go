package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const rulesHeading = "## Constraints & Preferences"

// An order for the time being ends with its request; a lasting one stays.
func TestOrdersEndWithTheirRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		order, later string
		ended        bool
	}{
		{"Don't change anything, only check whether the mails are sent.", "Now add a retry to the mailer.", true},
		{"Don't change anything, only check whether the mails are sent.", "What did you find?", false},
		{"Do not touch the mailer for now.", "Rename the module of the invoices.", true},
		{"Don't commit yet.", "ok, commit it", true},
		{"Don't commit yet.", "Don't commit the lock file either.", false},
		{"Don't push to the branch of the customer.", "Push your branch.", false},
		{"Don't merge the branch of the customer.", "Merge the branch of the customer now.", true},
		{"Never commit without a ticket.", "Commit it.", false},
		{"From now on, don't commit yourself.", "Commit it, please.", false},
		{"Always just check the mails, don't change anything.", "Now add a retry to the mailer.", false},
		{"Don't log the mails of customers.", "Now add a retry to the mailer.", false},
		{"Just don't rename the package.", "Now add a retry to the mailer.", false},
	} {
		for _, merged := range []bool{false, true} {
			var conv conversation
			conv.user("Have a look at the mailer, it is slow.")
			conv.says("I look at it.")
			conv.user(c.order)
			conv.runs("ls", "mailer.go", false)
			conv.says("It is the lookup in `mailer.go`.")
			previous := ""
			if merged {
				previous = conv.summary(t, "")
				require.Contains(t, previous, c.order)
				for i := range conv.log {
					conv.log[i] = nil
				}
			}
			conv.user(c.later)
			conv.runs("ls", "mailer.go", false)
			text := summaryOf(t, &conv, previous)
			require.Equal(t, !c.ended, contains(below(text, rulesHeading), c.order), "%s, %s\n%s", c.order, c.later, text)
		}
	}
}

// What users tell or quote is no rule, and neither is what only sounds like one.
func TestTellingIsNoRule(t *testing.T) {
	t.Parallel()
	for text, rule := range map[string]bool{
		"All names must be lower case.":                                                             true,
		"Please make sure that the feed stays valid.":                                               true,
		"Only the owner of a list can delete it, keep it like that.":                                true,
		"Important: the feed is read by three customers.":                                           true,
		"I think every list of the feed was empty.":                                                 false,
		"The current version silently replaces the names, which may not be what the editor wanted.": false,
		"Right now the page is showing a lot of lists that only belong to others.":                  false,
		"We got a report that this happens every time without any change.":                          false,
		"Error: a list is required, not a name":                                                     false,
		"\"Use the second list to see only your own names.\"":                                       false,
		"1524: raise ValueError, the name must be a list":                                           false,
		"It is likely in the list of the mailer, which should be read first.":                       false,
		"and never show it again.\"":                                                                false,
		"Can you look at the feed, and make sure that the count is right?":                          false,
		"If we can't show the feed, we might as well stop.":                                         false,
	} {
		var c conversation
		c.user("Look at the list of the feed.\n\n" + strings.Repeat("The feed is read by the page of lists, and by the mailer. ", 5) + "\n\n" + text)
		require.Equal(t, rule, contains(below(c.summary(t, ""), rulesHeading), text), text)
	}
}

// Of a document that a program inserts only firm rules are kept, in whole sentences, and not many of them.
func TestInsertedDocumentsHaveFewRules(t *testing.T) {
	t.Parallel()
	const firm = "You MUST store each remark in its own file."
	document := "# Reviewing\n\nFirst, I need to find out which branch it is and never guess.\n\n- Resource use: memory, disk, all connections\n- Mentoring for every author\n" +
		"- `ls remarks/*.md` # always list them\n- Web only - run the browser\n- \"Never say thanks\n- Check the branch.\n- ONLY then proceed to the next step.\n\n" + firm + "\n\n" +
		strings.Repeat("A reviewer reads the whole change before the first remark. ", 5)
	loaded := true
	write := func(document string) string {
		var c conversation
		c.user("Review the mailer, please.")
		if loaded {
			c.tool("skill", `{"name":"review"}`, "loaded", false)
		}
		c.user(document)
		c.says("I read the mailer first.")
		return below(c.summary(t, ""), rulesHeading)
	}
	require.Equal(t, "- (system) "+firm+" [#3]", write(document))
	argued := "\n\nThe first remark of a reviewer must be about the tests. If a change is long, don't split it by yourself, but say so. Can't read it? You never saw it. The rest is a change you can't trust.\n\nDo not use this for a merge.\n"
	require.Equal(t, "- (system) "+firm+" [#3]", write(document+argued), "instructions for a piece of work are orders by their form")
	var many strings.Builder
	for i := range 40 {
		many.WriteString("\nNever approve a change of kind " + strings.Repeat("x", i+1) + " without its tests.\n")
	}
	require.Equal(t, 6, strings.Count(write(document+many.String()), "- (system) "), "for a piece of work")
	loaded = false
	require.Equal(t, 16, strings.Count(write(document+many.String()), "- (system) "), "for the whole session")
}

// A rule in a list of a document holds under the condition above the list.
func TestConditionsStayWithTheirRules(t *testing.T) {
	t.Parallel()
	document := "# Releasing\n\nWhen I say \"pack it\":\n\n- Build the archive.\n- Do NOT upload it anywhere.\n\nHints:\n\n- Never sign an archive by hand.\n\n" +
		strings.Repeat("A release is read by the page and by the mailer of the shop. ", 6)
	var c conversation
	c.user("Pack the shop, please.")
	c.tool("skill", `{"name":"release"}`, "loaded", false)
	c.user(document)
	c.says("I look at the archive first.")
	rules := below(c.summary(t, ""), rulesHeading)
	require.Contains(t, rules, "- (system) When I say \"pack it\": Build the archive.; Do NOT upload it anywhere. [#3]")
	require.Contains(t, rules, "- (system) Never sign an archive by hand. [#3]")
	require.NotContains(t, rules, "- (system) Do NOT upload")
}

// A short rule is joined with the sentence before it only if it needs that.
func TestRulesAreJoinedWhereTheyNeedIt(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("The feed has two readers, the page and the mailer. Never break it. Always write the changelog in plain English.\n\nCan you see why the feed is empty?")
	rules := below(c.summary(t, ""), rulesHeading)
	require.Contains(t, rules, "- The feed has two readers, the page and the mailer. Never break it. [#0]")
	require.Contains(t, rules, "- Always write the changelog in plain English. [#0]")

	var q conversation
	q.user("Is the feed of the shop up? Never break it. The feed is read by the page.\n\nCan you see why the feed is empty?")
	require.Contains(t, below(q.summary(t, ""), rulesHeading), "- Never break it. [#0]", "a question says nothing that a rule needs")

	var d conversation
	d.user("The feed is read by the page of the shop. Always write the changelog in plain English.\n\nCan you see why the feed is empty?")
	require.Contains(t, below(d.summary(t, ""), rulesHeading), "- Always write the changelog in plain English. [#0]")
}
