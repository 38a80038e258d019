package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatAnEditRemovedIsNoFact: statements and quotes about a name go once an edit removed it and nobody names it again.
func TestWhatAnEditRemovedIsNoFact(t *testing.T) {
	t.Parallel()
	const claim = "The bug is that `skipEmptyPages` drops the last row."
	edit := func(before, after string) func(*conversation) {
		return func(c *conversation) {
			c.tool("edit_file", fmt.Sprintf(`{"path":"pager.go","old_string":%q,"new_string":%q}`, before, after), "edited", false)
		}
	}
	for _, tt := range []struct {
		name  string
		then  func(*conversation)
		stays bool
	}{
		{"removed", edit("rows = skipEmptyPages(rows)", "rows = rows"), false},
		{"changed", edit("rows = skipEmptyPages(rows)", "rows = skipEmptyPages(list)"), true},
		{"named again", func(c *conversation) {
			edit("rows = skipEmptyPages(rows)", "rows = rows")(c)
			c.runs("make check", "skipEmptyPages is still in use", false)
		}, true},
		{"refused", func(c *conversation) {
			c.tool("edit_file", `{"path":"pager.go","old_string":"rows = skipEmptyPages(rows)","new_string":"rows"}`, "old_string not found", true)
		}, true},
	} {
		var c conversation
		c.user("Have a look at the pager, it is slow.")
		c.thinks(claim, "rows = skipEmptyPages(rows)", false)
		c.says("I go on.")
		tt.then(&c)
		require.Equal(t, tt.stays, strings.Contains(c.facts(t), claim), tt.name)
	}
}

// TestOptionsThatWereNotChosenAreStruck: once the user chose an option, the others say nothing about the work.
func TestOptionsThatWereNotChosenAreStruck(t *testing.T) {
	t.Parallel()
	const offer = "We can do this in three ways.\n\n**Option 1: In the store**\n- The root cause is in `store/pager.go`, which returns `lastPage`.\n\n" +
		"**Option 2: In the view**\n- The root cause is in `view/pager.go`, which returns `firstPage`.\n\n" +
		"**Option 3: In the cache**\n- The root cause is in `cache/pager.go`, which returns `thirdPage`.\n\nWhich do you prefer?"
	for said, both := range map[string]bool{
		"option 2":                        false,
		"Option 2 please":                 false,
		"let's go with option 2":          false,
		"start with option 2":             true,
		"option 1 and option 2":           true,
		"not option 1":                    true,
		"I will think about it, go ahead": true,
	} {
		var c conversation
		c.user("Have a look at the pager, it is slow.")
		c.says(offer)
		c.user(said)
		c.runs("make check", "fine", false)
		text := c.summary(t, "")
		context := below(text, "## Critical Context")
		require.Contains(t, context, "firstPage", said+text)
		require.Equal(t, both, strings.Contains(context, "lastPage"), said+context)
		require.Equal(t, both, strings.Contains(context, "thirdPage"), said+context)
	}
}
