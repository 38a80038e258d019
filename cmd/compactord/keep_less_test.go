package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// requireLowered compacts a file in a window of 60,000, and where that does nothing since all is to be kept, runs what it
// hints at, which does something. It returns whether there was such a hint.
func requireLowered(t *testing.T, path string) bool {
	t.Helper()
	r := ran(t, "compact", path, "--context-window", "60000", "-q")
	if r.code != exitNothing || strings.Contains(r.err, "holds no messages") || strings.Contains(r.err, "since the last compaction") {
		return false
	}
	if strings.Contains(r.err, "No lower --keep-recent-tokens") {
		return false
	}
	found := hintIn.FindStringSubmatch(r.err)
	require.NotNil(t, found, "%s: %s", path, r.err)
	words := unquoted(found[1])
	require.Contains(t, words, "--keep-recent-tokens", r.err)
	lowered := ran(t, words[1:]...).ends(t, exitDone)
	contains(t, lowered.out, "  Summarized  ")
	return true
}

// "nothing to do: all are to be kept" was all that was said.
func TestNothingToDoNamesTheNumberToLower(t *testing.T) {
	temporaryFolder(t)
	path := file(t, "talk.jsonl", talk(20))
	r := ran(t, "compact", path, "--context-window", "60000").ends(t, exitNothing)
	r.says(t, "are all to be kept\nThe newest 12,000 tokens are kept. With ").says(t, " messages would be summarized, and the context would hold ")
	require.True(t, requireLowered(t, path))
	doc := document(t, ran(t, "compact", path, "--context-window", "60000", "--json").ends(t, exitNothing).out)
	require.Positive(t, at(t, doc, "skipped", "keep_recent_tokens"))
	// The number that was given is the one to lower.
	ran(t, "compact", path, "--keep-recent-tokens", "50000").ends(t, exitNothing).says(t, "The newest 50,000 tokens are kept. With ")
	require.False(t, requireLowered(t, file(t, "one.jsonl", `{"role":"user","content":"hello"}`)))
	ran(t, "compact", file(t, "one.jsonl", `{"role":"user","content":"hello"}`)).ends(t, exitNothing).
		says(t, "\nNo lower --keep-recent-tokens would make the context smaller.\n")

	// Of a session only a plan is made: nothing is written for the advice.
	store := storePath(t)
	ran(t, "import", path, "--session", "s", "--store", store).ends(t, exitDone)
	r = ran(t, "compact", "--session", "s", "--store", store, "--context-window", "60000", "-q").ends(t, exitNothing)
	contains(t, ran(t, "records", "--session", "s", "--store", store).ends(t, exitDone).out, "change of policy")
	require.NotContains(t, ran(t, "sessions", "--store", store).out, "keeping")
	words := unquoted(hintIn.FindStringSubmatch(r.err)[1])
	contains(t, ran(t, words[1:]...).ends(t, exitDone).out, "  Summarized  ")
}

func TestTheNumberToLowerIsRightForTheCorpus(t *testing.T) {
	temporaryFolder(t)
	requireLowered(t, filepath.Join("..", "..", "examples", "transcript", "session.jsonl"))
	folder := corpus(t)
	lowered := 0
	for i, path := range transcriptsOf(t, folder) {
		if testing.Short() && i%5 != 0 {
			continue
		}
		if requireLowered(t, path) {
			lowered++
		}
	}
	require.Positive(t, lowered)
	t.Logf("%d files have a number to lower", lowered)
}

func TestRounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint32Range(1, 1<<31).Draw(t, "n")
		r := rounded(n)
		require.LessOrEqual(t, r, n)
		require.Greater(t, uint64(r)*11, uint64(n)*10-uint64(n)/10, "%d", n)
		require.Positive(t, r)
	})
}
