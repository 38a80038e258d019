package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

func contains(text, part string) bool { return strings.Contains(text, part) }

// summaryOf returns the summary of the messages that are still there.
func summaryOf(t *testing.T, c *conversation, previous string) string {
	t.Helper()
	var messages []*compactordv1.LoggedMessage
	for _, m := range c.log {
		if m != nil {
			messages = append(messages, m)
		}
	}
	return summarize(t, &summarizers.Request{Messages: messages, PreviousSummary: previous, MaxTokens: 2000})
}

// Each statement about a next step ends with what it waits for: an announcement when the agent acts, an offer with the
// next message of the user, and a list with the next report, or when it is done.
func TestNextStepsEnd(t *testing.T) {
	t.Parallel()
	const list = "The importer works.\n\nRemaining:\n- Document the flags of `import.py`\n- Translate the messages\n"
	for _, c := range []struct {
		name, said, step string
		then             func(c *conversation)
		ended            bool
	}{
		{"announcement", "Next I'll write the docs of `import.py`.", "Next I'll write", func(*conversation) {}, false},
		{"announcement, and a question", "Next I'll write the docs of `import.py`.", "Next I'll write", func(c *conversation) { c.user("Is that slow?") }, false},
		{"announcement, and a call", "Next I'll write the docs of `import.py`.", "Next I'll write", func(c *conversation) { c.runs("ls", "docs", false) }, true},
		{"offer", "Ready for the next step, the docs of `import.py`, when you want: next up is `docs/flags.md`.", "Ready for", func(*conversation) {}, false},
		{"offer, and an answer", "Ready for the next step, the docs of `import.py`, when you want: next up is `docs/flags.md`.", "Ready for", func(c *conversation) { c.user("Go ahead.") }, true},
		{"list", list, "Document the flags", func(c *conversation) { c.runs("ls", "docs", false) }, false},
		{"list, and a question", list, "Document the flags", func(c *conversation) { c.user("Is that slow?"); c.says("It is fast: 3 ms in `import.py`.") }, false},
		{"list, and a report", list, "Document the flags", func(c *conversation) {
			c.user("Go on.")
			c.runs("ls", "docs", false)
			c.says("I added the page `docs/flags.md` and checked its links.")
		}, true},
		{"list below a title", "The importer works.\n\n## Next steps\n\n1. Document the flags of `import.py`\n2. Translate the messages\n", "- Document the flags", func(*conversation) {}, false},
		{"done", "The next step is to document the flags of `import.py`.", "The next step", func(c *conversation) {
			c.runs("ls", "docs", false)
			c.tool("todo_write", `{"todos":[{"content":"The next step is to document the flags of import.py","status":"completed"}]}`, "ok", false)
		}, true},
		{"said to be done", "The next step is to document the flags of `import.py`.", "The next step", func(c *conversation) {
			c.tool("write", `{"path":"docs/flags.md"}`, "ok", false)
			c.add(compactordv1.Role_ROLE_ASSISTANT, textPart("Done: I wrote the step to document the flags of `import.py`."), callPart("z", "ls", `{}`))
		}, true},
	} {
		for _, merged := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				var conv conversation
				conv.user("Write an importer for the old mails, please.")
				conv.runs("ls", "import.py", false)
				conv.says(c.said)
				previous := ""
				if merged {
					previous = conv.summary(t, "")
					require.Contains(t, below(previous, "## Next Steps"), c.step)
					for i := range conv.log {
						conv.log[i] = nil
					}
				}
				c.then(&conv)
				text := summaryOf(t, &conv, previous)
				require.Equal(t, !c.ended, contains(below(text, "## Next Steps"), c.step), text)
			})
		}
	}
}

// Words of next steps in explanations and reports announce nothing.
func TestExplanationsAreNoNextSteps(t *testing.T) {
	t.Parallel()
	for _, sentence := range []string{
		"Next is the white space of `tree.txt`, which has no name.", "I stopped after that next step of `plan.md`.", "One remaining oddity of `tree.txt` is its name.",
		"There is no remaining difference in `README.md`.", "New files may still need a separate `git add`.", "The data of `rows.db` is not yet there at that time.",
	} {
		var c conversation
		c.user("Explain the tree to me, please.")
		c.says(sentence)
		c.runs("ls", "tree.txt", false)
		require.Empty(t, below(c.summary(t, ""), "## Next Steps"), sentence)
	}
}

