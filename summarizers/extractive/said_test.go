package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// The latest value of a labelled statement counts, and the summary says which message said it otherwise. Statements
// about other things stay.
func TestTheLatestValueCounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after string
		replaced      bool
	}{
		"an amount":         {"BUDGET: The cap is $5,000 in total. Never exceed it without approval.", "BUDGET: The cap is $7,500 in total. Never exceed it without approval.", true},
		"a date":            {"Release date: we ship on 2026-11-23.", "Release date: we ship on 2026-12-01.", true},
		"a value alone":     {"Region: north", "Region: south", true},
		"one word more":     {"DATABASE: The primary host is db1.internal.", "DATABASE: The primary host is now db7.internal.", true},
		"another label":     {"Staging: the host is db1.internal.", "Production: the host is db7.internal.", false},
		"other words":       {"NOTE: The pager reads 500 rows.", "NOTE: Invoices have two taxes.", false},
		"other identifiers": {"NOTE: The table billing_events has 5 columns.", "NOTE: The table audit_events has 7 columns.", false},
		"forbidden files":   {"RULE: Never edit the file internal/a.go.", "RULE: Never edit the file internal/b.go.", false},
		"forbidden numbers": {"RULE: Never paint the boat 7.", "RULE: Never paint the boat 8.", false},
		"forbidden hosts":   {"Deployment: never restart db1.internal.", "Deployment: never restart db2.internal.", false},
		"no prohibition":    {"RULE: The rent of the crane is $900 a day. Never pay without a receipt.", "RULE: The rent of the crane is $400 a day. Never pay without a receipt.", true},
		"a limit":           {"Deployment: never more than 5 hosts at once.", "Deployment: never more than 9 hosts at once.", true},
		"no label":          {"Rename the module 5 everywhere.", "Rename the module 7 everywhere.", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c1 conversation
			c1.user("Write the report of the year, with all sections.")
			c1.says("I begin with the first section.")
			first := c1.user(c.before)
			c1.says("Noted.")
			text := summarize(t, &summarizers.Request{Messages: c1.log, MaxTokens: 800})
			require.Contains(t, text, c.before)
			for round := range 3 {
				messages := c1.log[len(c1.log):]
				if round == 0 {
					c1.user(c.after)
					c1.says("I will mind it.")
					messages = c1.log[4:]
				}
				text = summarize(t, &summarizers.Request{Messages: messages, PreviousSummary: text, MaxTokens: 800})
				require.Contains(t, text, c.after)
				require.Equal(t, !c.replaced, strings.Contains(text, c.before), text)
				require.Equal(t, c.replaced, strings.Contains(text, "(replaces [#2])"), text)
			}
			require.Equal(t, uint32(2), first)
		})
	}
}

// A document that a program inserts is no request, and its rules are not the user's.
func TestInsertedDocumentsAreNoRequests(t *testing.T) {
	t.Parallel()
	document := "# How to review\n\nNever approve a change without tests.\n\n" + strings.Repeat("A reviewer reads the whole change before the first remark. ", 10)
	for name, write := range map[string]func(c *conversation){
		"before the request": func(c *conversation) { c.user(document); c.user("Review the pager, please.") },
		"after a command":    func(c *conversation) { c.user("Review the pager, please."); c.user(document) },
		"within the agent's work": func(c *conversation) {
			c.user("Review the pager, please.")
			c.tool("skill", `{"name":"review"}`, "loaded", false)
			c.user(document)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c conversation
			write(&c)
			c.says("I read the pager first.")
			text := c.summary(t, "")
			require.True(t, strings.HasPrefix(below(text, "## Goal"), "Review the pager, please. [#"), text)
			require.NotContains(t, below(text, "## Goal"), "How to review")
			require.Contains(t, below(text, "## Constraints & Preferences"), "- (system) Never approve a change without tests.")
		})
	}
	var alone conversation
	alone.user(document)
	require.Contains(t, below(alone.summary(t, ""), "## Goal"), "reviewer", "a document alone is the request")
}

