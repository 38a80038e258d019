package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers/extractive"
)

// own are words of a user around something pasted.
const own = "The pager still reads each row twice, although the limit is set before it counts them. Please have a look at it and mend it. " +
	"I tried another limit and an older release, and both of them show the same rows again, so it cannot be the limit alone."

// What is pasted gives way to the user's own words, wherever it stands and however it looks.
func TestOwnWordsComeBeforePastes(t *testing.T) {
	t.Parallel()
	lines := func(format string) string {
		var b strings.Builder
		for i := range 30 {
			fmt.Fprintf(&b, format+"\n", i)
		}
		return b.String()
	}
	for name, paste := range map[string]string{
		"a fence":       "```go\nvar pages int\n" + lines("Pages are counted by the loop number %d of the export.") + "```\n",
		"a quotation":   lines("> The pager counts the rows of page %d before it reads them."),
		"a diff":        "diff --git a/pager.go b/pager.go\n@@ -1,30 +1,30 @@\n" + lines("+\trows[%[1]d] = read(cursor, %[1]d)"),
		"a log":         lines("2031-04-05T10:20:%02d pager: the rows of the page were read again"),
		"code":          lines("total += count(rows[%d]);"),
		"a stack trace": "Traceback (most recent call last):\n" + lines("File \"/srv/pager.py\", line %d, in read"),
	} {
		first, rest, _ := strings.Cut(own, " I tried")
		for where, text := range map[string]string{
			"before":  paste + "\n" + own,
			"after":   own + "\n\n" + paste,
			"between": first + "\n\n" + paste + "\nI tried" + rest,
		} {
			t.Run(name+" "+where, func(t *testing.T) {
				t.Parallel()
				for limit := len(own) + 20; limit < len(own)+400; limit += 20 {
					short := extractive.Condense(text, limit)
					for _, sentence := range []string{first, "I tried" + rest} {
						require.Contains(t, short, sentence, limit)
					}
					require.Contains(t, short, "…")
				}
				short := extractive.Condense(text, len(own)+200)
				opening, _, _ := strings.Cut(strings.TrimPrefix(paste, "```go\n"), "\n")
				require.Contains(t, short, strings.Join(strings.Fields(opening)[:2], " "), "the paste keeps its first words")
			})
		}
	}
}

// Of a stack trace, the error stays with the first words.
func TestThePastedErrorStays(t *testing.T) {
	t.Parallel()
	text := own + "\n```\nTraceback (most recent call last):\n" + strings.Repeat("File \"/srv/pager.py\", line 7, in read\n", 20) + "KeyError: 'cursor'\n```"
	require.Contains(t, extractive.Condense(text, len(own)+120), "KeyError: 'cursor'")
}

// What a form asks about the surroundings comes last, and a list keeps the heading or the sentence above it.
func TestFormsKeepWhatIsWrong(t *testing.T) {
	t.Parallel()
	text := "Rows are read twice\n\n## Environment\n" + strings.Repeat("The old server in the cellar runs release nine.\n", 6) +
		"\n## Expected behaviour\nEach row is read once by the pager.\n\n## Observed behaviour\nRows of full pages are read twice:\n- the last one\n- the one before it\n"
	short := extractive.Condense(text, 260)
	require.Contains(t, short, "## Expected behaviour ⏎ Each row is read once by the pager. ⏎ ## Observed behaviour ⏎ Rows of full pages are read twice: ⏎ - the last one ⏎ - the one before it")
	require.NotContains(t, short, "cellar")
	require.NotContains(t, short, "## Environment", "a heading alone says nothing")
}
