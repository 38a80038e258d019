package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// longBuild is a command that a summary shortens.
func longBuild(last string) string {
	return "make all " + strings.Repeat("pages/draft.md ", 20) + last
}

// What stands in a code span stands so in the source: a shortened command has a span for each part that is left.
func TestShortenedCommandsAreInSpansOfTheirOwn(t *testing.T) {
	t.Parallel()
	text := done(t, [2]string{longBuild("pages/last.md"), "built 3 files"})
	require.Regexp(t, "^- Ran `make all [^`…]+` … `[^`…]*pages/last.md`: «built 3 files» ", text)
	for i, span := range strings.Split(text, "`") {
		if i%2 == 1 {
			require.Contains(t, longBuild("pages/last.md"), span)
		}
	}
}

// A later run of a shortened command replaces the line of an earlier summary about it.
func TestShortenedCommandsAreKnownAgain(t *testing.T) {
	t.Parallel()
	for _, last := range []string{"pages/last.md", `"` + strings.Repeat("the last pages, ", 9) + `"`} {
		var c conversation
		c.user("See to the pager, please.")
		c.runs(longBuild("pages/other.md"), "built 4 files", false)
		c.runs(longBuild(last), "built 3 files", false)
		first := c.summary(t, "")
		require.Contains(t, below(first, "### Done"), "built 3 files")

		c.runs(longBuild(last), "built 5 files", false)
		c.log = c.log[len(c.log)-2:]
		lines := below(c.summary(t, first), "### Done")
		require.NotContains(t, lines, "built 3 files")
		require.Contains(t, lines, "built 4 files")
		require.Contains(t, lines, "built 5 files")
	}
}

// An error of a shortened command, in an earlier summary, ends when the command works.
func TestErrorsOfShortenedCommandsEnd(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("See to the pager, please.")
	c.runs(longBuild("pages/last.md"), "make: *** [all] Error 2", true)
	first := c.summary(t, "")
	require.Regexp(t, "`make all .*` … `.*pages/last.md` failed: «make: ", below(first, "### Blocked"))

	c.runs(longBuild("pages/last.md"), "make: no rule for drafts", true)
	c.log = c.log[len(c.log)-2:]
	second := c.summary(t, first)
	require.NotContains(t, below(second, "### Blocked"), "Error 2")
	require.Contains(t, below(second, "### Blocked"), "no rule for drafts")

	c.runs(longBuild("pages/last.md"), "built 5 files", false)
	c.log = c.log[len(c.log)-2:]
	require.Empty(t, below(c.summary(t, first), "### Blocked"))
}

// A path in the arguments of a call was cut within a name of it.
func TestPathsInArgumentsAreWhole(t *testing.T) {
	t.Parallel()
	folder := "/srv/export/" + strings.Repeat("generated-pages/", 5) + "draft"
	for where, want := range map[string]string{
		folder:                    " within=" + folder + " ",
		strings.Repeat(folder, 5): " within=… ",
	} {
		var c conversation
		c.user("See to the pager, please.")
		c.tool("survey", fmt.Sprintf(`{"within":%q,"deep":true}`, where), "no such folder", true)
		require.Contains(t, c.summary(t, ""), "`survey`"+want+"deep=true failed: ")
	}
}

// A variable as the name of a file that is moved into a folder was listed as a file of the folder.
func TestMovedFilesHaveNames(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Move the pages, please.")
	c.runs(`for f in a b; do mv "old/$f" pages/drafts/; done; cp old/* pages/kept/; mv old/index pages/drafts/`, "", false)
	files := below(c.summary(t, ""), "## Relevant Files")
	require.NotContains(t, files, "$")
	require.NotContains(t, files, "*")
	require.Contains(t, files, "`pages/drafts/index` modified")
}
