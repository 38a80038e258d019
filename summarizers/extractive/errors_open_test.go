package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// step is a call with its result.
type step struct {
	tool, input, output string
	failed              bool
}

// ran is a shell call that succeeded, and broke one that failed.
func ran(command, output string) step   { return step{"bash", command, output, false} }
func broke(command, output string) step { return step{"bash", command, output, true} }

// does adds calls and results.
func (c *conversation) does(steps ...step) {
	for _, s := range steps {
		if s.tool == "bash" {
			c.runs(s.input, s.output, s.failed)
		} else {
			c.tool(s.tool, s.input, s.output, s.failed)
		}
	}
}

// blocked returns the open errors after some steps.
func blocked(t *testing.T, steps ...step) string {
	t.Helper()
	var c conversation
	c.user("Mend the timetable import, please.")
	c.does(steps...)
	return below(c.summary(t, ""), "### Blocked")
}

// looked is a step that changes nothing.
var looked = ran("ls", "go.mod")

// An attempt that failed is open after a check of something else, and over after another attempt.
func TestAnAttemptOutlastsAnUnrelatedCheck(t *testing.T) {
	t.Parallel()
	failed := broke("curl -sf https://feeds.example.test/stops.zip -o stops.zip", "curl: (22) The requested URL returned error: 403")
	for then, open := range map[step]bool{
		ran("go test ./pager/...", "ok  \texample.test/pager\t0.1s"):               true,
		ran("npm run lint", "no problems"):                                         true,
		ran("curl -sf https://mirror.example.test/stops.zip -o stops.zip", "done"): false,
	} {
		require.Equal(t, open, strings.Contains(blocked(t, failed, then), "error: 403"), then.input)
	}
}

// What a look-up does not find, and how a call was written, matters only while it is the last thing that happened.
func TestLookUpsAndSlipsAreNoObstacles(t *testing.T) {
	t.Parallel()
	for _, s := range []step{
		{"Read", `{"file_path":"import/gtfs.go"}`, "File does not exist.", true},
		{"Grep", `{"pattern":"Stop","path":"import/gtfs"}`, "Path does not exist: import/gtfs", true},
		{"WebFetch", `{"url":"https://example.test/feed"}`, "Request failed with status code 404", true},
		{"book_seat", `{"row":3}`, "InputValidationError: row must be a string", true},
		{"Edit", `{"file_path":"a.go","old_string":"a","new_string":"b"}`, "String to replace not found in file.", true},
		broke("wc -l import/gtfs.go", "wc: import/gtfs.go: No such file or directory"),
		broke("cd imports && go test ./...", "bash: cd: imports: No such file or directory"),
		broke(`echo "it's" | jq '.[`, "bash: -c: line 1: unexpected EOF while looking for matching `''"),
		broke("pytest tests/gtfs", "ERROR: file or directory not found: tests/gtfs"),
		broke(`python -c "import os; print(os.path.join(None))"`, "TypeError: expected str, not NoneType"),
		broke(`make feed | python3 -c "print(0x)"`, "SyntaxError: invalid hexadecimal literal"),
	} {
		require.Contains(t, blocked(t, s), " failed: ", s.input)
		require.Empty(t, blocked(t, s, looked), s.input)
	}
}

func TestCancelledCallsDidNotFail(t *testing.T) {
	t.Parallel()
	for _, told := range []string{
		"<tool_use_error>Sibling tool call errored</tool_use_error>", "Skipped because another tool call failed", "Command aborted",
		"Tool execution was cancelled by the user", "This operation was canceled: a parallel call failed",
	} {
		require.Empty(t, blocked(t, broke("make import", told)), told)
	}
	for _, told := range []string{
		"The operation was aborted due to timeout", "Error: a sibling with this name exists already", "Error: operation aborted: the hook declined it",
		"Error: the request was canceled because the quota is exceeded", "Error: step skipped, the tool jq is missing",
	} {
		require.NotEmpty(t, blocked(t, broke("make import", told)), told)
	}
}

// Some programs say with their status that something differs or was not found.
func TestAStatusIsNotAlwaysAnError(t *testing.T) {
	t.Parallel()
	const difference = "Exit code 1\n--- /dev/null\n+++ stops.md\n+Error: the feed could not be read, and the import failed"
	for _, command := range []string{"diff -u old new", "git diff --no-index /dev/null stops.md", "cmp a b", "test -f stops.md", "pgrep importer", "which gtfs"} {
		require.Empty(t, blocked(t, broke(command, difference)), command)
	}
	require.Contains(t, blocked(t, broke("git diff nowhere", "Exit code 128\nfatal: ambiguous argument 'nowhere'")), "ambiguous")
}

