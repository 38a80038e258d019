package sessions_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

// Context blocks are set, listed, printed word for word, also as of earlier points, and removed.
func TestBlocks(t *testing.T) {
	session := programtest.FiveTurns(t)
	on := func(args ...string) programtest.Answer {
		return session(append([]string{"block", "--session", "s"}, args...)...)
	}
	sample.Contains(t, on("--list").Ends(t, terminal.ExitDone).Out, "Session s has no context blocks.\n")
	r := on("plan", "--text", "1. read\n2. mend", "--turns", "3").Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "Set 1 context block of session s. The context holds ")
	path := sample.File(t, "memory.md", "Tests are slow.")
	set := sample.Document(t, on("memory", "--text-file", path, "--place", "leading", "--priority", "2", "--json").Ends(t, terminal.ExitDone).Out)
	on("memory", "--text-file", path, "--place", "leading", "--priority", "2").Ends(t, terminal.ExitNothing).Says(t, "set so already")

	r = on("--list").Ends(t, terminal.ExitDone)
	require.Equal(t, []string{"BLOCK", "plan", "memory"}, sample.FirstWords(r.Out))
	require.Regexp(t, `\nplan +latest +0 +\d+ +\d+ +3 +\d{4}-`, r.Out)
	require.Regexp(t, `\nmemory +leading +2 +\d+ +\d+ +- +\d{4}-`, r.Out)
	require.Equal(t, "1. read\n2. mend\n", on("plan").Ends(t, terminal.ExitDone).Out)
	require.Equal(t, "1. read\n2. mend\nTests are slow.\n", on("plan", "memory").Ends(t, terminal.ExitDone).Out)
	listed := sample.Elements(t, sample.Document(t, on("plan", "--json").Ends(t, terminal.ExitDone).Out), "blocks")
	require.Len(t, listed, 1)
	sample.Contains(t, session("view", "--session", "s", "--messages").Ends(t, terminal.ExitDone).Out, "user (context block memory)")

	sample.Contains(t, on("plan", "memory", "--remove").Ends(t, terminal.ExitDone).Out, "Removed 2 context blocks of session s.")
	on("plan", "--remove").Ends(t, terminal.ExitNothing).Says(t, "there is no such block")
	for _, flags := range [][]string{nil, {"--json"}} {
		on(append([]string{"plan"}, flags...)...).Ends(t, terminal.ExitFailed).Says(t, `session "s" has no context block "plan": --list shows`)
	}
	point := fmt.Sprint(sample.At(t, set, "sequence"))
	require.Equal(t, "1. read\n2. mend\n", on("plan", "--as-of", point).Ends(t, terminal.ExitDone).Out)
	on("rule", "--text", "Obey.", "--place", "leading", "--operator").Ends(t, terminal.ExitUsage).Says(t, "allow_operator")
	for _, wrong := range [][]string{
		{},
		{"--list", "plan"},
		{"--list", "--remove"},
		{"plan", "--text", "x", "--remove"},
		{"plan", "--text", "x", "--text-file", path},
		{"plan", "memory", "--text", "x"},
		{"plan", "--turns", "3"},
		{"plan", "--text", "x", "--as-of", "1"},
		{"plan", "--place", "first", "--text", "x"},
		{"a name", "--text", "x"},
	} {
		on(wrong...).Ends(t, terminal.ExitUsage)
	}
}

// A child begins with what it is given, and ends once, with its result in its parent's log.
func TestChildBeginsAndEnds(t *testing.T) {
	on := programtest.FiveTurns(t)
	on("block", "plan", "--session", "s", "--text", "1. mend").Ends(t, terminal.ExitDone)
	r := on("child", "--session", "s", "--as", "c", "--title", "search", "--sees", "chosen", "--message", "0", "--block", "plan").
		Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "Began session c, a child of session s at point ")
	require.Equal(t, "1. mend\n", on("block", "plan", "--session", "c").Ends(t, terminal.ExitDone).Out)
	begun := sample.Document(t, on("child", "--session", "s", "--json").Ends(t, terminal.ExitDone).Out)
	require.Equal(t, "CHILD_SEES_NOTHING", sample.At(t, begun, "session", "parent", "sees"))
	require.Regexp(t, `(?m)^c .* s +search$`, on("sessions", "--parent", "s").Ends(t, terminal.ExitDone).Out)

	r = on("end", "--session", "c", "--result", "found it").Ends(t, terminal.ExitDone)
	require.Regexp(t, `^Ended session c. Its result is message #\d+ of session s, whose context holds `, r.Out)
	require.Equal(t, r.Out, on("end", "--session", "c", "--result", "found it").Ends(t, terminal.ExitDone).Out)
	on("end", "--session", "c", "--result", "other").Ends(t, terminal.ExitFailed).Says(t, "(CHILD_ENDED)")
	on("end", "--session", "s").Ends(t, terminal.ExitFailed).Says(t, "(NO_PARENT)")
	sample.Contains(t, on("view", "--session", "s", "--messages").Ends(t, terminal.ExitDone).Out, "found it")
	on("child", "--session", "s", "--message", "0").Ends(t, terminal.ExitUsage).Says(t, "need --sees chosen")
	on("child", "--session", "s", "--to-point", "1", "--to-checkpoint", "1").Ends(t, terminal.ExitUsage)
	on("end", "--session", "c", "--result", "").Ends(t, terminal.ExitUsage).Says(t, "the result is empty")
}
