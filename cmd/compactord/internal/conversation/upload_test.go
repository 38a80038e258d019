package conversation_test

import (
	"fmt"
	"slices"
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

// largeTalk returns messages of together more than an import holds at once, one in each line.
func largeTalk(messages int) []string {
	lines := make([]string, messages)
	for n := range lines {
		role := []string{"user", "assistant"}[n%2]
		lines[n] = fmt.Sprintf(`{"role": %q, "content": %q}`+"\n", role, strings.Repeat(fmt.Sprintf("line %d of a long text ", n), 11000))
	}
	return lines
}

// A file whose messages are not held is imported like others: whole, from where the session ends, and not at all where its end
// is malformed.
func TestImportOfALargeFile(t *testing.T) {
	lines := largeTalk(150)
	require.Greater(t, len(strings.Join(lines, "")), 32<<20)
	imported := func(store, session string, lines ...string) programtest.Answer {
		path := sample.File(t, "large.jsonl", strings.Join(lines, ""))
		return programtest.Ran(t, "import", path, "--session", session, "--store", store, "--strict")
	}
	store := anystore.Place(t)
	imported(store, "whole", lines...).Ends(t, terminal.ExitDone)
	imported(store, "parts", lines[:20]...).Ends(t, terminal.ExitDone)
	r := imported(store, "parts", lines...).Ends(t, terminal.ExitDone)
	require.Contains(t, r.Out, "Imported 130 messages into session parts, which has 150 now.\n")
	imported(store, "parts", append([]string{lines[1]}, lines...)...).Says(t, "differs from the message at line 1 of the file")
	imported(store, "malformed", slices.Insert(slices.Clone(lines), 149, `{"role"`+"\n")...).Says(t, "line 150")
	require.NotContains(t, programtest.Ran(t, "sessions", "--store", store).Out, "malformed")

	texts := func(session string) string {
		return programtest.Ran(t, "view", "--session", session, "--store", store, "--messages").Ends(t, terminal.ExitDone).Out
	}
	whole := texts("whole")
	require.Equal(t, whole, texts("parts"))
	for n := range lines {
		require.Contains(t, whole, fmt.Sprintf("line %d of a long text line %d of", n, n))
	}
	require.Contains(t, programtest.Ran(t, "check", "--store", store).Ends(t, terminal.ExitDone).Out, "is sound")
}