// A check that covers a failed one ends its error.
func TestChecksEndErrors(t *testing.T) {
	t.Parallel()
	compile := "import/gtfs.go:12:5: undefined: parseStop"
	failing := "--- FAIL: TestStops (0.01s)\n    gtfs_test.go:9: got 3 stops, want 4\n--- FAIL: TestTrips (0.01s)\nFAIL\texample.test/import\t0.1s"
	for _, c := range []struct {
		name   string
		failed step
		then   []step
		gone   bool
	}{
		{"a test builds", broke("go build ./import", compile), []step{ran("go test ./...", "ok  \texample.test/import\t0.1s")}, true},
		{"a test of another package", broke("go build ./import", compile), []step{ran("go test ./export", "ok  \texample.test/export\t0.1s")}, false},
		{"a folder above", broke("pytest tests/gtfs/test_a.py", "E  ValueError: bad stop"), []step{ran("python -m pytest tests", "9 passed")}, true},
		{"a build is no test", broke("go test ./import", failing), []step{ran("go build ./...", "")}, false},
		{"the suite", broke("go test ./import", failing), []step{ran("make test", "ok")}, true},
		{"another suite", broke("make test-integration", failing), []step{ran("make test-unit", "ok")}, false},
		{"a target that leaves it out", broke("make test-integration", failing), []step{ran("make test", "ok")}, false},
		{"all checks", broke("make test-integration", failing), []step{ran("make ci", "ok")}, true},
		{"the lint of another tool", broke("make lint", "import/gtfs.go:3:1: error is not checked"), []step{ran("golangci-lint run", "0 issues.")}, true},
		{"a test is no lint", broke("make lint", "import/gtfs.go:3:1: error is not checked"), []step{ran("make test", "ok")}, false},
		{"each failed test by itself", broke("go test ./import", failing), []step{
			ran("go test ./import -run TestStops", "ok"), ran("go test ./import -run 'TestTrips$'", "ok"),
		}, true},
		{"the output names it", broke("go test ./import", "--- FAIL: TestStops (0.01s)\nFAIL"), []step{ran("go test -v ./import ./export -run Test", "--- PASS: TestStops (0.01s)\nok")}, true},
		{"the output names another", broke("go test ./import", "--- FAIL: TestStops (0.01s)\nFAIL"), []step{ran("go test -v ./export", "--- PASS: TestTrips (0.01s)\nok")}, false},
		{"pytest names it", broke("pytest tests", "FAILED tests/test_a.py::test_stop - ValueError"), []step{ran("pytest -v --lf tests/x.py", "tests/test_a.py::test_stop PASSED [100%]")}, true},
		{"a wider selection", broke("go test ./import -run TestStopsByName", "panic: no stop"), []step{ran("go test ./import -run TestStops", "ok")}, true},
		{"a narrower selection", broke("go test ./import -run TestStops", "panic: no stop"), []step{ran("go test ./import -run TestStopsByName", "ok")}, false},
		{"a chain", broke("git stash push && go build ./import && git stash pop", compile), []step{ran("go build ./...", "")}, true},
		{"a target that is no compiler", broke("make feed", "Error: the feed is locked"), []step{ran("go test ./...", "ok")}, false},
		{"git's second try", broke("git commit -m a", "Error: the hook failed with code 7"), []step{ran("git add x && git commit -m b", "[main 1] b")}, true},
		{"an edit alone", broke("go build ./import", compile), []step{{"edit", `{"path":"import/gtfs.go","oldText":"a","newText":"b"}`, "ok", false}}, false},
		{"an edit and a commit", broke("make lint", "import/gtfs.go:3:1: error is not checked"), []step{
			{"edit", `{"path":"/repo/import/gtfs.go","oldText":"a","newText":"b"}`, "ok", false}, ran("git commit -am fix", "[main 1] fix"),
		}, true},
		{"a commit without an edit", broke("make lint", "import/gtfs.go:3:1: error is not checked"), []step{ran("git commit -am wip", "[main 1] wip")}, false},
		{"the file is deleted", broke("go build ./import", compile), []step{ran("rm import/gtfs.go", "")}, true},
		{"the file is restored", broke("go build ./import", compile), []step{ran("git checkout -- import/gtfs.go", "")}, true},
		{"the file of a traceback is restored", broke("python -m pytest tests", "  File \"/srv/run.py\", line 3\n    import gtfs\n  File \"/srv/gtfs.py\", line 9\nSyntaxError: invalid syntax"), []step{ran("git checkout gtfs.py", "")}, true},
		{"the file of a frame is restored", broke("pytest tests/test_a.py", "tests/test_a.py:3: in <module>\n    import gtfs\ngtfs.py:9: in <module>\nE   NameError: name 'stop' is not defined"), []step{ran("git checkout gtfs.py", "")}, true},
		{"the checked file is restored", broke("python -m py_compile import/gtfs.py", "Sorry: IndentationError: unexpected indent"), []step{ran("git restore import/gtfs.py", "")}, true},
		{"another branch", broke("go build ./import", compile), []step{ran("git checkout import/gtfs", "")}, false},
		{"pytest does not read it", broke("pytest tests -x", "E   File \"/srv/import/gtfs.py\", line 9\nE   IndentationError: unexpected indent"), []step{ran("python -m py_compile import/gtfs.py", "")}, true},
		{"the same test from another folder", broke("npm test -w feed -- packages/feed/src/a.test.ts", "Error: no test found"), []step{ran("npm test -w feed -- src/a.test.ts", "4 passed")}, true},
		{"another file is deleted", broke("go build ./import", compile), []step{ran("rm export/gtfs.go", "")}, false},
	} {
		got := blocked(t, append([]step{c.failed}, c.then...)...)
		require.Equal(t, c.gone, got == "", "%s: %s", c.name, got)
	}
}

