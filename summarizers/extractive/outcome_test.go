package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnOutputThatEndsBadlyIsNoSuccess: the end of an output decides how a command ended, if only the output says it.
func TestAnOutputThatEndsBadlyIsNoSuccess(t *testing.T) {
	t.Parallel()
	fine := strings.Repeat("ok  \texample.test/pkg/N\t0.01s\n", 600)
	for ending, told := range map[string]string{
		"api/server.go:12: undefined: Handler":                                              "undefined: Handler",
		"api/server.go:12:5: missing return":                                                "missing return",
		"api/server.go:12:5: missing return\n1 issues:\n* typecheck: 1":                     "missing return",
		"src/main.c:7:1: error: expected ';'\n1 error generated.":                           "expected ';'",
		"src/a.ts(12,5): error TS2304: Cannot find name 'x'.":                               "TS2304",
		"error: could not compile `shop`":                                                   "could not compile",
		"Error":                                                                             "Error",
		"exit status 2":                                                                     "failed: ",
		"make: *** [Makefile:3: build] Error 2":                                             "Error 2",
		"FAILED tests/test_pager.py::test_last":                                             "test_last",
		"FAIL\texample.test/pkg/z\t0.1s\nok  \texample.test/pkg/zz\t0.1s":                   "pkg/z",
		"Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    x()": "Traceback",
		"AssertionError":                                                                    "AssertionError",
		"Tests: 1 failed, 40 passed":                                                        "1 failed",
		"10 errors found":                                                                   "10 errors",
		"Segmentation fault (core dumped)":                                                  "Segmentation",
		"Process exited with code 3":                                                        "failed: ",
		"BUILD FAILURE":                                                                     "BUILD FAILURE",
		"错误：连接被拒绝":                                                                          "连接被拒绝",
	} {
		var c conversation
		c.user("Build all of it, please.")
		at := c.runs("go build ./...", fine+ending, false)
		text := c.summary(t, "")
		require.NotContains(t, below(text, "### Done"), "go build", ending)
		require.Contains(t, below(text, "### Blocked"), told)
		requireLine(t, text, "`go build ./...` failed", at)
	}
}

// TestAnOutputThatEndsWellIsNoFailure: errors in the middle of an output do not count as its end.
func TestAnOutputThatEndsWellIsNoFailure(t *testing.T) {
	t.Parallel()
	for output, told := range map[string]string{
		"Error: expected by the test\n" + strings.Repeat("step\n", 40) + "Tests: 40 passed, 0 failed": ": «Tests: 40 passed, 0 failed",
		"    pager_test.go:57: logged a line\n--- PASS: TestPager (0.00s)\nPASS\nok  \tpkg\t0.1s":     ": ok",
		"": ": no output",
		"Compiled 31 files, 0 errors, 2 warnings":                                     ": «Compiled 31 files, 0 errors, 2 warnings",
		"a.py:3: DeprecationWarning: old\n12 tests done":                              ": «12 tests done",
		"Output: (empty)\nError: (none)\nExit Code: 0\nSignal: 0":                     ": no output",
		"Exit code: 0\nOutput:\nmain.go:12: listening on port 80\n":                   ": «main.go:12: listening on port 80",
		"[build] $ go build ./...\n":                                                  ": no output",
		"Already on 'main'\nuser@host:/srv $":                                         ": «Already on 'main'",
		" 2 files changed, 3 insertions(+)\n create mode 100644 error.go":             ": «2 files changed, 3 insertions(+)",
		"10 tests ran\nthe `ERROR` level is for messages that nobody should ever see": ": «the `ERROR` level is for",
	} {
		var c conversation
		c.user("Build all of it, please.")
		at := c.runs(`git commit -m "Error: handle the empty page"`, output, false)
		text := c.summary(t, "")
		require.Empty(t, below(text, "### Blocked"), output)
		requireLine(t, below(text, "### Done"), "page\"`"+told, at)
	}
}

// TestWhatIsFlaggedFailed: a result that its tool flags as an error is one, whatever its text.
func TestWhatIsFlaggedFailed(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"make all", "cat notes.txt"} {
		var c conversation
		c.user("Build all of it, please.")
		c.runs(command, "ok, all tests passed", true)
		text := c.summary(t, "")
		require.Contains(t, below(text, "### Blocked"), "`"+command+"` failed: «ok, all tests passed»")
		require.Empty(t, below(text, "### Done"))
	}
}

