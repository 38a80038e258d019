package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// A call that worked is another try of one that failed if it does mostly the same with the same thing.
func TestACallIsTriedAgain(t *testing.T) {
	t.Parallel()
	fails := func(tool, input, output string) step { return step{tool, input, output, true} }
	for name, tried := range map[string]struct {
		failed step
		then   step
		gone   bool
	}{
		"at another time": {
			fails("calendar_create", `{"title":"Stops","room":"1.11","start":"09:00"}`, "Error: room 1.11 is taken"),
			step{"calendar_create", `{"title":"Stops","room":"1.11","start":"14:00"}`, `{"event":"e7"}`, false},
			true,
		},
		"with another title": {
			fails("calendar_create", `{"title":"Stops","room":"1.11","start":"09:00"}`, "Error: room 1.11 is taken"),
			step{"calendar_create", `{"title":"Lines","room":"1.11","start":"09:00"}`, `{"event":"e7"}`, false},
			false,
		},
		"for another one": {
			fails("send_invoice", `{"customer_id":"c1","month":"5","copy":"yes"}`, "Error: the customer is locked"),
			step{"send_invoice", `{"customer_id":"c2","month":"5","copy":"yes"}`, `{"sent":3}`, false},
			false,
		},
		"in another way": {
			fails("send_invoice", `{"customer_id":"c1","month":"5","copy":"yes"}`, "Error: the customer is locked"),
			step{"send_invoice", `{"customer_id":"c1","month":"6","copy":"no"}`, `{"sent":3}`, false},
			false,
		},
		"with another means for the same thing": {
			fails("pay_order", `{"order_id":"o1","items":[{"n":1,"of":"a"}],"payment_id":"card-1"}`, "Error: the card has expired"),
			step{"pay_order", `{"order_id": "o1", "items": [{"n": 1, "of": "a"}], "payment_id": "card-2"}`, `{"paid":true}`, false},
			true,
		},
		"with another means for another thing": {
			fails("pay_order", `{"order_id":"o1","items":[{"n":1,"of":"a"}],"payment_id":"card-1"}`, "Error: the card has expired"),
			step{"pay_order", `{"order_id":"o2","items":[{"n":1,"of":"a"}],"payment_id":"card-1"}`, `{"paid":true}`, false},
			false,
		},
		"once what it imports was installed anew": {
			broke(`python -c "import gtfs; print(gtfs.stops)"`, "ImportError: cannot import name 'formats' from 'inspect' (/usr/lib/python3.11/inspect.py)"),
			ran(`pip install "gtfs>=1.14"`, "Successfully installed gtfs-1.15"), true,
		},
		"once something else was installed": {
			broke(`python -c "import gtfs; print(gtfs.stops)"`, "ImportError: cannot import name 'formats' from 'inspect' (/usr/lib/python3.11/inspect.py)"),
			ran(`pip install "shapes>=1.14"`, "Successfully installed shapes-1.15"), false,
		},
		"by another tool": {
			fails("calendar_create", `{"title":"Stops","room":"1.11","start":"09:00"}`, "Error: room 1.11 is taken"),
			step{"ticket_create", `{"title":"Stops","room":"1.11","start":"14:00"}`, `{"ticket":"e7"}`, false},
			false,
		},
		"with a long argument that differs in its middle": {
			fails("note_create", `{"room":"1.11","title":"`+strings.Repeat("stop ", 1<<13)+`a`+strings.Repeat(" stop", 1<<13)+`","at":"9","of":"x"}`, "Error: the room is locked"),
			step{"note_create", `{"room":"1.11","title":"` + strings.Repeat("stop ", 1<<13) + `b` + strings.Repeat(" stop", 1<<13) + `","at":"10","of":"x"}`, `{"note":"e7"}`, false},
			false,
		},
		"with the same long argument": {
			fails("note_create", `{"room":"1.11","title":"`+strings.Repeat("stop ", 1<<13)+`a`+strings.Repeat(" stop", 1<<13)+`","at":"9","of":"x"}`, "Error: the room is locked"),
			step{"note_create", `{"room":"1.11","title":"` + strings.Repeat("stop ", 1<<13) + `a` + strings.Repeat(" stop", 1<<13) + `","at":"9","of":"y"}`, `{"note":"e7"}`, false},
			true,
		},
		"once its program is there": {
			fails("find_stops", `{"pattern":"a"}`, "Error: spawn /opt/bin/stopfinder ENOENT"),
			step{"find_stops", `{"pattern":"b"}`, "platform 7, line 3", false},
			true,
		},
		"with a package of another version": {
			broke("apt-get install -y gtfs-dev", "E: Unable to locate package gtfs-dev"), ran("apt-get install -y gtfs-14-dev", "Setting up gtfs-14-dev"), true,
		},
		"with another package": {
			broke("apt-get install -y gtfs-dev", "E: Unable to locate package gtfs-dev"), ran("apt-get install -y curl", "Setting up curl"), false,
		},
	} {
		require.NotEmpty(t, blocked(t, tried.failed, looked), name)
		require.Equal(t, tried.gone, blocked(t, tried.failed, tried.then, looked) == "", name)
	}
}

