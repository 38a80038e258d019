package conversation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

// broughtSummary is a transcript whose first 36 messages the tool that wrote it compacted, and then more messages.
func broughtSummary(turns int) string {
	return sample.Talk(10) + `{"role":"_compaction","summary":"Ten tests were mended, one after the other.","first_kept":36}` + "\n" + sample.Talk(turns)
}

// The result used to report the 13 messages that were added, and not that another tool's summary covered the 485
// before.
func TestCompactReportsTheSummaryOfTheFile(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "talk.jsonl", broughtSummary(60))
	const before = "  Before      36 messages, from #0 to #35, are in the summary from the file; the new one includes it\n"
	for _, args := range [][]string{{}, {"--dry-run"}} {
		args = append([]string{"compact", path, "--keep-recent-tokens", "3000"}, args...)
		r := programtest.Ran(t, args...).Ends(t, terminal.ExitDone)
		sample.Contains(t, r.Out, "from #36 to #")
		sample.Contains(t, r.Out, before)
		doc := sample.Document(t, programtest.Ran(t, append(args, "--json")...).Ends(t, terminal.ExitDone).Out)
		require.InDelta(t, 0, sample.At(t, doc, "earlier", "start"), 0)
		require.InDelta(t, 36, sample.At(t, doc, "earlier", "end"), 0)
		require.Equal(t, "unknown", sample.At(t, doc, "earlier", "imported_from"))
	}
	whole := programtest.Ran(t, "compact", path, "--keep-recent-tokens", "3000", "--without-compactions").Ends(t, terminal.ExitDone)
	require.NotContains(t, whole.Out, "  Before")
	require.NotContains(t, sample.Document(t, programtest.Ran(t, "compact", path, "--keep-recent-tokens", "3000", "--without-compactions", "--json").Out), "earlier")
}

func TestCompactReportsItsOwnEarlierSummary(t *testing.T) {
	store := anystore.Place(t)
	on := func(args ...string) programtest.Answer {
		return programtest.Ran(t, append(args, "--session", "s", "--store", store)...)
	}
	r := on("import", sample.File(t, "talk.jsonl", broughtSummary(60))).Ends(t, terminal.ExitDone)
	sample.Contains(t, r.Out, "The model sees a summary from the file, instead of 36 messages, from #0 to #35.\n")
	sample.Contains(t, on("view").Ends(t, terminal.ExitDone).Out, "The summary covers 36 messages, from #0 to #35; it is the one that was imported.\n")
	sample.Contains(t, on("records").Ends(t, terminal.ExitDone).Out, "compaction: summarized #0 to #35, ")
	require.NotContains(t, on("records").Out, "imported from unknown")
	sample.Contains(t, on("compact", "--keep-recent-tokens", "9000").Ends(t, terminal.ExitDone).Out, "are in the summary that was imported;")
	sample.Contains(t, on("view").Ends(t, terminal.ExitDone).Out, "The summary covers ")
	require.NotContains(t, on("view").Out, "imported")
	doc := sample.Document(t, on("view", "--json").Ends(t, terminal.ExitDone).Out)
	require.InDelta(t, 0, sample.At(t, doc, "summary", "start"), 0)

	mine := func(args ...string) programtest.Answer {
		return programtest.Ran(t, append(args, "--session", "mine", "--store", store)...)
	}
	mine("import", sample.File(t, "first.jsonl", sample.Talk(conversation.BatchMessages/4))).Ends(t, terminal.ExitDone)
	mine("compact", "--keep-recent-tokens", "3000").Ends(t, terminal.ExitDone)
	mine("import", sample.File(t, "more.jsonl", sample.Talk(conversation.BatchMessages/4+30))).Ends(t, terminal.ExitDone)
	sample.Contains(t, mine("compact", "--keep-recent-tokens", "3000", "--dry-run").Ends(t, terminal.ExitDone).Out, "are in the summary written before;")
}

func TestCompareSaysThatItIgnoresTheFilesCompactions(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "talk.jsonl", broughtSummary(60))
	sample.Contains(t, programtest.Ran(t, "compare", path, "--preset", "pi").Ends(t, terminal.ExitDone).Out, "The file has 1 compaction of its own, ignored here")
	doc := sample.Document(t, programtest.Ran(t, "compare", path, "--preset", "pi", "--json").Ends(t, terminal.ExitDone).Out)
	require.InDelta(t, 1, sample.At(t, doc, "compactions_left_out"), 0)
	doc = sample.Document(t, programtest.Ran(t, "import", path, "--session", "s", "--store", anystore.Place(t), "--json").Ends(t, terminal.ExitDone).Out)
	require.InDelta(t, 36, sample.At(t, doc, "summary", "end"), 0)
}
