package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// done returns the lines of what was done, after commands with their outputs.
func done(t *testing.T, commands ...[2]string) string {
	t.Helper()
	var c conversation
	c.user("See to the pager, please.")
	for _, command := range commands {
		c.runs(command[0], command[1], false)
	}
	return below(c.summary(t, ""), "### Done")
}

// TestARunTellsItsOutcome: what a command wrote says how it ended, and not its status alone.
func TestARunTellsItsOutcome(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ command, output, want string }{
		{"python check_pager.py", "first page\nlast page is empty\n<returncode>0</returncode>", "Ran `python check_pager.py`: «last page is empty»"},
		{"make all", "cc pager.c\ndone in 3 s\n--------\n}", "Ran `make all`: «done in 3 s»"},
		{"make all", "done in 3 s\nWARNING: page 7 is old", "Ran `make all`: «done in 3 s»"},
		{"make all", "done in 3 s\nShell cwd was reset to /srv/pager", "Ran `make all`: «done in 3 s»"},
		{"./migrate.sh", "ValueError: page 7 has no rows\nsee the log for more\nexit code: 0", "Ran `./migrate.sh`: «ValueError: page 7 has no rows»"},
		{"make pages | grep -v draft | wc -l", "41", "Ran `make pages` … `| wc -l`: «41»"},
		{"make pages | tail -3", "page 41", "Ran `make pages`: «page 41»"},
		{"for p in a b; do\nmake $p\ndone", "made b", "Ran `for p in a b; do make $p; done`: «made b»"},
		{"python -c 'import pager; print(pager.last)'", "None", ""},
		{"pager --version", "pager 3.1", ""},
		{"git add pager.c", "", ""},
	} {
		got, _, _ := strings.Cut(done(t, [2]string{tt.command, tt.output}), " [#")
		require.Equal(t, tt.want, strings.TrimPrefix(got, "- "))
	}
}

// TestALineOfTheShellIsNoOutcome: a line that the outputs of several programs end with is of what ran them.
func TestALineOfTheShellIsNoOutcome(t *testing.T) {
	t.Parallel()
	var commands [][2]string
	for _, program := range []string{"make", "cmake", "ninja"} {
		commands = append(commands, [2]string{program + " all", program + " built 3 files\nback in /srv/" + program})
	}
	text := done(t, commands...)
	require.NotContains(t, text, "back in")
	require.Contains(t, text, "Ran `ninja all`: «ninja built 3 files»")
	require.Contains(t, done(t, commands[:2]...), "Ran `make all`: «back in /srv/make»")
}

// TestASuccessBeforeAFailureIsOutdated: once a check fails, its earlier success counts no more, and neither does that of
// another check before a change.
func TestASuccessBeforeAFailureIsOutdated(t *testing.T) {
	t.Parallel()
	const lint, tests = "Ran `make lint`", "Ran `go test ./pager`"
	for _, tt := range []struct {
		failed  string
		changed bool
		kept    string
	}{
		{"go test ./...", false, lint},
		{"go test ./...", true, ""},
		{"make lint", false, tests},
		{"cargo test", false, lint + tests},
		{"./deploy.sh", true, lint + tests},
	} {
		var c conversation
		c.user("See to the pager, please.")
		c.runs("make lint", "0 issues.", false)
		c.runs("go test ./pager", "ok  \tpager\t0.1s", false)
		if tt.changed {
			c.tool("write_file", `{"path":"pager/pager.go","content":"package pager"}`, "written", false)
		}
		c.runs(tt.failed, "pager/pager.go:3:1: missing return", true)
		text := below(c.summary(t, ""), "### Done")
		for _, line := range []string{lint, tests} {
			require.Equal(t, strings.Contains(tt.kept, line), strings.Contains(text, line), fmt.Sprint(tt, text))
		}
	}
}