// An attempt that failed is left behind once the agent ended its turn without a word about it.
func TestAttemptsAreLeftBehindWithTheirTurn(t *testing.T) {
	t.Parallel()
	const code = "import gtfs\nstops = gtfs.read('stops.txt')\nprint(stops.by_name['Mill'])"
	for report, gone := range map[string]bool{
		"The importer has 40 stops, and all of them have names.":        true,
		"I could not read the stop: stops.txt has no index of by_name.": false,
	} {
		var c conversation
		c.user("How many stops does the timetable have?")
		c.tool("run_python", `{"code":"`+strings.ReplaceAll(code, "\n", `\n`)+`"}`, "AttributeError: stops.txt has no index by_name", true)
		require.Contains(t, below(c.summary(t, ""), "### Blocked"), "- `stops = gtfs.read('stops.txt'); print(stops.by_name['Mill'])` failed: «AttributeError")
		c.says(report)
		c.user("Thanks, and how many lines are there?")
		require.Equal(t, gone, below(c.summary(t, ""), "### Blocked") == "", report)
	}
}

// A check that failed beside one that passed is left behind with its turn, too, unless the agent says so.
func TestOtherFailuresAreLeftBehindWithTheirTurn(t *testing.T) {
	t.Parallel()
	failed := broke("npm test", "FAIL src/links.test.ts > resolves circular links\nAssertionError: expected 3 links")
	for report, gone := range map[string]bool{
		"The stops are sorted now, and their tests pass.":                             true,
		"The stops are sorted now. The test of circular links fails without it, too.": false,
	} {
		var c conversation
		c.user("Sort the stops, please.")
		c.does(failed, ran("npm test -- src/stops.test.ts", "Tests  12 passed (12)"))
		require.NotEmpty(t, below(c.summary(t, ""), "### Blocked"))
		c.says(report)
		c.user("Thanks. Now sort the lines.")
		require.Equal(t, gone, below(c.summary(t, ""), "### Blocked") == "", report)
	}
	var c conversation
	c.user("Sort the stops, please.")
	c.does(failed)
	c.says("The stops are sorted now.")
	c.user("Thanks. Now sort the lines.")
	require.NotEmpty(t, below(c.summary(t, ""), "### Blocked"), "nothing passed")
}

// An agent without tools runs the command in the fence of its message, and gets the output as a message of the user.
func TestASuccessEndsWhatAnAgentWithoutToolsSaw(t *testing.T) {
	t.Parallel()
	const bad, good = "Traceback (most recent call last):\nValueError: stop 7 has no name\nbash-$", "40 stops\nbash-$"
	for name, run := range map[string]struct {
		command, output string
		gone            bool
	}{
		"the same command":  {"python stops.py", good, true},
		"another command":   {"python lines.py", good, false},
		"only a look at it": {"cat stops.py", good, false},
	} {
		var c conversation
		c.user("Mend the import of the stops, please.")
		c.says("I run it.\n\n```\npython stops.py\n```")
		c.user(bad)
		c.says("I look at it.\n\n```\ncat stops.py\n```")
		c.user("import gtfs\nbash-$")
		require.Contains(t, below(c.summary(t, ""), "### Blocked"), "stop 7 has no name", name)
		c.says("Once more.\n\n```\n" + run.command + "\n```")
		kept := c.user(run.output)
		text := summarize(t, &summarizers.Request{Messages: c.log[:kept], Kept: c.log[kept:], MaxTokens: 2000})
		require.Equal(t, run.gone, !strings.Contains(below(text, "### Blocked"), "[#2]"), name)
	}
}