func TestOnlyTestsThatFailStillAreNamed(t *testing.T) {
	t.Parallel()
	failing := "--- FAIL: TestStops (0.01s)\n    gtfs_test.go:9: got 3 stops, want 4\n--- FAIL: TestTrips (0.01s)\nFAIL\texample.test/import\t0.1s"
	got := blocked(t, broke("go test ./import", failing), ran("go test ./import -run TestStops", "ok"))
	require.Contains(t, got, "FAIL TestTrips")
	require.NotContains(t, got, "TestStops")
	got = blocked(t, broke("make test", failing), broke("go test ./import -run TestTrips", "--- FAIL: TestTrips (0.01s)\n    gtfs_test.go:30: got 1, want 2"))
	require.Contains(t, got, "`make test` failed: «FAIL TestStops")
	require.Contains(t, got, "-run TestTrips` failed: «FAIL TestTrips")
	require.Equal(t, 1, strings.Count(got, "FAIL TestTrips"))
}

// A file that was changed and whose error was not seen again for long is taken as mended.
func TestEditedFilesAreTakenAsMended(t *testing.T) {
	t.Parallel()
	steps := []step{broke("make lint", "import/gtfs.go:3:1: error is not checked"), {"edit", `{"path":"import/gtfs.go","oldText":"a","newText":"b"}`, "ok", false}}
	for range 8 {
		steps = append(steps, looked)
	}
	require.NotEmpty(t, blocked(t, steps...))
	for range 8 {
		steps = append(steps, looked)
	}
	require.Empty(t, blocked(t, steps...))
}

func TestWhatIsInstalledIsNotMissing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		failed step
		then   string
		gone   bool
	}{
		{broke("pytest tests", "bash: pytest: command not found"), "pip install pytest", true},
		{broke("python -m pytest tests", "python: No module named pytest"), "pip install -e '.[dev]'", true},
		{broke("python -m pytest tests", "python: No module named pytest"), "pip install requests", false},
		{broke("node import.js", "Error: Cannot find module 'csv-parse'"), "npm install csv-parse", true},
		{broke("node import.js", "Error: Cannot find module 'csv-parse'"), "npm ci", true},
		{broke("node import.js", "Error: Cannot find module './stops'"), "npm ci", false},
		{broke("python run.py", "ModuleNotFoundError: No module named 'gtfs.feed'"), `python -c "import gtfs; print(gtfs.stops)"`, true},
		{broke("jq . feed.json", "jq: command not found"), "apt-get install -y jq", true},
	} {
		require.Equal(t, c.gone, blocked(t, c.failed, ran(c.then, "done")) == "", "%s, %s", c.failed.input, c.then)
	}
}

