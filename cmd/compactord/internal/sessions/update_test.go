package sessions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

// No command gave a session a context window that was made without one.
func TestUpdateGivesASessionAWindow(t *testing.T) {
	store := anystore.Place(t)
	on := func(command string, flags ...string) programtest.Answer {
		return programtest.Ran(t, append([]string{command, "--session", "s", "--store", store}, flags...)...)
	}
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "s", "--store", store, "--keep-recent-tokens", "100").
		Ends(t, terminal.ExitDone)
	sample.Contains(t, on("view").Ends(t, terminal.ExitDone).Out,
		"If it has 200,000 tokens: compactord update --context-window 200000 --session s --store "+terminal.Quoted(store)+"\n")
	r := on("update", "--context-window", "200000").Ends(t, terminal.ExitDone)
	require.Regexp(t, `^Changed the policy of session s\. The context holds [\d,]+ tokens[^\n]*200,000[^\n]*\n$`, r.Out)
	require.NotContains(t, on("view").Ends(t, terminal.ExitDone).Out, "The window is unknown")

	changed := sample.Document(t, on("update", "--max-input-tokens", "9000", "--json").Ends(t, terminal.ExitDone).Out)
	require.InDelta(t, 9_000, sample.At(t, changed, "session", "policy", "max_input_tokens"), 0)
	require.InDelta(t, 200_000, sample.At(t, changed, "session", "policy", "context_window"), 0)
	require.InDelta(t, 100, sample.At(t, changed, "session", "policy", "strategy", "summarize", "recent_tokens"), 0,
		"the rest of the policy stays")
	on("update").Ends(t, terminal.ExitUsage).Says(t, "name what to change: --context-window or --max-input-tokens")
}
