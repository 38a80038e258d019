package conversation_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/conversation"
	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

func TestImportGoesOn(t *testing.T) {
	store, content := anystore.Place(t), sample.Talk(300)
	lines := strings.SplitAfter(content, "\n")
	// An import that ended after its first batch.
	first := sample.File(t, "first.jsonl", strings.Join(lines[:conversation.BatchMessages], ""))
	programtest.Ran(t, "import", first, "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
	r := programtest.Ran(t, "import", sample.File(t, "all.jsonl", content), "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
	require.Contains(t, r.Out, "Imported 700 messages into session s, which has 1,200 now.\n")
	require.Contains(t, programtest.Ran(t, "check", "--store", store).Ends(t, terminal.ExitDone).Out, "is sound")
}
