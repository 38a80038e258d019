package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// facts returns what a summary states below the heading for it, without quotes.
func (c *conversation) facts(t *testing.T) string {
	t.Helper()
	var found []string
	for line := range strings.Lines(below(c.summary(t, ""), "## Critical Context")) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "- [#") && !strings.HasPrefix(line, "> ") {
			text, _, _ := strings.Cut(strings.TrimPrefix(line, "- "), " [#")
			found = append(found, text)
		}
	}
	return strings.Join(found, "\n")
}

// thinks adds a message with a text and a call, and the call's result.
func (c *conversation) thinks(text, output string, failed bool) {
	c.calls++
	id := fmt.Sprintf("c%d", c.calls)
	c.add(compactordv1.Role_ROLE_ASSISTANT, textPart(text), callPart(id, "bash", `{"command":"cat notes"}`))
	c.add(compactordv1.Role_ROLE_TOOL, resultPart(id, "bash", output, failed))
}

// TestAClaimThatIsTakenBackIsNone: who thinks aloud takes back what came before.
func TestAClaimThatIsTakenBackIsNone(t *testing.T) {
	t.Parallel()
	const pager = "The bug is in `pager.go`, where `lastPage` is nil."
	for said, want := range map[string]string{
		pager: pager,
		pager + " That's not it: it holds 7 rows.":                             "",
		pager + " Wait, it holds 7 rows.":                                      "",
		pager + " But it prints 7.":                                            "",
		pager + " Or is it the mailer?":                                        "",
		pager + " So that's not what it is":                                    "",
		pager + " Pero espera, hay 7.":                                         "",
		pager + " 不对，不是这样。":                                                    "",
		"If `lastPage` is nil in `pager.go`, the bug is there.":                "",
		"Found it! `lastPage` is 0 in `pager.go`.":                             "`lastPage` is 0 in `pager.go`.",
		"Found it! The `store` is never read.":                                 "The `store` is never read.",
		pager + " But this means that `firstPage` in `pager.go` holds 7 rows.": "",
		"Found it!":                        "",
		"- `pager.go`\n- `lastPage()`\n":   "",
		"- **File:** `store/pager.go`":     "",
		"So `store/pager.go` has 40 rows.": "`store/pager.go` has 40 rows.",
	} {
		var c conversation
		c.user("Have a look at the pager, it is slow.")
		c.thinks(said, "pager.go", false)
		require.Equal(t, want, c.facts(t), said)
	}
}

// TestALaterMessageTakesAClaimBack: the next message or an error shows that a claim was wrong.
func TestALaterMessageTakesAClaimBack(t *testing.T) {
	t.Parallel()
	const claim = "The bug is in `pager.go`, where `lastPage` is nil."
	for _, tt := range []struct {
		output string
		failed bool
		then   string
		stays  bool
	}{
		{"7", false, "I read the rest.", true},
		{"7", false, "Wait, it holds 7 rows.", false},
		{"7", false, "But it holds 7 rows.", false},
		{"pager.go:3: undefined: lastPage", true, "I read the rest.", false},
		{"pager.go:3: undefined: firstPage", true, "I read the rest.", true},
		{"pager.go:3: lastPage is nil", true, "I read the rest.", true},
	} {
		var c conversation
		c.user("Have a look at the pager, it is slow.")
		c.thinks(claim, tt.output, tt.failed)
		c.thinks(tt.then, "rows", false)
		require.Equal(t, tt.stays, strings.Contains(c.facts(t), claim), fmt.Sprint(tt))
	}
}

// TestTheNewestClaimStays: of claims in other words about the same, the last one stays, unless it is in doubt. What a
// message concludes from a result is a claim.
func TestTheNewestClaimStays(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Have a look at the pager, it is slow.")
	c.thinks("The bug is that `lastPage` in `pager.go` returns 0 for an empty list.", "0", false)
	c.thinks("The bug is that an empty list makes `lastPage` in `pager.go` return 0 at once.", "0", false)
	c.thinks("The bug is that `lastPage` in `pager.go` returns 0 for each empty list.\n\nWait, let me see.", "0", false)
	c.thinks("So `store.db` has 40 rows.", "0", false)
	require.Equal(t, "The bug is that an empty list makes `lastPage` in `pager.go` return 0 at once.\n`store.db` has 40 rows.", c.facts(t))
}

// TestANewerAnswerComesFirst: of long answers about the same, the newer one says what holds.
func TestANewerAnswerComesFirst(t *testing.T) {
	t.Parallel()
	answer := func(line string) string {
		var b strings.Builder
		for i := range 60 {
			fmt.Fprintf(&b, line, i)
		}
		return b.String()
	}
	var c conversation
	c.user("What does the pager return?")
	c.says(answer("- The root cause is that `firstPage` of `pager.go` brings all rows of the table `pages_%d` whenever somebody asks `lastPage` for it.\n"))
	c.user("Are you sure?")
	c.says(answer("- The pager returns the newest row of the table `pages_%d`, since it forgets all of those that were read for other people before.\n"))
	facts := c.facts(t)
	newer, older := strings.Count(facts, "the newest row"), strings.Count(facts, "all rows")
	require.Greater(t, newer, older)
}

