package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// broughtSummary is a transcript of 40 messages of which the first 36 were compacted by the tool that wrote it, and more
// messages behind them.
func broughtSummary(turns int) string {
	return talk(10) + `{"role":"_compaction","summary":"Ten tests were mended, one after the other.","first_kept":36}` + "\n" + talk(turns)
}

// A result told of the 13 messages that it had added, and not that a summary of another tool stood for the 485 before.
func TestCompactTellsOfTheSummaryThatTheFileBrought(t *testing.T) {
	temporaryFolder(t)
	path := file(t, "talk.jsonl", broughtSummary(60))
	const before = "  Before      36 messages, from #0 to #35, are in the summary that the file brought; the new one takes it in\n"
	for _, args := range [][]string{{}, {"--dry-run"}} {
		args = append([]string{"compact", path, "--keep-recent-tokens", "3000"}, args...)
		r := ran(t, args...).ends(t, exitDone)
		contains(t, r.out, "from #36 to #")
		contains(t, r.out, before)
		doc := document(t, ran(t, append(args, "--json")...).ends(t, exitDone).out)
		require.InDelta(t, 0, at(t, doc, "earlier", "start"), 0)
		require.InDelta(t, 36, at(t, doc, "earlier", "end"), 0)
		require.Equal(t, "unknown", at(t, doc, "earlier", "imported_from"))
	}
	whole := ran(t, "compact", path, "--keep-recent-tokens", "3000", "--without-compactions").ends(t, exitDone)
	require.NotContains(t, whole.out, "  Before")
	require.NotContains(t, document(t, ran(t, "compact", path, "--keep-recent-tokens", "3000", "--without-compactions", "--json").out), "earlier")
}

func TestTheSummaryBeforeIsToldOfOurOwnToo(t *testing.T) {
	store := storePath(t)
	on := func(args ...string) answer { return ran(t, append(args, "--session", "s", "--store", store)...) }
	r := on("import", file(t, "talk.jsonl", broughtSummary(60))).ends(t, exitDone)
	contains(t, r.out, "The model sees a summary that the file brought, in place of 36 messages, from #0 to #35.\n")
	contains(t, on("view").ends(t, exitDone).out, "The summary stands for 36 messages, from #0 to #35; it is the one that was imported.\n")
	contains(t, on("records").ends(t, exitDone).out, "compaction: summarized #0 to #35, ")
	require.NotContains(t, on("records").out, "imported from unknown")
	contains(t, on("compact", "--keep-recent-tokens", "9000").ends(t, exitDone).out, "are in the summary that was imported;")
	contains(t, on("view").ends(t, exitDone).out, "The summary stands for ")
	require.NotContains(t, on("view").out, "imported")
	doc := document(t, on("view", "--json").ends(t, exitDone).out)
	require.InDelta(t, 0, at(t, doc, "summary", "start"), 0)

	mine := func(args ...string) answer { return ran(t, append(args, "--session", "mine", "--store", store)...) }
	mine("import", file(t, "first.jsonl", talk(batchMessages/4))).ends(t, exitDone)
	mine("compact", "--keep-recent-tokens", "3000").ends(t, exitDone)
	mine("import", file(t, "more.jsonl", talk(batchMessages/4+30))).ends(t, exitDone)
	contains(t, mine("compact", "--keep-recent-tokens", "3000", "--dry-run").ends(t, exitDone).out, "are in the summary written before;")
}

func TestCompareSaysThatTheFilesCompactionsAreLeftOut(t *testing.T) {
	temporaryFolder(t)
	path := file(t, "talk.jsonl", broughtSummary(60))
	contains(t, ran(t, "compare", path, "--preset", "pi").ends(t, exitDone).out, "The file brought 1 compaction of its own: left out here")
	doc := document(t, ran(t, "compare", path, "--preset", "pi", "--json").ends(t, exitDone).out)
	require.InDelta(t, 1, at(t, doc, "compactions_left_out"), 0)
	doc = document(t, ran(t, "import", path, "--session", "s", "--store", storePath(t), "--json").ends(t, exitDone).out)
	require.InDelta(t, 36, at(t, doc, "summary", "end"), 0)
}
