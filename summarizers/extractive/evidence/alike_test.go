package evidence_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers/extractive/evidence"
)

// quotedLines counts the picks that are lines with this text in them.
func quotedLines(picks []evidence.Pick, text string) int {
	n := 0
	for _, p := range picks {
		if !p.Alone && strings.Contains(p.Text, text) {
			n++
		}
	}
	return n
}

// named says whether a pick shows this text.
func named(picks []evidence.Pick, text string) bool {
	for _, p := range picks {
		if strings.Contains(p.Text, text) {
			return true
		}
	}
	return false
}

func TestPassedTestsAreNotQuoted(t *testing.T) {
	t.Parallel()
	c := evidence.New(9)
	c.Add(piece(1, evidence.Result, strings.Join([]string{
		"--- PASS: TestCrateWeight/lid_open (0.00s)", "    --- PASS: TestCrateWeight/lid_shut (0.00s)", "--- FAIL: TestCrateWeight/lid_gone (0.00s)",
		"tests/test_crate.py::test_lid_glued PASSED [ 40%]", "tests/test_crate.py::test_lid_bent FAILED [ 60%]", "test crate::lid_nailed ... ok",
		"the parcelDepot got its tests PASSED on to night_shift",
	}, "\n")))
	picks := evidence.Arrange(c.Rank("", "", 4000))
	for _, passed := range []string{"lid_open", "lid_shut", "lid_glued", "lid_nailed"} {
		require.False(t, named(picks, passed), passed)
	}
	for _, shown := range []string{"TestCrateWeight/lid_gone", "test_lid_bent FAILED", "parcelDepot got its tests"} {
		require.True(t, named(picks, shown), shown)
	}
}

func TestPassedTestsOfAnEarlierSummaryAreNotQuotedAgain(t *testing.T) {
	t.Parallel()
	c := evidence.New(9)
	c.Add(evidence.Piece{Message: 1, Voice: evidence.Quoted, Text: "--- PASS: TestCrateWeight/lid_open (0.00s)", ByTool: true})
	require.Empty(t, c.Rank("", "", 4000))
}

// Of more than three lines that return an error and differ in one name, one is quoted, however the name is spelled in each. Of
// three, all are, and so are other lines.
func TestReturnedErrorsThatDifferInOneNameAreQuotedOnce(t *testing.T) {
	t.Parallel()
	for packages, quoted := range map[int]int{3: 3, 4: 1, 9: 1} {
		c := evidence.New(30)
		for i, name := range strings.Fields("crate parcel depot truck driver route label stamp scale")[:packages] {
			title := strings.ToUpper(name[:1]) + name[1:]
			c.Add(piece(uint32(i), evidence.Result, fmt.Sprintf("return nil, &%sError{\"%s: read shelf_row: %%w\", err}\nfunc draw(x *%s) (%sPicture, error) {", title, name, title, name)))
		}
		picks := evidence.Arrange(c.Rank("", "", 4000))
		require.Equal(t, quoted, quotedLines(picks, "read shelf_row"), packages)
		require.Equal(t, packages, quotedLines(picks, "func draw"))
	}
}

// A tool reports each of its works in the same long words: after a few, the names are enough.
func TestReportsOfAToolThatAreAlikeAreQuotedOnce(t *testing.T) {
	t.Parallel()
	names := strings.Fields("crate parcel depot truck driver route")
	for _, report := range []string{
		"The list %s_rows.csv has been saved successfully. (the depot has it by now, so nobody needs to look again)",
		"job %s_rows.csv (only for the worker itself, keep it out of what you tell anybody else)",
	} {
		for reports, quoted := range map[int]int{3: 3, 4: 1, 6: 1} {
			c := evidence.New(30)
			for i, name := range names[:reports] {
				c.Add(evidence.Piece{
					Message: uint32(i), Voice: evidence.Result, ByTool: true, Text: fmt.Sprintf(report+"\nthe lid of %s_store is open", name, name),
				})
			}
			picks := evidence.Arrange(c.Rank("", "", 4000))
			require.Equal(t, quoted, quotedLines(picks, "_rows.csv"), report)
			require.Equal(t, reports, quotedLines(picks, "the lid of"), "a short line costs little")
			for _, name := range names[:reports] {
				require.True(t, named(picks, name+"_rows.csv"), name)
			}
		}
	}
}

// What people and the agent say is no boilerplate, and each failed test counts.
func TestStatementsAndFailuresThatAreAlikeAreAllQuoted(t *testing.T) {
	t.Parallel()
	c := evidence.New(9)
	var failed []string
	for i, name := range strings.Fields("crate parcel depot truck driver") {
		c.Add(piece(uint32(i), evidence.Agent, "raise the shelf_row of the "+name+" by two in "+name+"_store"))
		failed = append(failed, fmt.Sprintf("--- FAIL: TestAllShelves/the_%s_fits_in_%d (0.00s)", name, i))
	}
	c.Add(evidence.Piece{Message: 7, Voice: evidence.Result, Text: strings.Join(failed, "\n"), ByTool: true})
	picks := evidence.Arrange(c.Rank("", "", 4000))
	require.Equal(t, 5, quotedLines(picks, "shelf_row"))
	require.Equal(t, 5, quotedLines(picks, "--- FAIL"))
}

// Of the rows of one table or the entries of one log, three are quoted, and the names in others alone.
func TestThreeRowsOfATableAreQuoted(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]string{
		"cells":   "crt_%d7a | %d | in %s, as it was | 2031-04-0%d",
		"columns": "crt_%d7a %d NOR-%s 2031-04-0%dT08:15:00Z",
		"entries": "2031-04-04 depotd[%d]: level=INFO crate=crt_%d7a place=%s shelf=%d",
	} {
		c := evidence.New(9)
		for message := range uint32(2) {
			var rows []string
			for i, place := range strings.Fields("OPEN SHUT GONE LOST SOLD KEPT") {
				if name == "cells" {
					place = strings.ToLower(place)
				}
				rows = append(rows, fmt.Sprintf(row, 10*int(message)+i, 10*int(message)+i, place, i+1))
			}
			c.Add(evidence.Piece{Message: message, Voice: evidence.Result, Text: strings.Join(rows, "\n"), ByTool: true})
		}
		picks := evidence.Arrange(c.Rank("", "", 4000))
		require.Equal(t, 6, quotedLines(picks, "crt_"), name)
		for i := range 6 {
			require.True(t, named(picks, fmt.Sprintf("crt_%d7a", i)), name)
		}
	}
}