// TestAnotherAgentsFindingsAreFacts: the result of a call that instructs another agent says what that found out.
func TestAnotherAgentsFindingsAreFacts(t *testing.T) {
	t.Parallel()
	const report = "I looked at all files.\n\nThe bug is that `lastPage` in `pager.go` returns 0 for an empty list. Next step: port the mailer `mail.go` to Go. Shall I?"
	for arguments, found := range map[string]bool{
		`{"prompt":"Find out why the pager is slow, and say where.","agent":"explorer"}`: true,
		`{"topic":"Find out why the pager is slow, and say where.","agent":"explorer"}`:  false,
		`{"prompt":"hello","agent":"explorer"}`:                                          false,
	} {
		var c conversation
		c.user("Have a look at the pager, it is slow.")
		c.tool("dispatch", arguments, report, false)
		c.says("I go on.")
		text := c.summary(t, "")
		require.Equal(t, found, strings.Contains(c.facts(t), "The bug is that `lastPage` in `pager.go` returns 0 for an empty list."), arguments)
		require.NotContains(t, below(text, "## Next Steps"), "mail.go")
	}
}

// TestTheLastStepIsNotToldTwice: a line that says how a call ended stands for the last step.
func TestTheLastStepIsNotToldTwice(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Have a look at the pager, it is slow.")
	c.runs("make", "built 3 files", false)
	text := c.summary(t, "")
	require.Contains(t, below(text, "### Done"), "Ran `make`: «built 3 files»")
	require.NotContains(t, text, "Last step")
	c.thinks("I read on.", "rows", false)
	require.Contains(t, c.summary(t, ""), "- Last step: `cat notes`")
}

// An older theory of what is wrong with a thing took the room of the newer one.
func TestTheNewestTheoryCounts(t *testing.T) {
	t.Parallel()
	for _, theories := range [][2]string{
		{"The problem is that `tide_height` reads the table of the wrong harbour at noon.", "The root cause is that `tide_height` counts the first minute of an hour twice, when the ferry leaves."},
		{"The issue is that `tide_height` rounds all of the metres down.", "The real bug is that `tide_height` forgets the summer time of the harbour where the ferry leaves at noon."},
		{"Das Problem ist, dass `tide_height` die Tabelle des falschen Hafens liest.", "Die Ursache liegt darin, dass `tide_height` die Sommerzeit des Hafens vergisst, aus dem die Fähre kommt."},
		{"El problema es que `tide_height` lee la tabla de otro puerto al mediodía.", "La causa está en que `tide_height` olvida el horario de verano del puerto del que sale el barco."},
		{"Проблема в том, что `tide_height` читает таблицу другого порта.", "Причина в том, что `tide_height` забывает летнее время порта, из которого уходит паром."},
		{"问题是 `tide_height` 读取了另一个港口的表格。", "根本原因是 `tide_height` 忘记了渡轮离开的那个港口的夏令时，所以时间总是错的。"},
	} {
		var c conversation
		c.user("Find out why the ferry is late.")
		// What names more would come first otherwise.
		theories[0] = strings.Replace(theories[0], "`tide_height`", "`tide_height` (`tides/table.go`, PORT-4711)", 1)
		c.thinks(theories[0], "12 lines", false)
		c.thinks("The problem is that `buoy_north` has no light on the map of `sea_level_12`.", "12 lines", false)
		c.thinks(theories[1], "12 lines", false)
		facts := c.facts(t)
		require.Contains(t, facts, theories[0])
		require.Contains(t, facts, theories[1])
		require.Contains(t, facts, "buoy_north")
		for budget := uint32(80); budget < 600; budget += 4 {
			text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: budget})
			require.True(t, !contains(text, "- "+theories[0]) || contains(text, theories[1]), "%d: %s", budget, text)
		}
	}
}

// A sentence that is no theory, though it begins like one, took the root cause away.
func TestARootCauseStays(t *testing.T) {
	t.Parallel()
	for _, said := range [][2]string{
		{"The root cause is that `parse_tide` returns centimetres where metres are expected.", "The problem is not `parse_tide` itself, which I checked with the table of the northern harbour."},
		{"The problem is that `parse_tide` reads the table of the wrong harbour at noon.", "The error is raised in line 12 of `parse_tide` when the file is empty."},
		{"The bug is that `parse_tide` drops the sign of each low tide.", "The error is also visible where `parse_tide` gets an empty file of the harbour."},
		{"The bug is that `parse_tide` drops the sign of each low tide.", "The problem is that `parse_tide` forgets the summer time of the harbour."},
		{"The problem is that `tide_height` asks `sea_level` for the wrong harbour at noon.", "The problem is that `tide_height` returns nothing for it."},
		{"The problem is that `tide_height` reads the table of the wrong harbour at noon.", "The function `tide_height` is a problem, since it reads `sea_level` twice."},
	} {
		var c conversation
		c.user("Find out why the ferry is late.")
		c.thinks(said[0], "12 lines", false)
		c.thinks(said[1], "12 lines", false)
		require.Contains(t, c.facts(t), said[0])
	}
}