// A script for one use is forgotten when it works, or when another one does its work.
func TestScriptsForOneUseAreForgotten(t *testing.T) {
	t.Parallel()
	write := "cat > probe.py << 'EOF'\nprint(1)\nEOF\npython probe.py"
	failed := broke(write, "Traceback (most recent call last):\n  File \"/srv/probe.py\", line 3, in <module>\n    stops()\n    ^^^^^^^\nTypeError: stops() takes 1 argument")
	require.Equal(t, "- `python probe.py` failed: «TypeError: stops() takes 1 argument» [#1, #2]", blocked(t, failed, looked))
	for _, then := range []string{write, "python3 /srv/probe.py", "cat > other.py << 'EOF'\nprint(2)\nEOF\npython other.py", "rm probe.py"} {
		require.Empty(t, blocked(t, failed, ran(then, "[3]")), then)
	}
	require.NotEmpty(t, blocked(t, failed, step{"edit", `{"path":"import/gtfs.py","oldText":"a","newText":"b"}`, "ok", false}))
	require.Empty(t, blocked(t, failed, looked, looked, looked, looked))
	require.NotEmpty(t, blocked(t, broke("python manage.py migrate", "ValueError: no such table"), looked, looked, looked, looked), "a script of the project")
	require.Empty(t, blocked(t, ran(write, "<returncode>0</returncode>\n<output>\nstop 4: Error: no name\nError: 1 stop has no name\n</output>")), "it shows the bug")
	require.Empty(t, blocked(t, broke("patch -p1 < stops.patch", "patch: **** malformed patch at line 9"), step{"write", `{"path":"import/gtfs.py","content":"x"}`, "ok", false}))
}

// One cause is one line, with the citations of all commands that it stopped.
func TestOneCauseIsOneLine(t *testing.T) {
	t.Parallel()
	const missing = "ImportError: cannot import name 'feed' from 'gtfs' (/usr/lib/python3.11/site-packages/gtfs/__init__.py)"
	got := blocked(t, broke("python run.py", missing), broke("python -m pytest tests", "E   "+missing))
	require.Equal(t, 1, strings.Count(got, "- "), got)
	require.Contains(t, got, "[#1, #2, #3, #4]")
	require.Empty(t, blocked(t, broke("python run.py", missing), broke("python -m pytest tests", "E   "+missing), ran("python run.py", "ok")))
	got = blocked(t, broke("make a", "fatal: FEED-1 is locked by a run"), broke("make b", "fatal: FEED-2 is locked by a run"))
	require.Equal(t, 2, strings.Count(got, "- "), got)
}

// The line of an error says what is wrong and leaves out the frame around it.
func TestErrorsAreTheEssentialLines(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		"Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nValueError: bad stop 17":                                                                 "ValueError: bad stop 17",
		"# example.test/import\n./gtfs.go:12:5: undefined: parseStop\nmake: *** [Makefile:3: all] Error 2":                                                                  "./gtfs.go:12:5: undefined: parseStop",
		"=== RUN   TestStops\n    gtfs_test.go:8: reading 4 files\n    gtfs_test.go:9: got 3, want 4\n--- FAIL: TestStops (0.0s)\nFAIL\nexit status 1":                      "FAIL TestStops ⏎ gtfs_test.go:8: reading 4 files ⏎ gtfs_test.go:9: got 3, want 4",
		"test stops::by_name ... FAILED\nthread 'stops' panicked at src/stops.rs:4: no stop\nerror: test failed":                                                            "FAIL stops::by_name ⏎ thread 'stops' panicked at src/stops.rs:4: no stop",
		"FAILED tests/test_a.py::test_stop - ValueError: bad stop\n1 failed, 3 passed in 0.1s":                                                                              "FAIL tests/test_a.py::test_stop ⏎ 1 failed, 3 passed in 0.1s",
		strings.Repeat("checking the package of the importer\n", 12) + "import/gtfs.go:57:1: Function parseStop has a complexity of 36\nfunc parseStop() error {\n1 issues": "import/gtfs.go:57:1: Function parseStop has a complexity of 36 ⏎ func parseStop() error {",
		" ✗ reads a stop without a name (4 ms)\nExpected: 3\nReceived: 4":                                                                                                   "FAIL reads a stop without a name ⏎ Expected: 3 ⏎ Received: 4",
	} {
		require.Equal(t, "- `make test` failed: «"+want+"» [#1, #2]", blocked(t, broke("make test", output)))
	}
	long := blocked(t, broke("make test", strings.Repeat("Error: the stop `platform_name_of_the_station` has no position at all. ", 30)))
	require.Less(t, len(long), 300)
	for _, part := range strings.Split(long, "`") {
		require.False(t, strings.HasPrefix(part, "platform") && part != "platform_name_of_the_station", long)
	}
}

