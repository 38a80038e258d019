package extractive_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// The messages that the view keeps ticked off nothing: what they finish, answer and change was open in the summary.
func TestKeptMessagesEndWhatWasOpen(t *testing.T) {
	t.Parallel()
	begin := func() *conversation {
		var c conversation
		c.user("Write down when the ferries of the harbour leave, as a table.")
		return &c
	}
	for name, test := range map[string]struct {
		open, then func(c *conversation)
		// section has line before the kept messages are read, and not after it.
		section, line string
	}{
		"a to-do that a call ticks off": {
			func(c *conversation) {
				c.tool("todo_write", `{"todos":[{"content":"Read the timetable of the ferries","status":"pending"},{"content":"Draw the map of the quays","status":"pending"}]}`, "ok", false)
			},
			func(c *conversation) {
				c.tool("todo_write", `{"todos":[{"content":"Read the timetable of the ferries","status":"completed"},{"content":"Draw the map of the quays","status":"pending"}]}`, "ok", false)
			},
			"## Next Steps", "- [ ] Read the timetable of the ferries",
		},
		"a next step that is done": {
			func(c *conversation) {
				c.says("I read the plan. Next step: draw the northern quay into the harbour map.")
			},
			func(c *conversation) { c.says("Done: I have drawn the northern quay into the harbour map.") },
			"## Next Steps", "draw the northern quay",
		},
		"a request that ended": {
			func(c *conversation) {
				c.says("Here is the table.")
				c.user("Now paint the map of the quays in three colours.")
			},
			func(c *conversation) {
				c.tool("paint", `{"map":"quays"}`, "painted", false)
				c.says("The map has three colours.")
				c.user("Write the price list of the summer.")
			},
			"## Goal", "paint the map",
		},
		"the last step": {
			func(c *conversation) {
				c.tool("grep", `{"pattern":"ferry","path":"plans"}`, "plans/a.md:3: the ferry", false)
			},
			func(c *conversation) {
				c.tool("grep", `{"pattern":"quay","path":"plans"}`, "plans/a.md:3: the quay", false)
			},
			"### In Progress", "Last step",
		},
		"a value that changes": {
			func(c *conversation) {
				c.says("Here is the table.")
				c.user("The island ferry leaves at 9:40.")
				c.says("Noted.")
			},
			func(c *conversation) { c.user("The island ferry now leaves at 10:15.") },
			"", "9:40",
		},
	} {
		c := begin()
		test.open(c)
		cut := len(c.log)
		text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 2000})
		require.Contains(t, section(text, test.section), test.line, name)
		test.then(c)
		text = summarize(t, &summarizers.Request{Messages: c.log[:cut], Kept: c.log[cut:], MaxTokens: 2000})
		require.NotContains(t, section(text, test.section), test.line, name+"\n"+text)
		require.NotContains(t, text, "10:15", "what only the kept messages say needs no line")
	}
}

func section(text, heading string) string {
	if heading == "" {
		return text
	}
	return below(text, heading)
}

// Whoever reads the kept messages sees which of their calls wait for a result.
func TestCallsOfKeptMessagesNeedNoLine(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Write down when the ferries of the harbour leave, as a table.")
	c.add(compactordv1.Role_ROLE_ASSISTANT, callPart("call-a", "bash", `{"command":"make timetable"}`))
	cut := len(c.log)
	c.add(compactordv1.Role_ROLE_ASSISTANT, callPart("call-b", "read_file", `{"path":"plans/quays.md"}`))
	text := summarize(t, &summarizers.Request{Messages: c.log[:cut], Kept: c.log[cut:], MaxTokens: 2000})
	require.Contains(t, text, "No result yet: `make timetable` [#1]")
	require.NotContains(t, text, "quays.md")
}
