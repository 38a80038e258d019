package program_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/docs"
)

func TestHelpPrintsDocuments(t *testing.T) {
	r := programtest.Ran(t, "help").Ends(t, terminal.ExitDone)
	for _, name := range docs.Names() {
		require.NotEmpty(t, docs.Summary(name), "docs/README.md says what is in %s", name)
		sample.Contains(t, strings.Join(strings.Fields(r.Out), " "), ": "+docs.Summary(name))
		sample.Contains(t, r.Out, "\n  "+name+" ")
		page := programtest.Ran(t, "help", name).Ends(t, terminal.ExitDone).Out
		sample.Contains(t, page, "# "+docs.Title(name)+"\n")
		require.NotRegexp(t, `\]\([a-z-]+\.md`, page, "a link to a file")
		require.NotContains(t, page, "<!--")
	}
	sample.Contains(t, programtest.Ran(t, "help", "compact").Ends(t, terminal.ExitDone).Out, "Usage: compactord compact")
	sample.Contains(t, programtest.Ran(t, "help", "compare").Ends(t, terminal.ExitDone).Out, "The flags of the command: compactord compare --help\n\n# Comparing presets")
	r = programtest.Ran(t, "help", "nope").Ends(t, terminal.ExitUsage).Says(t, `there is no topic "nope"; there are access, api, `)
	require.Empty(t, r.Out)
	// The error about an unknown format names a topic.
	programtest.Ran(t, "view", sample.File(t, "x.txt", "no transcript")).Ends(t, terminal.ExitFailed).Says(t, "compactord help dialects")
}

func TestHelp(t *testing.T) {
	require.Contains(t, programtest.Ran(t, "--help").Ends(t, terminal.ExitDone).Out, "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing")
	require.Contains(t, programtest.Ran(t).Ends(t, terminal.ExitUsage).Out, "Commands:", "who says nothing is told what there is")
	for _, command := range []string{"serve", "compact", "view", "prune", "import", "sessions", "check", "version", "compare", "strategies"} {
		require.Contains(t, programtest.Ran(t, command, "--help").Ends(t, terminal.ExitDone).Out, "Usage: compactord "+command)
	}
}

func TestVersion(t *testing.T) {
	version := programtest.Ran(t, "version").Ends(t, terminal.ExitDone).Out
	require.Contains(t, version, "built with go")
	require.NotContains(t, version, "(devel)")
	require.Equal(t, version, programtest.Ran(t, "--version").Ends(t, terminal.ExitDone).Out)
	require.Contains(t, sample.Document(t, programtest.Ran(t, "--version", "--json").Ends(t, terminal.ExitDone).Out), "go")
	require.Contains(t, sample.Document(t, programtest.Ran(t, "version", "--json").Ends(t, terminal.ExitDone).Out), "go")
}