// A test that passes in another folder is not the one that failed.
func TestATestOfTheSameNameElsewhereIsAnotherOne(t *testing.T) {
	t.Parallel()
	failed := broke("go test ./import", "--- FAIL: TestStops (0.01s)\n    gtfs_test.go:30: got 3, want 4\nFAIL\nFAIL\texample.test/import\t0.01s")
	passed := "--- PASS: TestStops (0.01s)\nPASS\nok  \texample.test/import\t0.01s"
	require.NotEmpty(t, blocked(t, failed, ran("go test -v ./export", passed)))
	require.NotEmpty(t, blocked(t, failed, ran("go test -run TestStops ./export", passed)))
	require.Empty(t, blocked(t, failed, ran("go test -v -run TestStops ./import", passed)))
	require.Empty(t, blocked(t, failed, ran("go test -v -run TestStops ./...", passed)))
}

// The values that a check compares are a part of its error, however it writes them.
func TestComparedValuesAreEssential(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("=== RUN   TestLines\n--- PASS: TestLines (0.00s)\n", 12)
	for output, want := range map[string]string{
		"--- FAIL: TestStops (0.00s)\n    gtfs_test.go:57: \n        \tError Trace:\t/srv/import/gtfs_test.go:57\n        \tError:      \tNot equal: \n" +
			"        \t            \texpected: 500\n        \t            \tactual  : 499\n        \tTest:       \tTestStops\nFAIL\n": "FAIL TestStops ⏎ Error: Not equal: ⏎ expected: 500, actual : 499",
		"FAIL src/stops.test.ts\n  ● Stops › counts rows\n\n    expect(received).toBe(expected)\n\n    Expected: 500\n    Received: 499\n\nTests:       1 failed, 1 total\n": "FAIL Stops › counts rows ⏎ FAIL src/stops.test.ts ⏎ Expected: 500, Received: 499",
		"test stops::rows ... FAILED\nthread 'stops::rows' panicked at src/stops.rs:12:9:\nassertion `left == right` failed\n  left: 499\n right: 500\n" +
			"test result: FAILED. 0 passed; 1 failed\nerror: test failed, to rerun pass `--lib`\n": "FAIL stops::rows ⏎ thread 'stops::rows' panicked at src/stops.rs:12:9: ⏎ left: 499, right: 500",
		"No answer of the depot: remote not found\nFAIL\nFAIL\texample.test/import\t3.2s\nFAIL\n":                                                                                            "No answer of the depot: remote not found ⏎ FAIL example.test/import",
		"import/gtfs.ts:3:1 lint\n\n  × The word `stop` is no name.\n\n  Some errors were not fixed.\n":                                                                                      "Some errors were not fixed.",
		"--- FAIL: TestStops (0.00s)\nFAIL\nFAIL\texample.test/import\t3.2s\nFAIL\n":                                                                                                         "FAIL TestStops",
		"Traceback (most recent call last):\n  File \"stops.py\", line 3, in <module>\n    raise exception\nValueError: stop 7 has no name\n":                                                "ValueError: stop 7 has no name",
		"FAILED tests/stops.py::test_rows - E\nE   TypeError: stop 7 has no name\n!!!!!!!!!! stopping after 1 failures !!!!!!!!!!\n========== 1 failed, 54 deselected in 0.05s ==========\n": "FAIL tests/stops.py::test_rows ⏎ E TypeError: stop 7 has no name",
		" FAIL  src/stops.test.ts > Stops > counts rows\nAssertionError: no rows at all\n":                                                                                                   "FAIL src/stops.test.ts > Stops > counts rows ⏎ AssertionError: no rows at all",
	} {
		require.Equal(t, "- `make test` failed: «"+want+"» [#1, #2]", blocked(t, broke("make test", many+output)))
	}
}
