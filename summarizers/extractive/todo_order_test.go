package extractive_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// To-dos stand in the order of their list, whichever of them an earlier list had.
func TestTodosKeepTheOrderOfTheirList(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Port the timetable to files, please.")
	c.tool("TodoWrite", `{"todos":[{"content":"Write the docs","status":"pending"}]}`, "ok", false)
	c.tool("TodoWrite", `{"todos":[{"content":"Read the stops","status":"in_progress"},{"content":"Name the lines","status":"pending"},
		{"content":"Check the names","status":"pending"},{"content":"Write the docs","status":"pending"}]}`, "ok", false)
	text := c.summary(t, "")
	for range 2 {
		require.Equal(t, "- [ ] Name the lines [#3]\n- [ ] Check the names [#3]\n- [ ] Write the docs [#1, #3]", below(text, "## Next Steps"))
		text = summarize(t, &summarizers.Request{PreviousSummary: text, MaxTokens: 2000})
	}
}

// A to-do of a new list is open, though an earlier list had one with the same text that was done.
func TestATodoOfANewListIsAnotherOne(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Port the timetable to files, please.")
	c.tool("TodoWrite", `{"todos":[{"content":"Test and lint","status":"completed"}]}`, "ok", false)
	c.user("And now the lines of the timetable.")
	c.tool("TodoWrite", `{"todos":[{"content":"Port the lines","status":"in_progress"},{"content":"Test and lint","status":"pending"}]}`, "ok", false)
	text := c.summary(t, "")
	require.NotContains(t, below(text, "### Done"), "Test and lint")
	require.Contains(t, below(text, "## Next Steps"), "- [ ] Test and lint [#4]")
	c.tool("TodoWrite", `{"todos":[{"content":"Port the lines","status":"completed"},{"content":"Test and lint","status":"completed"}]}`, "ok", false)
	require.Contains(t, below(c.summary(t, ""), "### Done"), "Test and lint [#4, #6]")
}

// A task keeps its place when its state changes.
func TestATaskKeepsItsPlace(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Port the timetable to files, please.")
	for _, subject := range []string{"Read the stops", "Name the lines"} {
		c.tool("TaskCreate", `{"subject":"`+subject+`"}`, "ok", false)
	}
	c.tool("TaskUpdate", `{"taskId":"1","status":"in_progress"}`, "ok", false)
	c.tool("TaskUpdate", `{"taskId":"1","status":"pending"}`, "ok", false)
	require.Equal(t, "- [ ] Task 1: Read the stops [#1, #7]\n- [ ] Task 2: Name the lines [#3]", below(c.summary(t, ""), "## Next Steps"))
}

// What the agent says that it did in other words ticks off a to-do.
func TestWhatTheAgentReportsAsDoneIsNoTodo(t *testing.T) {
	t.Parallel()
	for said, done := range map[string]bool{
		"Done: I have added the platform names to the timetable page.": true,
		"Done: I have read the timetable.":                             false,
	} {
		var c conversation
		c.user("Port the timetable to files, please.")
		c.tool("TodoWrite", `{"todos":[{"content":"Add platform names to timetable page","status":"pending"}]}`, "ok", false)
		c.add(compactordv1.Role_ROLE_ASSISTANT, textPart(said), callPart("z", "ls", `{}`))
		require.Equal(t, done, below(c.summary(t, ""), "## Next Steps") == "", said)
	}
}

// A call with merge changes the items that it names by their ids or texts. The others stay as they were, in their order.
func TestATodoCallWithMergeKeepsTheOtherItems(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Port the timetable to files, please.")
	c.tool("todo_write", `{"merge":false,"todos":[{"id":"1","content":"Read the stops","status":"in_progress"},
		{"id":"2","content":"Name the lines","status":"pending"},{"id":"3","content":"Write the docs","status":"pending"}]}`, "ok", false)
	c.tool("todo_write", `{"merge":true,"todos":[{"id":"1","status":"completed"},{"content":"Name the lines","status":"in_progress"},
		{"id":"4","content":"Check the names","status":"pending"}]}`, "ok", false)
	text := c.summary(t, "")
	require.Contains(t, below(text, "### Done"), "Read the stops [#1, #3]")
	require.Contains(t, below(text, "### In Progress"), "Name the lines [#1, #3]")
	require.Equal(t, "- [ ] Write the docs [#1]\n- [ ] Check the names [#3]", below(text, "## Next Steps"))
}

// A tick before an item says that it is done only where it is about work: it also stands before what speaks for a plan.
func TestTicksAreNoTodosOfTheirOwn(t *testing.T) {
	t.Parallel()
	for said, done := range map[string]bool{
		"Keep the sails in one loft:\n\n- ✅ Handles all common cases of rain correctly\n- ❌ Needs a second ladder": false,
		"Completed:\n\n- ✅ Sails of the ketch are in the loft":                                                     true,
		"## Completed\n\n- ✅ Sails of the ketch are in the loft":                                                   true,
		"- ✅ Moved all sails of the ketch into the loft":                                                           true,
		"- ✅ Sails of the ketch\n- [ ] Masts of the ketch":                                                         true,
	} {
		var c conversation
		c.user("Tidy up the boat house, please.")
		c.says(said)
		require.Equal(t, done, below(c.summary(t, ""), "### Done") != "", said)
	}
	var c conversation
	c.user("Tidy up the boat house, please.")
	c.says("- [ ] Bring the sails of the ketch into the loft\n- [ ] Sweep the floor of the boat house")
	c.says("Almost ready.\n\n- ✅ Bring the sails of the ketch into the loft")
	require.NotContains(t, below(c.summary(t, ""), "## Next Steps"), "sails")
}
