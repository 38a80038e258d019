package transcripts_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

// requireLowered compacts a file in a window of 60,000 tokens. If that does nothing because all messages are kept, it
// runs the printed hint, which must do something. It returns whether there was a hint.
func requireLowered(t *testing.T, path string) bool {
	t.Helper()
	r := programtest.Ran(t, "compact", path, "--context-window", "60000", "-q")
	if r.Code != terminal.ExitNothing || strings.Contains(r.Err, "has no messages") || strings.Contains(r.Err, "since the last compaction") {
		return false
	}
	if strings.Contains(r.Err, "No lower --keep-recent-tokens") {
		return false
	}
	found := sample.HintIn.FindStringSubmatch(r.Err)
	require.NotNil(t, found, "%s: %s", path, r.Err)
	words := sample.Unquoted(found[1])
	require.Contains(t, words, "--keep-recent-tokens", r.Err)
	lowered := programtest.Ran(t, words[1:]...).Ends(t, terminal.ExitDone)
	sample.Contains(t, lowered.Out, "  Summarized  ")
	return true
}

// The message used to be only "nothing to do: all are to be kept".
func TestNothingToDoNamesTheNumberToLower(t *testing.T) {
	sample.TemporaryFolder(t)
	path := sample.File(t, "talk.jsonl", sample.Talk(20))
	r := programtest.Ran(t, "compact", path, "--context-window", "60000").Ends(t, terminal.ExitNothing)
	r.Says(t, "are all to be kept\nThe newest 11,250 tokens are kept. With ").Says(t, " messages would be summarized, and the context would hold ")
	require.True(t, requireLowered(t, path))
	doc := sample.Document(t, programtest.Ran(t, "compact", path, "--context-window", "60000", "--json").Ends(t, terminal.ExitNothing).Out)
	require.Positive(t, sample.At(t, doc, "skipped", "keep_recent_tokens"))
	// The hint lowers the given number.
	programtest.Ran(t, "compact", path, "--keep-recent-tokens", "50000").Ends(t, terminal.ExitNothing).Says(t, "The newest 50,000 tokens are kept. With ")
	require.False(t, requireLowered(t, sample.File(t, "one.jsonl", `{"role":"user","content":"hello"}`)))
	programtest.Ran(t, "compact", sample.File(t, "one.jsonl", `{"role":"user","content":"hello"}`)).Ends(t, terminal.ExitNothing).
		Says(t, "\nNo lower --keep-recent-tokens would make the context smaller.\n")

	// For a session only a plan is made, so nothing is written.
	store := anystore.Place(t)
	programtest.Ran(t, "import", path, "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
	r = programtest.Ran(t, "compact", "--session", "s", "--store", store, "--context-window", "60000", "-q").Ends(t, terminal.ExitNothing)
	sample.Contains(t, programtest.Ran(t, "records", "--session", "s", "--store", store).Ends(t, terminal.ExitDone).Out, "change of policy")
	require.NotContains(t, programtest.Ran(t, "sessions", "--store", store).Out, "keeping")
	words := sample.Unquoted(sample.HintIn.FindStringSubmatch(r.Err)[1])
	sample.Contains(t, programtest.Ran(t, words[1:]...).Ends(t, terminal.ExitDone).Out, "  Summarized  ")
}

func TestTheNumberToLowerIsRightForTheCorpus(t *testing.T) {
	sample.TemporaryFolder(t)
	requireLowered(t, filepath.Join("..", "..", "examples", "transcript", "session.jsonl"))
	folder := sample.Corpus(t)
	lowered := 0
	for i, path := range sample.TranscriptsOf(t, folder) {
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