// What is said again and again is kept once.
func TestRepeatedMessagesAreOneLine(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Write the report of the year, with all sections.")
	for range 6 {
		c.says("I go on with the next one.")
		c.user("The webhook retries three times before it gives up.")
	}
	c.says("Done with the sixth one.")
	text := c.summary(t, "")
	require.Equal(t, 1, strings.Count(text, "The webhook retries three times"), text)
	require.True(t, strings.HasPrefix(below(text, "## Goal"), "Write the report"), text)
}

// In doubt both statements stay: they are about other things.
func TestStatementsAboutOtherThingsStay(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"RULE: Never edit the generated files.", "RULE: Never edit the vendored files."},
		{"Note: Postgres runs on port 5432.", "Note: Redis runs on port 6379."},
		{"Decision: We use Kafka for events.", "Decision: We use gRPC for queries."},
		{"Story 7: users can reset their password.", "Story 7: users can export their invoices."},
		{"Please fix this: src/auth/login.go", "Please fix this: src/billing/invoice.go"},
		{"Meet at 10: 30 minutes with Ann on billing", "Meet at 10: 45 minutes with Bob on search"},
		{"LIMIT: Never use more than 1.5 GB of memory per job.", "Never use more than 15 GB of disk per job."},
		{"The price is 1.50 dollars for all of them.", "The price is 150 dollars for all of them."},
	} {
		var c1 conversation
		c1.user("Write the report of the year, with all sections.")
		c1.says("I begin with the first section of the report.")
		c1.user(c[0])
		c1.says("I have noted it for the report of the year.")
		c1.user(c[1])
		c1.says("I have noted that, too, and go on.")
		c1.user("Now continue with the second section of the report.")
		text := c1.summary(t, "")
		require.Contains(t, text, c[0])
		require.Contains(t, text, c[1])
	}
}

// A short value under a label is kept although it answers something.
func TestShortValuesStay(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Write the report of the year, with all sections.")
	c.says("Which region should the report be about?")
	c.user("Region: north")
	c.says("I have noted the region of the report.")
	c.user("Region: south")
	c.says("I have noted that, too, and go on.")
	c.user("Now continue with the second section of the report.")
	text := c.summary(t, "")
	require.Contains(t, text, "Region: south")
	require.NotContains(t, text, "Region: north")
}

// What a user writes is a request, whatever it looks like; a plan that the next message refers to is one, too.
func TestLongRequestsAreNoDocuments(t *testing.T) {
	t.Parallel()
	script := "Stop. The deploy script is wrong, please rewrite it with a dry run:\n\n```sh\n# stop the workers\nsystemctl stop workers\n" +
		strings.Repeat("echo one more line of the script\n", 15) + "```\n"
	var c conversation
	c.user("Deploy the shop to the staging cluster, please.")
	c.tool("bash", `{"command":"./deploy.sh"}`, "stopped", false)
	c.user(script)
	c.says("I rewrite it.")
	require.Contains(t, c.summary(t, ""), "please rewrite it with a dry run")

	var d conversation
	d.user("# Billing rewrite\n\n1. Move the invoices to their own table.\n2. Port the taxes.\n3. Write the refunds anew.\n" + strings.Repeat("Some more words on how it should be. ", 12))
	d.user("Implement this plan step by step.")
	d.says("I begin with the invoices.")
	text := d.summary(t, "")
	require.Contains(t, below(text, "## Goal"), "Move the invoices to their own table.")
	require.Contains(t, text, "refunds")
}

// A model may write numbers of issues like citations. They make nothing old.
func TestNumbersOfIssuesAreNoCitations(t *testing.T) {
	t.Parallel()
	previous := "## Goal\nMend the pager.\n\n## Critical Context\n- It was mended before in a pull request [#48213]\n- And in another one [#4294967295]\n"
	var c conversation
	c.user("Mend the pager.")
	c.runs("go test ./export", "--- FAIL: TestPager\npager_test.go:57: got 499 rows, want 500\nFAIL", true)
	c.tool("TodoWrite", `{"todos":[{"content":"Clamp the limit","status":"pending"}]}`, "ok", false)
	text := c.summary(t, previous)
	require.Contains(t, below(text, "### Blocked"), "TestPager")
	require.Contains(t, below(text, "## Next Steps"), "Clamp the limit")
}