// The messages that the view keeps show how an error ended. What fails in them can be read there.
func TestKeptMessagesShowHowErrorsEnded(t *testing.T) {
	t.Parallel()
	compile := "import/gtfs.go:12:5: undefined: parseStop"
	for _, c := range []struct {
		name   string
		failed step
		then   step
		gone   bool
	}{
		{"nothing about it", broke("go build ./...", compile), looked, false},
		{"it works", broke("go build ./...", compile), ran("go test ./...", "ok"), true},
		{"the same error", broke("go build ./...", compile), broke("go build ./...", compile), false},
		{"another error", broke("go build ./...", compile), broke("go build ./...", "import/gtfs.go:30:1: missing return"), true},
		{"a look-up", broke("cat feed.txt", "cat: feed.txt: No such file or directory"), looked, true},
	} {
		var log conversation
		log.user("Mend the timetable import, please.")
		log.does(c.failed)
		cut := len(log.log)
		log.does(c.then)
		text := summarize(t, &summarizers.Request{Messages: log.log[:cut], Kept: log.log[cut:], MaxTokens: 2000})
		require.Equal(t, c.gone, below(text, "### Blocked") == "", "%s: %s", c.name, text)
		require.NotContains(t, below(text, "### Blocked"), "missing return")
	}
}

// Errors of a previous summary end in the same ways.
func TestCarriedErrorsEnd(t *testing.T) {
	t.Parallel()
	failing := "--- FAIL: TestStops (0.01s)\n--- FAIL: TestTrips (0.01s)\n    gtfs_test.go:9: got 3 stops, want 4\nFAIL\texample.test/import\t0.1s"
	for _, c := range []struct {
		name   string
		failed step
		then   step
		left   string
	}{
		{"a test passes", broke("go test ./import", failing), ran("go test ./import -run TestStops", "ok"), "FAIL TestTrips"},
		{"all pass", broke("go test ./import", failing), ran("go test ./...", "ok"), ""},
		{"it is installed", broke("python run.py", "ModuleNotFoundError: No module named 'gtfs'"), ran("pip install gtfs", "done"), ""},
		{"it compiles", broke("cargo build", "src/stops.rs:4:1: error: no stop"), ran("cargo test", "ok"), ""},
		{"the file is deleted", broke("cargo build", "src/stops.rs:4:1: error: no stop"), ran("rm src/stops.rs", ""), ""},
		{"a look-up", broke("cat feed.txt", "cat: feed.txt: No such file or directory"), looked, ""},
		{"nothing", broke("go test ./import", failing), looked, "FAIL TestStops, TestTrips"},
	} {
		var log conversation
		log.user("Mend the timetable import, please.")
		log.does(c.failed)
		previous := log.summary(t, "")
		require.Contains(t, below(previous, "### Blocked"), " failed: ")
		cut := len(log.log)
		log.does(c.then)
		text := summarize(t, &summarizers.Request{Messages: log.log[cut:], PreviousSummary: previous, MaxTokens: 2000})
		got := below(text, "### Blocked")
		require.Equal(t, c.left == "", got == "", "%s: %s", c.name, got)
		require.Contains(t, got, c.left, c.name)
	}
}

// A step with git that failed is for the user to decide, if the agent did not mend it at once.
func TestStepsWithGitEndWithTheUsersAnswer(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Mend the timetable import, please.")
	c.does(broke("git add docs/feed.md", "The following paths are ignored by one of your .gitignore files:\ndocs"), looked)
	c.says("The folder is ignored. Shall I leave it out?")
	require.Contains(t, below(c.summary(t, ""), "### Blocked"), "are ignored")
	c.user("yes")
	require.Empty(t, below(c.summary(t, ""), "### Blocked"))
}

