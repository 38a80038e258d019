package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// writes writes a file with a tool.
func (c *conversation) writes(path, content string) {
	c.tool("write_file", fmt.Sprintf(`{"path":%q,"content":%q}`, path, content), "written", false)
}

// TestScratchScriptsShareALine: scripts that were written to be run once do not crowd out the files of the project.
func TestScratchScriptsShareALine(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("See to the pager, please.")
	for i := range 10 {
		name := fmt.Sprintf("try%d.py", i)
		c.writes(name, "import pager")
		c.runs("python "+name, "page 1", false)
	}
	c.writes("src/pager.py", "last = None")
	c.writes("setup.py", "import pager")
	c.runs("cat old.py", "last = 1", false)
	c.runs("python old.py", "page 1", false)
	c.writes("gone.py", "import pager")
	c.runs("python gone.py && rm gone.py", "page 1", false)
	c.writes("gone.txt", "page 1")
	c.runs("rm gone.txt", "", false)
	text := c.summary(t, "")
	files := below(text, "## Relevant Files")
	const scratch = "- Scratch scripts: `try9.py`, `try8.py`, `try7.py`, `try6.py`, `try5.py`, `try4.py`, `try3.py`, `try2.py`, …"
	require.Contains(t, files, scratch)
	require.Contains(t, files, "- `src/pager.py` modified")
	require.Contains(t, files, "- `setup.py` modified")
	require.Contains(t, files, "- `old.py` read")
	require.NotContains(t, files, "gone")
	require.Equal(t, 4, strings.Count(files, "\n")+1)

	var next conversation
	next.runs("ls", "pager.py", false)
	for i, m := range next.log {
		m.Index += uint32(len(c.log))
		next.log[i] = m
	}
	require.Contains(t, below(next.summary(t, text), "## Relevant Files"), strings.TrimSuffix(scratch, ", …"))
}

// A patch that the user asked for stood among scripts that nobody needs.
func TestAPatchIsAFileOfTheProject(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Write the change as a patch for the mailing list, in fix-tide.patch.")
	c.writes("fix-tide.patch", "--- a/tide.go")
	files := below(c.summary(t, ""), "## Relevant Files")
	require.NotContains(t, files, "Scratch")
	require.Contains(t, files, "- `fix-tide.patch`")
}

// TestACopyChangesOnlyOneFile: of a copy, only the new file is changed.
func TestACopyChangesOnlyOneFile(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"cp pager.py src/new.py": "- `pager.py` read [#1, #2]\n- `src/new.py` modified [#1, #2]",
		"cp pager.py src/":       "- `pager.py` read [#1, #2]\n- `src/pager.py` modified [#1, #2]",
		"mv pager.py src/new.py": "- `pager.py` modified [#1, #2]\n- `src/new.py` modified [#1, #2]",
	} {
		var c conversation
		c.user("See to the pager, please.")
		c.runs(command, "", false)
		require.ElementsMatch(t, strings.Split(want, "\n"), strings.Split(below(c.summary(t, ""), "## Relevant Files"), "\n"), command)
	}
}

// TestARestoredFileIsNotChanged: git gives a file the state that it has in the repository.
func TestARestoredFileIsNotChanged(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("See to the pager, please.")
	c.runs("cat src/pager.py", "last = None", false)
	c.writes("src/pager.py", "last = 0")
	require.Contains(t, below(c.summary(t, ""), "## Relevant Files"), "- `src/pager.py` modified")
	c.runs("git checkout -- src/pager.py", "", false)
	require.Contains(t, below(c.summary(t, ""), "## Relevant Files"), "- `src/pager.py` read [#6]")
}

// TestARollBackTakesBackWhatWasDone: what changed a file is no achievement once the file has an earlier state again.
func TestARollBackTakesBackWhatWasDone(t *testing.T) {
	t.Parallel()
	for then, gone := range map[string]bool{
		"cp src/pager.py.backup src/pager.py": true,
		"mv pager_old.py src/pager.py":        true,
		"git checkout -- src/pager.py":        true,
		"git restore src/pager.py":            true,
		"git checkout -- src/other.py":        false,
		"git checkout main":                   false,
		"cp src/pager.py pager.py.bak":        false,
		"cp other.py src/pager.py":            false,
	} {
		var c conversation
		c.user("See to the pager, please.")
		c.writes("fix.py", "open('src/pager.py', 'w').write('last = 0')")
		c.runs("python fix.py", "Fixed 3 places", false)
		c.says("I've updated `src/pager.py` so that the last page is 0.")
		c.runs("python -m compileall src", "Compiling 'src'", false)
		c.runs(then, "", false)
		done := below(c.summary(t, ""), "### Done")
		require.Equal(t, !gone, strings.Contains(done, "Fixed 3 places"), then)
		require.Equal(t, !gone, strings.Contains(done, "the last page is 0"), then)
		require.Contains(t, done, "compileall", then)
	}
}

// TestScriptsThatAreLeftOutStayCounted: a merge still says that there are more scripts than the line names.
func TestScriptsThatAreLeftOutStayCounted(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("See to the pager, please.")
	for i := range 10 {
		c.writes(fmt.Sprintf("/tmp/check_%d.py", i), "print(1)")
		c.runs(fmt.Sprintf("python /tmp/check_%d.py", i), "1", false)
	}
	text := c.summary(t, "")
	require.Contains(t, text, "`/tmp/check_2.py`, … [#")
	require.Contains(t, (&conversation{}).summary(t, text), "`/tmp/check_2.py`, … [#")
}