// A rule of a few units stays also in languages without cues, and with scripts whose words are short: it is neither an
// answer to what the agent said last, nor an order that was carried out.
func TestShortStatementsStayInAnyLanguage(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{
		"Arabic": "لا تلمس ملف الأسعار", "Farsi": "به فایل قیمت دست نزن", "Finnish": "Älä koske hintatiedostoon",
		"Hebrew": "אל תיגע בקובץ המחירים", "Japanese": "価格表はそのままで",
		"Swahili": "Usiguse faili ya bei", "Thai": "อย่าแก้ไฟล์ตารางราคา", "Vietnamese": "Đừng động vào tệp giá",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := longAfter(t, said)
			require.Contains(t, text, said)
		})
	}
}

// A short message stays word for word in any form, also without a sentence in it.
func TestShortMessagesStayInAnyForm(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{
		"table": "| who | what | cost |\n|---|---|---|\n| catering | Mara | $2,300 |", "code": "```\nretries = 7\n```", "code with a language": "```yaml\nretries: 7\n```",
		"lines of a diff": "-retries = 3\n+retries = 7", "diff": "```diff\n-retries = 3\n+retries = 7\n```", "markup": "<b>limit</b> is 7", "markup at the end": "the limit is <b>7</b>",
		"heading": "# Limit is 7", "underlined": "limit\n=====\n7 rows",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, longAfter(t, said), strings.ReplaceAll(said, "\n", "\n| "))
		})
	}
}

// longAfter returns a small summary of a long conversation, in which the user says this at the beginning.
func longAfter(t *testing.T, said string) (text string) {
	t.Helper()
	var c conversation
	c.user("Add paging to the export of the shop, please.")
	c.says("I look at the exporter first.")
	c.user(said)
	c.says("I go on.")
	for i := range 30 {
		c.tool("read", fmt.Sprintf(`{"path":"src/module%d/file.go"}`, i), fmt.Sprintf("func handle%d() {}\n", i)+strings.Repeat("x y z\n", 40), false)
		c.runs("go test ./src/...", "ok\tsrc/module\t0.3s", false)
		c.says(fmt.Sprintf("I changed src/module%d/file.go and the tests pass.", i))
		if i%10 == 4 {
			c.user(fmt.Sprintf("Now look at the module number %d.", i))
		}
	}
	return summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 500})
}

// A short message with a rule in it stands whole among the rules once the user went on, and its rule is not lost where
// it does not fit.
func TestAShortMessageWithARuleStaysWhole(t *testing.T) {
	t.Parallel()
	const rule = "Never use semicolons in any of the scripts that we run for the shop and the depot."
	for _, said := range []string{"Room 8080. " + rule, rule + " Fix the pager.", "Fix the pager.\n\n" + rule + "\n\nThen fix the mailer of the depot.", "Seriously, folks! " + rule} {
		c := offers(8)
		at := c.user(said)
		c.says("Done.")
		c.user("Now rename the button of the export.")
		c.says("Done.")
		for i, m := range c.log {
			m.Index = uint32(i)
		}
		for _, budget := range []uint32{200, 300, 500, 1000, 2000, 4000} {
			text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: budget})
			require.Equal(t, 1, strings.Count(text, rule), "%d: %s", budget, text)
			if budget >= 1000 {
				whole := fmt.Sprintf("- %s [#%d]", strings.ReplaceAll(said, "\n\n", " ⏎ "), at)
				require.Contains(t, below(text, "## Constraints & Preferences"), whole)
				require.Equal(t, 1, strings.Count(text, fmt.Sprintf(" [#%d]\n", at)), text)
				again := summarize(t, &summarizers.Request{PreviousSummary: text, MaxTokens: 4000})
				require.Contains(t, below(again, "## Constraints & Preferences"), whole)
				small := summarize(t, &summarizers.Request{PreviousSummary: text, MaxTokens: 150})
				require.Equal(t, 1, strings.Count(small, rule), small)
			}
		}
	}
}
