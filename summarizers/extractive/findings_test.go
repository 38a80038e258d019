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
