package extractive_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Input to a running process, and questions for its output, counted as something done, and the command as finished when it
// had only begun.
func TestCommandsInTheBackground(t *testing.T) {
	t.Parallel()
	begin := func(arguments, said string) *conversation {
		var c conversation
		c.user("Run the tests of the timetable.")
		c.tool("exec_command", arguments, said, false)
		return &c
	}
	const line = `{"cmd":"make test"}`
	c := begin(line, "Chunk ID: 1a\nProcess running with session ID 41\nOutput:\n")
	require.Contains(t, below(c.summary(t, ""), "### In Progress"), "No result yet: `make test` [#1]")
	require.Empty(t, below(c.summary(t, ""), "### Done"))
	c.tool("write_stdin", `{"session_id":41,"chars":"y"}`, "Process running with session ID 41\nOutput:\n", false)
	require.Contains(t, below(c.summary(t, ""), "### In Progress"), "No result yet: `make test` [#1]")
	c.tool("write_stdin", `{"session_id":41,"chars":""}`, "Process exited with code 0\nOutput:\nall 12 timetables are right", false)
	text := c.summary(t, "")
	require.Equal(t, "- Ran `make test`: «all 12 timetables are right» [#1, #6]", below(text, "### Done"))
	require.NotContains(t, text, "No result yet")
	require.NotContains(t, text, "write_stdin")

	c = begin(line, "Command running in background with ID: bash_3")
	c.tool("BashOutput", `{"bash_id":"bash_3"}`, "Process exited with code 2\nOutput:\nmake: *** [test] Error 2\nstops.go:7: no such stop", true)
	require.Contains(t, below(c.summary(t, ""), "### Blocked"), "`make test` failed: ")

	c = begin(line, "Process running with session ID 41\nOutput:\n")
	c.tool("kill_session", `{"session_id":41}`, "ok", false)
	require.NotContains(t, below(c.summary(t, ""), "### Done"), "make test")

	c = begin(line, "ok")
	c.tool("write_stdin", `{"session_id":9,"text":"q"}`, "ok", false)
	require.NotContains(t, c.summary(t, ""), "Called `write_stdin`")
}

// A question for the output of a process that fails says nothing about the process.
func TestAFailedQuestionForAProcess(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Write the list of changes.")
	c.runs("make changes", "Command running in background with ID: b7f1. Output is being written to: /tmp/b7f1.output", false)
	c.tool("TaskOutput", `{"task_id":"b7f1"}`, "<tool_use_error>No task found with ID: b7f1</tool_use_error>", true)
	require.Empty(t, below(c.summary(t, ""), "### Blocked"))
}
