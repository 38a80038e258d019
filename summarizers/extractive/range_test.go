package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// listed is what an agent does about one item of a list of three, after another was done.
func listed() *conversation {
	c := &conversation{}
	c.tool("todo_write", `{"todos":[{"content":"Find the slow query","status":"completed"},{"content":"Add the missing index","status":"in_progress"},{"content":"Announce it to the team","status":"pending"}]}`, "ok", false)
	c.tool("read", `{"path":"db/schema.sql"}`, "create table orders (id bigint);\n"+strings.Repeat("create index on orders (id);\n", 40), false)
	c.tool("edit", `{"path":"db/schema.sql","old":"a","new":"create index orders_by_customer on orders (customer_id);"}`, "The file db/schema.sql has been updated.", false)
	c.tool("bash", `{"command":"make check"}`, "FAIL: orders_test.go:88 index orders_by_customer is not used", false)
	c.tool("bash", `{"command":"make check"}`, "ok, 212 tests", false)
	c.says("I decided to keep the old index, because the report of the nightly export needs it.")
	return c
}

func fold(t *testing.T, messages []*compactordv1.LoggedMessage, budget uint32) string {
	t.Helper()
	return summarize(t, &summarizers.Request{Kind: summarizers.Range, Messages: messages, MaxTokens: budget})
}

// The text of a range says what the work was about and how it ended. What was to be done next, and what was done before
// it, is in newer lists.
func TestRangeSaysHowItEnded(t *testing.T) {
	t.Parallel()
	text := fold(t, listed().log, 600)
	require.True(t, strings.HasPrefix(text, "## Sub-task\n- Add the missing index [#0]\n\n## Outcome\n"), text)
	require.Contains(t, text, "File: `db/schema.sql` modified")
	require.Contains(t, text, "make check")
	require.Contains(t, text, "keep the old index")
	for _, gone := range []string{"Announce", "Find the slow query", "Last step", "In progress", "names:", "has been updated", "(none)"} {
		require.NotContains(t, text, gone)
	}
	require.Equal(t, text, fold(t, listed().log, 600))
}

// What the user asked for is what a range is about, whatever the agent wrote to its list.
func TestRangeOfWholeTurnsIsAboutTheRequest(t *testing.T) {
	t.Parallel()
	c := &conversation{}
	c.user("Make the list of orders faster, and do not touch the export.")
	c.log = append(c.log, shifted(listed().log, len(c.log))...)
	text := fold(t, c.log, 600)
	require.True(t, strings.HasPrefix(text, "## Sub-task\nMake the list of orders faster [#0]\n"), text)
	require.Contains(t, text, "do not touch the export")
	require.NotContains(t, text, "Add the missing index")
}

func shifted(log []*compactordv1.LoggedMessage, by int) []*compactordv1.LoggedMessage {
	for _, l := range log {
		l.Index += uint32(by)
	}
	return log
}

// Quotes have only a small part of a large range, and none is of a file, which can be read again.
func TestRangeQuotesFew(t *testing.T) {
	t.Parallel()
	c := listed()
	for i := range 20 {
		c.tool("read", fmt.Sprintf(`{"path":"src/file%d.go"}`, i), fmt.Sprintf("func readOrders%d(limit%d int) error { return errOrders%d }", i, i, i), false)
		c.tool("fetch", `{"url":"https://probe.example"}`, strings.Repeat(fmt.Sprintf("host-%d.example answered with X-Zone-%d in 48%d17 ms\n", i, i, i), 2), false)
	}
	text := fold(t, c.log, 2000)
	require.NotContains(t, text, "errOrders")
	_, findings, _ := strings.Cut(text, "## Findings\n")
	require.Contains(t, findings, "X-Zone")
	require.Less(t, chars4(findings), uint32(300))
}