// The last step is the last call with its target, and not what the agent said around it.
func TestTheLastStepIsACall(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Mend the loader of the catalogue, please.")
	c.says("Great! Let me look at the loader first.")
	require.Contains(t, below(c.summary(t, ""), "### In Progress"), "Last step: Let me look at the loader first.")
	c.tool("edit", `{"path":"src/loader.rs","old":"a","new":"b"}`, "ok", false)
	require.Contains(t, below(c.summary(t, ""), "### In Progress"), "- Last step: `edit` src/loader.rs [#2]")
	c.says("Perfect! Now I see what is wrong.")
	require.Contains(t, below(c.summary(t, ""), "### In Progress"), "- Last step: `edit` src/loader.rs [#2]")
	c.user("And what about the cache?")
	c.says("The cache of the loader holds 40 rows.")
	require.Contains(t, below(c.summary(t, ""), "### In Progress"), "- Last step: `edit` src/loader.rs [#2]")
}

// A step that says nothing is none.
func TestStepsSayWhatIsDone(t *testing.T) {
	t.Parallel()
	for said, step := range map[string]bool{
		"Next step: port the mailer to Go.": true,
		"Next steps: `deploy.sh`":           true,
		"Continuing with the plan.":         false,
		"Now the next one.":                 false,
	} {
		var c conversation
		c.user("Port the deploy script to Go.")
		c.says(said)
		require.Equal(t, step, contains(c.summary(t, ""), "## Next Steps"), said)
	}
}

// Where nothing else tells how the last call ended, the last step does, and a digest of the digest still knows whose words
// these are.
func TestTheLastStepSaysHowItEnded(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		"all 7 boats are tied up": "- Last step: `python3 -c \"moor(7)\"`: «all 7 boats are tied up» [#1, #2]",
		"":                        "- Last step: `python3 -c \"moor(7)\"`: no output [#1, #2]",
	} {
		var c conversation
		c.user("Moor the boats of the harbour, please.")
		c.runs(`python3 -c "moor(7)"`, output, false)
		text := c.summary(t, "")
		require.Contains(t, text, want)
		require.Contains(t, summarize(t, &summarizers.Request{PreviousSummary: text, MaxTokens: 2000}), want)
		// What only a message says that the view keeps stands there.
		text = summarize(t, &summarizers.Request{Messages: c.log[:2], Kept: c.log[2:], MaxTokens: 2000})
		require.NotContains(t, text, "tied up")
	}
}

// Offers and apologies are no steps.
func TestCourtesiesAreNoSteps(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"If you have any other questions about the harbour, feel free to reach out.", "I apologize for the confusion about the boats.", "Sorry for the confusion about the boats.",
		"Let me know whether the boats are tied up.",
	} {
		var c conversation
		c.user("Which boats of the harbour are tied up?")
		c.says(said)
		require.NotContains(t, c.summary(t, ""), "Last step", said)
	}
}

// The last step says how its call ended also where that was not well, and ends when the talk is about other things.
func TestTheLastStepSaysWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	begin := func() *conversation {
		var c conversation
		c.user("Moor the boats of the harbour, please.")
		return &c
	}
	c := begin()
	c.tool("moor_boat", `{"berth":7}`, "Moored at 14:05, line 3.", false)
	require.Contains(t, below(c.summary(t, ""), "### Done")+below(c.summary(t, ""), "### In Progress"), "«Moored at 14:05, line 3.»")
	c = begin()
	c.tool("sum_of", `{"expression":"243 - 2787"}`, "the sum is -2544.0", false)
	require.Contains(t, c.summary(t, ""), "`sum_of` expression=243 - 2787: «the sum is -2544.0»")
	c = begin()
	c.tool("read_file", `{"path":"boats.csv"}`, "Error: no such file", true)
	require.Equal(t, 1, strings.Count(c.summary(t, ""), "`read_file`"), "Blocked says it")
	c = begin()
	c.tool("read_file", `{"path":"boats.csv"}`, "The user doesn't want to proceed with this tool use. The tool use was rejected.", true)
	require.Contains(t, below(c.summary(t, ""), "### In Progress"), "- Last step: `read_file` boats.csv was declined by the user [#1, #2]")
	c.says("Then I count them by hand.")
	c.user("How many are there?")
	c.says("Some forty.")
	c.user("And how many of them come from the other side?")
	require.NotContains(t, c.summary(t, ""), "Last step")
}
