package evidence_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// plainLine begins with a name. It is cut to the length of the line that it is compared with.
const plainLine = "olderOne; so it was said here by one of them all"

// Of equal lines the newest is first. So each of these lines comes after a plain one of its voice and length.
func TestLinesThatSayLittleComeLater(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		voice evidence.Voice
		line  string
	}{
		{evidence.Arguments, "grep -rn newerOne . | sort"},
		{evidence.Arguments, "cd module && cat newerOne of it"},
		{evidence.Arguments, "sed -n 1,80p newerOne of it"},
		{evidence.Arguments, "git log --oneline newerOne here"},
		{evidence.Arguments, "find newerOne 2>/dev/null"},
		{evidence.Result, "newerOne"},
		{evidence.Result, "-rw-r--r-- 1 me me 12 newerOne it"},
		{evidence.Result, "newerOne.go of.go them.go rows.go"},
		{evidence.Result, "pager:12: a newerOne is here"},
		{evidence.Result, "pager.go-12- a newerOne is here"},
		{evidence.Result, "diff --git newerOne with that"},
		{evidence.Result, "@@ -1,2 +3,4 @@ in newerOne of"},
		{evidence.Result, "+++ b side of newerOne here"},
		{evidence.Result, "--- a/side of newerOne here"},
		{evidence.Result, "newerOne was saved successfully"},
		{evidence.Result, "The newerOne has been updated"},
		{evidence.Result, "--- PASS: newerOne of them"},
		{evidence.Result, "ok newerOne of the others"},
		{evidence.Result, "10:15:30 newerOne of others"},
		{evidence.Result, "[10:15:30] newerOne of others"},
		{evidence.Result, "2026-11-23T10:15:30 newerOne of others"},
		{evidence.Result, "[newerOne 179 175 987 412 905 336 711 121]"},
		{evidence.Quoted, "return Error(newerOne) of those"},
		{evidence.Quoted, "raise newerOne of all the others"},
		{evidence.Quoted, "throw newerOne of all the others"},
		{evidence.Quoted, "import newerOne of the others"},
		{evidence.Quoted, "from these import newerOne"},
		{evidence.Quoted, "use module::newerOne of it"},
		{evidence.Quoted, "const newerOne = require(it)"},
		{evidence.Quoted, "say newerOne) of the others"},
		{evidence.Quoted, "say ( newerOne of the others"},
		{evidence.Quoted, "the newerOne of \" the others"},
	} {
		earlier := plainLine[:max(len(c.line), len("olderOne;"))]
		want := firstOf("", piece(999, c.voice, earlier), piece(999, c.voice, c.line))
		require.Contains(t, want, "olderOne", c.line)
	}
}

// What looks like such a line, but is none, is worth as much as others.
func TestLinesThatLookLikeOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		voice evidence.Voice
		line  string
	}{
		{evidence.Arguments, "cat > newerOne of the others"},
		{evidence.Arguments, "sed -i newerOne of the others"},
		{evidence.Arguments, "git commit newerOne of them all"},
		{evidence.Arguments, "The newerOne has been updated"},
		{evidence.Arguments, "[newerOne 179 175 987 412 905 336 711 121]"},
		{evidence.Result, "newerOne took 179509 of 987204190533"},
		{evidence.Agent, "find newerOne of the others"},
		{evidence.Quoted, "return newerOne of the others"},
		{evidence.Quoted, "from newerOne of the others"},
		{evidence.Quoted, "func newerOne(of, the, other,"},
		{evidence.Result, "pager: a newerOne is here: 12"},
	} {
		earlier := plainLine[:len(c.line)]
		require.Contains(t, firstOf("", piece(999, c.voice, earlier), piece(999, c.voice, c.line)), "newerOne", c.line)
	}
}

func TestNamesThatAreHardlyEverUsedAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		voice         evidence.Voice
		better, worse string
	}{
		{evidence.Arguments, "in/pager.go", "/in/pagersA"},
		{evidence.Arguments, `"sort them all"`, `"sort .* them"`},
		{evidence.Arguments, `"sort-them all-day now"`, `"sort them all day now"`},
		{evidence.Arguments, "1234567", "1234"},
		{evidence.Arguments, "abcdef12", "abcdef12abcdef12abcdef12abcdef12abcdef12"},
	} {
		require.Equal(t, c.better, firstOf("", piece(999, c.voice, c.better+";"), piece(999, c.voice, c.worse+";")), c.worse)
	}
	var found []evidence.Piece
	for i := range uint32(5) {
		found = append(found, piece(995+i, evidence.Result, "in/pager.go;"))
	}
	require.Equal(t, "in/sorts.go", firstOf("", append(found, piece(994, evidence.Arguments, "in/sorts.go;"))...), "what only tools named")
	long := strings.Repeat("And so on. ", 200)
	require.Contains(t, firstOf("", piece(999, evidence.User, "say olderOne"), piece(999, evidence.User, "say newerOne\n"+long)), "olderOne",
		"what the user typed comes before what they pasted")
}

func TestFractionsAreNoNames(t *testing.T) {
	t.Parallel()
	c := evidence.New(9)
	c.Add(piece(1, evidence.Result, "It took 0.1234567 s of them"))
	require.Empty(t, c.Rank("", "", 1000))
}

// The numbers of lines in the output of a search are no names, other numbers before a colon are.
func TestLineNumbersAreNoNames(t *testing.T) {
	t.Parallel()
	c := evidence.New(2)
	c.Add(evidence.Piece{Message: 0, Voice: evidence.Result, Text: "1741:func pageOf()\n1742- limit 5120:\nrows.go:1743:return pageSize"})
	c.Add(evidence.Piece{Message: 1, Voice: evidence.Agent, Text: "6080: the port of it"})
	c.Add(evidence.Piece{Message: 1, Voice: evidence.User, ByTool: true, Text: "2871:    return page"})
	var names []string
	for _, p := range c.Rank("", "", 1000) {
		if p.Alone {
			names = append(names, p.Text)
		}
	}
	for _, number := range []string{"1741", "1742", "1743", "2871"} {
		require.NotContains(t, names, number)
	}
	require.Empty(t, c.Rank("5120 6080 rows.go pageOf pageSize", "", 1000), "only these were names")
}

// An entry of a long listing was quoted with all of its columns.
func TestListedFilesAreQuotedWithoutTheirColumns(t *testing.T) {
	t.Parallel()
	for entry, file := range map[string]string{
		"-rw-r--r--  1 pilot harbour  4711 May  3 09:40 plans/ferry_plan.md": "plans/ferry_plan.md",
		"drwxr-xr-x 2 pilot harbour 64 2026-05-03 09:40 quay charts.d":       "quay charts.d",
		"-rw-r--r-- 1 pilot":       "-rw-r--r-- 1 pilot",
		"- read ferry_plan.md":     "- read ferry_plan.md",
		"the ferry_plan of a quay": "the ferry_plan of a quay",
	} {
		require.Equal(t, file, evidence.Essence(entry))
	}
}
