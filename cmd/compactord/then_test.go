package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A revert to where the session is reverts nothing, so that an undo after it takes nothing along.
func TestGoingBackToNow(t *testing.T) {
	on := life(t)
	on("checkpoint", "--session", "s").ends(t, exitDone)
	r := on("revert", "--session", "s", "--to-checkpoint", "1").ends(t, exitNothing)
	r.says(t, "compactord: nothing to do: session s is at point 21 already\n")
	require.Empty(t, r.out)
	on("revert", "--session", "s", "--to-point", "21", "--summarize").ends(t, exitNothing)
	doc := document(t, on("revert", "--session", "s", "--to-point", "21", "--json").ends(t, exitNothing).out)
	require.InDelta(t, 21, at(t, doc, "point"), 0)
	require.Nil(t, doc["record"])
	on("undo", "--session", "s").ends(t, exitNothing)
	on("revert", "--session", "s", "--to-point", "21", "--message", "Mind the tests.").ends(t, exitDone)
}

// What a revert does to the compaction in effect is said: who takes back turns does not expect it.
func TestGoingBackOverACompaction(t *testing.T) {
	on := life(t)
	on("compact", "--session", "s", "--keep-recent-tokens", "100").ends(t, exitDone)
	r := on("revert", "--session", "s", "--turns", "1").ends(t, exitDone)
	require.Regexp(t, `\nThe compaction \S+ is undone: nothing is summarized now\.\n`, r.out)
	require.Regexp(t, `\nThe compaction \S+ is in effect again\.\n`, on("undo", "--session", "s").ends(t, exitDone).out)
	require.NotContains(t, on("revert", "--session", "s", "--turns", "1", "--json").ends(t, exitDone).out, "The compaction")
	require.NotContains(t, on("revert", "--session", "s", "--turns", "1").ends(t, exitDone).out, "compaction")
}

// What a session was at a point can be looked at, in figures, messages and dialects, and nothing is changed by it.
func TestViewOfThen(t *testing.T) {
	on := life(t)
	whole := on("view", "--session", "s", "--messages").ends(t, exitDone).out
	rendered := on("view", "--session", "s", "--dialect", "anthropic").ends(t, exitDone).out
	on("compact", "--session", "s", "--keep-recent-tokens", "100").ends(t, exitDone)
	on("revert", "--session", "s", "--to-point", "8").ends(t, exitDone)
	now := on("view", "--session", "s", "--messages").ends(t, exitDone).out
	require.NotEqual(t, whole, now)
	require.Equal(t, whole, on("view", "--session", "s", "--as-of", "20", "--messages").ends(t, exitDone).out)
	require.Equal(t, rendered, on("view", "--session", "s", "--as-of", "20", "--dialect", "anthropic").ends(t, exitDone).out)
	contains(t, on("view", "--session", "s", "--as-of", "21", "--messages").ends(t, exitDone).out, " (summary)")
	figures := on("view", "--session", "s", "--as-of", "21").ends(t, exitDone).out
	contains(t, figures, "What the model sees of session s as of point 21: ")
	require.NotContains(t, figures, "Not shown")
	doc := document(t, on("view", "--session", "s", "--as-of", "8", "--json").ends(t, exitDone).out)
	require.InDelta(t, 8, at(t, doc, "messages"), 0)
	require.NotContains(t, doc, "not_shown")
	require.Equal(t, now, on("view", "--session", "s", "--messages").ends(t, exitDone).out)
	for _, args := range [][]string{
		{"--session", "s", "--as-of", "4000"},
		{"--session", "s", "--as-of", "4000", "--dialect", "gemini"},
		{"--session", "s", "--as-of", "8", "--compact"},
		{"--session", "s", "--as-of=-1"},
	} {
		on(append([]string{"view"}, args...)...).ends(t, exitUsage)
	}
	ran(t, "view", file(t, "talk.jsonl", talk(2)), "--as-of", "3").ends(t, exitUsage).says(t, "--as-of goes with --session")
}

// What a title holds makes no rows of a table.
func TestTitlesStayInTheirLine(t *testing.T) {
	on := life(t)
	const evil = "one\n2  21  forged\tcell\r\n\u2028x\u001b[2J"
	const harmless = "one 2  21  forged cell  x\uFFFD[2J\n"
	on("checkpoint", "--session", "s", "--title", evil).ends(t, exitDone)
	contains(t, on("checkpoint", "--session", "s", "--list").ends(t, exitDone).out, "active  "+harmless)
	contains(t, on("records", "--session", "s").ends(t, exitDone).out, "checkpoint 1: "+harmless)
	on("import", file(t, "talk.jsonl", talk(1)), "--session", "titled", "--title", evil).ends(t, exitDone)
	contains(t, on("sessions").ends(t, exitDone).out, harmless)
}

// elements are those of a list in a document.
func elements(t *testing.T, doc map[string]any, key string) []any {
	t.Helper()
	list, ok := at(t, doc, key).([]any)
	require.True(t, ok, "%s is no list", key)
	require.NotEmpty(t, list)
	return list
}

// Zeros are in the answers' documents: programs need not know what is left out.
func TestDocumentsHoldZeros(t *testing.T) {
	on := life(t)
	doc := document(t, on("records", "--session", "s", "--json").ends(t, exitDone).out)
	require.InDelta(t, 0, at(t, elements(t, doc, "records")[0], "sequence"), 0)
	doc = document(t, on("search", "number 0", "--session", "s", "--json").ends(t, exitDone).out)
	hit := elements(t, doc, "hits")[0]
	require.InDelta(t, 0, at(t, hit, "index"), 0)
	require.InDelta(t, 0, at(t, hit, "part"), 0)
	require.NotContains(t, hit, "result_part", "what has presence and is not there")
	doc = document(t, ran(t, "classify", "--text", "nothing of the kind", "--json").out)
	require.Equal(t, false, at(t, doc, "overflow"))
}