// TestAChainProvesAllOfItsCommands: a later line that runs the same command among others resolves its error.
func TestAChainProvesAllOfItsCommands(t *testing.T) {
	t.Parallel()
	for then, gone := range map[string]bool{
		"go test -race ./search/ && golangci-lint run": true,
		"go vet ./search && go test ./search":          true,
		"go test ./search; echo done":                  true,
		"golangci-lint run; go test ./other":           false,
		"golangci-lint run && go test ./other":         false,
		"go vet ./search || go test ./search":          false,
	} {
		var c conversation
		c.user("Find out why it is flaky.")
		c.runs("go test ./search -run TestFlaky -count=60", "--- FAIL: TestFlaky\nFAIL", true)
		c.runs(then, "0 issues.", false)
		require.Equal(t, gone, below(c.summary(t, ""), "### Blocked") == "", then)
	}
}

// TestNextStepsGoStale: a next step from long ago is dropped.
func TestNextStepsGoStale(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Speed up the import of the timetables.")
	c.says("The next step is to measure how long `ImportAll` takes.")
	require.Contains(t, below(c.summary(t, ""), "## Next Steps"), "ImportAll")
	for range 40 {
		c.runs("ls", "a.go", false)
	}
	require.Contains(t, below(c.summary(t, ""), "## Next Steps"), "ImportAll")
	for range 40 {
		c.runs("ls", "a.go", false)
	}
	require.Empty(t, below(c.summary(t, ""), "## Next Steps"))
}

// What a command is told to have ended with is a line of its own, and not one of the shell around it.
func TestAnOutcomeIsALineOfTheCommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ command, output, want string }{
		{"rm docs/mast.txt", "rm docs/mast.txt\n", "- Ran `rm docs/mast.txt`: no output"},
		{"rm docs/mast.txt", "Command: rm docs/mast.txt\nDirectory: (root)\nOutput: (empty)\nError: (none)\nExit Code: 0\nSignal: 0\n", "- Ran `rm docs/mast.txt`: no output"},
		{"pip install sails -q", "WARNING: Running pip as the 'root' user can result in broken permissions\n", "- Ran `pip install sails -q`: ok"},
		{"LOFT=$(go env GOPATH) && grep -rn sail $LOFT", "loft/sail.go:3: return err\n", ""},
		{"go mod graph", "boats v1.2.0 go@1.21\n", ""},
	} {
		var conv conversation
		conv.user("Tidy up the boat house, please.")
		conv.runs(c.command, c.output, false)
		conv.says("Next.")
		if done := below(conv.summary(t, ""), "### Done"); c.want == "" {
			require.Empty(t, done, c.command)
		} else {
			require.Contains(t, done, c.want)
		}
	}
}

// An edit that an editor did not apply has failed, whatever it prints behind that.
func TestARefusedEditIsNotDone(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Mend the loader.")
	c.runs("edit 4:9 loader.py", "[Your proposed edit has introduced new syntax error(s). Please understand the errors and retry.]\n"+
		"ERRORS:\n- E999 IndentationError: unexpected indent\nThis is how it would have looked:\n4|def load():\nDO NOT run it again.\n", false)
	require.Empty(t, below(c.summary(t, ""), "### Done"))
	require.Contains(t, below(c.summary(t, ""), "### Blocked"), "E999 IndentationError")
	require.Contains(t, below(c.summary(t, ""), "### Blocked"), "«Your proposed edit has introduced new syntax error(s).")
	require.NotContains(t, below(c.summary(t, ""), "### Blocked"), "DO NOT")
}

// The steps that a program got through stood before its error.
func TestStepsThatWentWellAreNoPartOfAnError(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Install the charts, please.")
	c.runs("port install charts", "Reading the harbour... Done\nSorting the buoys...ok\nE: Unable to find the charts of 1971", true)
	require.Contains(t, below(c.summary(t, ""), "### Blocked"), "`port install charts` failed: «E: Unable to find the charts of 1971»")
}