// A filter can cut off the end of a check's output, which says that it failed.
func TestAFilterHidesNoFailure(t *testing.T) {
	t.Parallel()
	passing := strings.Repeat("ok  \texample.test/feed\t0.1s\n", 9)
	require.Contains(t, blocked(t, ran("go test ./... 2>&1 | head -40", "--- FAIL: TestStops (0.01s)\n"+passing)), "FAIL TestStops")
	require.Contains(t, blocked(t, ran("go test ./... 2>&1 | head -40", "import/gtfs.go:3:1: undefined: parseStop\n"+passing)), "undefined: parseStop")
	require.Empty(t, blocked(t, ran("cat notes.txt | head -40", "--- FAIL: TestStops (0.01s)\n"+passing)))
	require.Empty(t, blocked(t, ran("go test -v ./... 2>&1 | head -40", "gtfs_test.go:3: undefined: shown by the test\n"+passing+"12 tests passed")))
	require.NotEmpty(t, blocked(t, broke("go test ./import", "--- FAIL: TestStops (0.01s)"), ran("go test ./... | head -9", "--- FAIL: TestStops (0.01s)\n"+passing)))
}

// Words far within a long line of data say nothing about the outcome.
func TestDataIsNoError(t *testing.T) {
	t.Parallel()
	data := strings.Repeat("stop 4 has a platform and a name; ", 12) + "description: \"Error: failed to read the feed\""
	require.Empty(t, blocked(t, ran("./feed list", data)))
	require.Contains(t, blocked(t, step{"Edit", `{"file_path":"a.go"}`, "Found 2 matches of the text.\n" + strings.Repeat("// Error: unexpected stop\n", 30), true}),
		"`Edit` a.go failed: «Found 2 matches of the text.» [")
}

// What the agent says to be an obstacle is none when its work goes on.
func TestToldObstaclesEndWithTheNextStep(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Mend the timetable import, please.")
	c.says("I am blocked: I have no permission to read the bucket `gtfs-feeds`.")
	require.Contains(t, below(c.summary(t, ""), "### Blocked"), "gtfs-feeds")
	c.add(compactordv1.Role_ROLE_USER, textPart("You have it now."))
	require.Empty(t, below(c.summary(t, ""), "### Blocked"))
}

// Where a tool says with which status a command failed, a command of which it says nothing has worked, whatever it wrote.
func TestAToolThatSaysHowCommandsFail(t *testing.T) {
	t.Parallel()
	const noise = "mailer 10:01 ERROR: 1 message dropped: shutdown timeout\n"
	require.NotEmpty(t, blocked(t, ran("make mailer && ./mailer help", noise)))
	require.Empty(t, blocked(t, broke("make mail", "Exit code 2\nmake: no rule to make target 'mail'"), ran("make mail", "ok"), ran("make mailer && ./mailer help", noise)))
	require.NotEmpty(t, blocked(t, broke("make mail", "Exit code 2\nmake: no rule to make target 'mail'"), ran("make mail", "ok"),
		ran("make mailer 2>&1 | tail -3", "mailer.c:3: error: link is not declared\n")), "the status is that of tail")
}

// A line that only leads to what is wrong stood without it, as in the errors of CMake.
func TestTheReasonBelowAnErrorComesAlong(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Draw the quays.")
	c.runs("chart configure quays", strings.Repeat("-- Looking for a chart - found\n", 20)+
		"Chart Error at Quays.txt:28 (find_tide):\n  By not providing the table of tides in TIDE_PATH, this harbour has asked for one.\n\n"+
		strings.Repeat("-- Drawing nothing\n", 20)+"-- Configuring incomplete, errors occurred!\n[exit code 1]", true)
	require.Contains(t, below(c.summary(t, ""), "### Blocked"), "Chart Error at Quays.txt:28 (find_tide): ⏎ By not providing the table of tides in TIDE_PATH")
}

// The line below an error was taken for its reason whatever it said.
func TestWhatARunnerSaysIsNoReason(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"Done in 3.2s", "  Done in 3.2s", "The harbour is closed", "  12% of the quays"} {
		var c conversation
		c.user("Draw the quays.")
		c.runs("chart configure quays", strings.Repeat("-- Looking for a chart - found\n", 20)+"ValueError at Quays.txt:28 (find_tide):\n"+line+"\n\n"+
			strings.Repeat("-- Drawing nothing\n", 20)+"-- Configuring incomplete, errors occurred!\n[exit code 1]", true)
		blocked := below(c.summary(t, ""), "### Blocked")
		require.Contains(t, blocked, "ValueError at Quays.txt:28 (find_tide):", line)
		require.NotContains(t, blocked, "⏎ "+strings.TrimSpace(line), line)
	}
}
