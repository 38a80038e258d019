package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A finding that leans on the sentence before it comes with that, or not at all; it has no empty opener, and is no guess.
func TestFindingsStandAlone(t *testing.T) {
	t.Parallel()
	long := "The mailer reads " + strings.Repeat("one list after the other and ", 12) + "stops."
	for said, want := range map[string]string{
		"The lookup in `mailer.go` has no index. This means that `findList` reads 40,000 rows.": "- The lookup in `mailer.go` has no index. This means that `findList` reads 40,000 rows. [#1]",
		"Perfect! The cause is the missing index `by_name` in `schema.sql`.":                    "- The cause is the missing index `by_name` in `schema.sql`. [#1]",
		"Great, now I see that the problem is the lock in `mailer.go`.":                         "- The problem is the lock in `mailer.go`. [#1]",
		"Good, `findList` returns rows of `lists_v2` in the wrong order, because of `by_name`.": "- `findList` returns rows of `lists_v2` in the wrong order, because of `by_name`. [#1]",
		"This means that `findList` reads 40,000 rows.":                                         "",
		long + " This means that `findList` reads 40,000 rows.":                                 "",
		"Found it!": "",
		"Maybe the problem is the lock in `mailer.go`.": "",
	} {
		var c conversation
		c.user("Have a look at the mailer, it is slow.")
		c.says(said)
		c.runs("ls", "mailer.go", false)
		var found []string
		for line := range strings.Lines(below(c.summary(t, ""), "## Critical Context")) {
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, "- [#") && !strings.HasPrefix(line, "> ") {
				found = append(found, line)
			}
		}
		require.Equal(t, want, strings.Join(found, "\n"), said)
	}
}

// A cry and thanks are no findings.
func TestFindingsTellSomething(t *testing.T) {
	t.Parallel()
	for said, finding := range map[string]bool{
		"Root cause found": false,
		"Thank you for showing me the file `loader.py`.":            false,
		"The root cause is that `loader.py` reads each page twice.": true,
	} {
		var c conversation
		c.user("Find out why the loader is slow.")
		c.says("**" + said + "**\n\nShall I go on?")
		require.Equal(t, finding, contains(below(c.summary(t, ""), "## Critical Context"), "- "+said), said)
	}
}

// Lines that the agent copied with their numbers are code, and neither findings nor statements with labels.
func TestNumberedLinesAreNoFindings(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Why does the ferry leave late?")
	c.says("I look into the file of the timetable:\n\n31: ferry.leave(at.time(), flags)\n112: raise ferry.FerryLate('tide_table is empty')\n\nThe cause is that `tide_table` is empty at noon.")
	facts := c.facts(t)
	require.Contains(t, facts, "`tide_table` is empty at noon")
	require.NotContains(t, facts, "Note:")
	require.NotContains(t, facts, "31:")
	require.NotContains(t, facts, "112:")
}

// What the agent is about to do, or what would follow, stood under Done for a word such as "passes" in it.
func TestWhatTheAgentIsAboutToDoIsNotDone(t *testing.T) {
	t.Parallel()
	for sentence, done := range map[string]bool{
		"Now let me see whether `tide_clock` is fixed and each of its tests passed.": false,
		"I'm going to hand in the timetable that I created.":                         false,
		"If the buoy was painted, then the paint must have been there.":              false,
		"Now `tide_clock` is fixed, and each of its tests passed.":                   true,
		"If the buoy was missing, I have added it to `buoys.txt`.":                   true,
		"If the buoy was missing, I added it to `buoys.txt` and tested it.":          true,
		"If the tests pass, I have fixed `tide_clock` in `src/clock.go`.":            false,
		"If the user has an account, he has been added to `users.txt` by `sync`.":    false,
		"If the user had an account, he has been added to `users.txt` by `sync`.":    false,
		"Wenn die Tests laufen, habe ich `tide_clock` in `src/clock.go` repariert.":  false,
		"Si los tests pasan, he arreglado `tide_clock` en `src/clock.go`.":           false,
		"如果测试通过，我已修复 `src/clock.go` 里的 `tide_clock`。":                                false,
		"If the buoy is missing, I need to see that `tide_clock` is fixed.":          false,
		"Falls die Boje fehlte, habe ich sie in `buoys.txt` hinzugefügt.":            true,
		"Wenn die Boje gestrichen ist, dann wurde sie in `buoys.txt` hinzugefügt.":   false,
		"Si la boya faltaba, la he añadido a `buoys.txt`.":                           true,
		"I fixed `tide_clock`, and I'll hand in the timetable.":                      true,
	} {
		var c conversation
		c.user("Mend the clock of the ferry.")
		c.thinks(sentence, "12 lines", false)
		c.says("The clock is `tide_clock`.")
		require.Equal(t, done, below(c.summary(t, ""), "### Done") != "", sentence)
	}
}
