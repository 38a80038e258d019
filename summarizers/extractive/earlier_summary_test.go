package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// numberedSummary has numbered sections, after an analysis that says the same, as some tools write summaries.
const numberedSummary = `This session goes on from an earlier conversation. A summary follows:

Analysis:
1. The user wanted paging first. I thought about all of it for long.

Summary:
1. Primary Request and Intent:
   - Add paging to the export of the shop
   - Show 500 rows on each page

2. Key Technical Concepts:
   - The pager runs in the depot, on port 7017.

3. Files and Code Sections:
   - ` + "`src/pager.go`" + `
     - It has the function ` + "`clampPage`" + ` now.
   - ` + "`src/export.go`" + `

4. Errors and fixes:
   - **ERR_PAGE_7** came from an empty page. Clamping it first was the cure.

5. All user messages:
   - "add paging, please"

6. Pending Tasks:
   - Write a test for the last page.

7. Current Work:
   I was about to run the tests of the depot.

8. Optional Next Step:
   Translate the label of the export button.

The whole transcript is in the file /tmp/transcript.txt.
Go on without asking the user anything.
`

// headedSummary has headings in Markdown.
const headedSummary = `Another model began this work and wrote a summary of it:

## Goal
Add paging to the export of the shop
Show 500 rows on each page

## Progress
- [x] The pager clamps the page with ` + "`clampPage`" + `.

## Current State
I was about to run the tests of the depot.

## Key facts
- The pager runs in the depot, on port 7017.

## Files
- ` + "`src/pager.go`" + ` modified
- ` + "`src/export.go`" + ` read

## Next Steps
1. Write a test for the last page.
2. Translate the label of the export button.
`

// numberedInADigest and headedInADigest are these summaries as a digest carries them over. Their requests are the goal.
const (
	numberedInADigest = `- From an earlier summary: [#1]
    2. Key Technical Concepts:
       - The pager runs in the depot, on port 7017.
    3. Files and Code Sections:
       - ` + "`src/pager.go`" + `
         - It has the function ` + "`clampPage`" + ` now.
       - ` + "`src/export.go`" + `
    4. Errors and fixes:
       - **ERR_PAGE_7** came from an empty page. Clamping it first was the cure.
    5. All user messages:
       - "add paging, please"
    6. Pending Tasks:
       - Write a test for the last page.
    7. Current Work:
       I was about to run the tests of the depot.
    8. Optional Next Step:
       Translate the label of the export button.
`
	headedInADigest = `- From an earlier summary: [#1]
    Progress:
    - [x] The pager clamps the page with ` + "`clampPage`" + `.
    Current State:
    I was about to run the tests of the depot.
    Key facts:
    - The pager runs in the depot, on port 7017.
    Files:
    - ` + "`src/pager.go`" + ` modified
    - ` + "`src/export.go`" + ` read
    Next Steps:
    1. Write a test for the last page.
    2. Translate the label of the export button.
`
)

// taggedSummary has its sections in tags, indented.
const taggedSummary = `<state_snapshot>
    <overall_goal>
        <!-- the user's aim -->
        Add paging to the export of the shop
        Show 500 rows on each page
    </overall_goal>

    <key_knowledge>
        - The pager runs in the depot, on port 7017.
          - It knows ` + "`ERR_PAGE_7`" + `.
    </key_knowledge>

    <file_system_state>
        - CWD: ` + "`/srv/shop`" + `
        - MODIFIED: ` + "`src/pager.go`" + ` - It has the function ` + "`clampPage`" + ` now.
    </file_system_state>

    <recent_actions>
        - Ran the tests of the depot: an empty page came back.
    </recent_actions>

    <current_plan>
        1. [DONE] Clamp the page.
        2. [IN PROGRESS] Write a test for the last page.
        3. [TODO] Translate the label of the export button.
    </current_plan>
</state_snapshot>`

const taggedInADigest = `- From an earlier summary: [#1]
    key_knowledge:
    - The pager runs in the depot, on port 7017.
      - It knows ` + "`ERR_PAGE_7`" + `.
    file_system_state:
    - CWD: ` + "`/srv/shop`" + `
    - MODIFIED: ` + "`src/pager.go`" + ` - It has the function ` + "`clampPage`" + ` now.
    recent_actions:
    - Ran the tests of the depot: an empty page came back.
    current_plan:
    1. [DONE] Clamp the page.
    2. [IN PROGRESS] Write a test for the last page.
    3. [TODO] Translate the label of the export button.
`

// TestAnEarlierSummaryKeepsItsStructure: the summary of another tool in the log is neither a request nor scattered, and
// later digests carry it over as it is.
func TestAnEarlierSummaryKeepsItsStructure(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ earlier, carried string }{
		"numbered":      {numberedSummary, numberedInADigest},
		"with headings": {headedSummary, headedInADigest},
		"in tags":       {taggedSummary, taggedInADigest},
	} {
		for _, role := range []compactordv1.Role{compactordv1.Role_ROLE_USER, compactordv1.Role_ROLE_SYSTEM} {
			t.Run(name+" "+role.String(), func(t *testing.T) {
				t.Parallel()
				var c conversation
				c.says("Hello.")
				c.add(role, textPart(test.earlier))
				c.says("I run the tests of the depot.")
				c.user("Good. How many rows has the last page?")
				c.says("It has 17 rows.")
				text := c.summary(t, "")
				for range 3 {
					goal := below(text, "## Goal")
					require.True(t, strings.HasPrefix(goal, "Add paging to the export of the shop\n| Show 500 rows on each page [#1]"), goal)
					require.Contains(t, goal, "- Last request: Good. How many rows has the last page? [#3]")
					require.Contains(t, below(text, "## Critical Context")+"\n", test.carried)
					for _, once := range []string{"7017", "clampPage", "last page.", "export button"} {
						require.Equal(t, 1, strings.Count(text, once), "%s in\n%s", once, text)
					}
					require.Equal(t, text, summarizers.Stored(&summarizers.Request{MaxTokens: 2000, Replaces: 4000, Count: chars4}, text), "no line is a heading")
					for _, left := range []string{"I thought about all of it", "without asking", "Primary Request", "wrote a summary"} {
						require.NotContains(t, text, left)
					}
					text = summarize(t, &summarizers.Request{PreviousSummary: text, MaxTokens: 2000})
				}
			})
		}
	}
}

// TestAPreviousSummaryOfAnotherTool has no citations, and its constraints join those of the digest.
func TestAPreviousSummaryOfAnotherTool(t *testing.T) {
	t.Parallel()
	earlier := strings.Replace(headedSummary, "## Files\n", "## Constraints\n- Never touch the billing tables.\n\n## Files\n", 1)
	var c conversation
	c.user("Good. How many rows has the last page?")
	c.says("It has 17 rows.")
	text := c.summary(t, earlier)
	for range 2 {
		require.Equal(t, "- Never touch the billing tables.", below(text, "## Constraints & Preferences"))
		require.Contains(t, below(text, "## Critical Context")+"\n", strings.Replace(headedInADigest, " [#1]", "", 1))
		require.True(t, strings.HasPrefix(below(text, "## Goal"), "Add paging to the export of the shop\n| Show 500 rows on each page\n- Last request: Good."), text)
		text = summarize(t, &summarizers.Request{PreviousSummary: text, MaxTokens: 2000})
	}
}

// TestALongEarlierSummaryIsCondensed: what is left of it keeps its order and its titles, and says where it is from.
func TestALongEarlierSummaryIsCondensed(t *testing.T) {
	t.Parallel()
	var facts strings.Builder
	for i := range 200 {
		fmt.Fprintf(&facts, "   - Shelf %d of the depot holds the boxes that came in week %d.\n", i, i%52)
	}
	for name, opening := range map[string]string{"facts": "", "code that does not end": "```\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c conversation
			c.user(strings.Replace(numberedSummary, "3. Files", opening+facts.String()+"\n3. Files", 1))
			c.says("I run the tests of the depot.")
			text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 500})
			block := below(text, "## Critical Context")
			at := -1
			for _, line := range []string{
				"- From an earlier summary: [#0]", "    2. Key Technical Concepts:", "       - Shelf ", "    6. Pending Tasks:", "       - Write a test for the last page.",
				"    7. Current Work:", "       I was about to run the tests of the depot.", "    8. Optional Next Step:", "       Translate the label",
			} {
				next := strings.Index(block, line)
				require.Greater(t, next, at, "%q in\n%s", line, text)
				at = next
			}
			require.Less(t, strings.Count(block, "Shelf "), 100)
		})
	}
}

// TestAnEarlierSummaryIsWholeWhereItFits: it comes before quotes, unless it would take most of the budget.
func TestAnEarlierSummaryIsWholeWhereItFits(t *testing.T) {
	t.Parallel()
	var facts strings.Builder
	for i := range 40 {
		fmt.Fprintf(&facts, "   - The rack %d holds the box BX-%d.\n", i, 4000+i)
	}
	var c conversation
	c.user(strings.Replace(numberedSummary, "3. Files", facts.String()+"\n3. Files", 1))
	for i := range 200 {
		c.says(fmt.Sprintf("The service svc_%03d listens on port %d and writes to `data/svc_%03d.db`.", i, 7100+i, i))
	}
	text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 2000})
	require.Equal(t, 40, strings.Count(text, "    - The rack "), text)
	require.Contains(t, text, "\n> [#", "and quotes have the rest")
}

// TestTagsWithinAnEarlierSummaryAreTitles: as they stand, they would begin a section of the digest.
func TestTagsWithinAnEarlierSummaryAreTitles(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user(headedSummary + "\n<next_steps>\nAsk the depot for its plan.\n</next_steps>\n")
	c.says("I run the tests of the depot.")
	text := c.summary(t, "")
	require.Contains(t, text, "\n    next_steps:\n    Ask the depot for its plan.")
	require.Equal(t, text, summarizers.Stored(&summarizers.Request{MaxTokens: 2000, Replaces: 4000, Count: chars4}, text))
}

// TestTheNewestEarlierSummaryCounts: each summary covers all before it.
func TestTheNewestEarlierSummaryCounts(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user(numberedSummary)
	c.says("I run the tests of the depot.")
	c.user(strings.NewReplacer("Write a test for the last page.", "Repair the test of the last page.", "I was about to run the tests of the depot.", "I looked at the failing test.",
		"port 7017", "port 9099").Replace(numberedSummary))
	c.says("I look at the test.")
	text := c.summary(t, "")
	require.Contains(t, text, "- From an earlier summary: [#2]\n")
	require.Contains(t, text, "       - Repair the test of the last page.\n")
	require.Contains(t, text, "       I looked at the failing test.\n")
	for _, gone := range []string{"- Write a test for the last page.", "I was about to run", "[#0]\n    "} {
		require.NotContains(t, text, gone)
	}
	require.True(t, strings.HasPrefix(below(text, "## Goal"), "Add paging to the export of the shop"), text)
}

// TestAPlanIsNoEarlierSummary: a plan that the user gives says what is to be done, and not where the work stands.
func TestAPlanIsNoEarlierSummary(t *testing.T) {
	t.Parallel()
	plan := "Implement this plan:\n\n## Goal\nMove the invoices to their own table.\n\n## Files\n- `src/invoices.go`\n- `src/taxes.go`\n\n## Constraints\n- The numbers stay as they are.\n\n" +
		"## Next steps after this\n- Port the taxes.\n\n" + strings.Repeat("Some more words on how it should be. ", 12)
	var c conversation
	c.user(plan)
	c.says("I begin with the invoices.")
	require.True(t, strings.HasPrefix(below(c.summary(t, ""), "## Goal"), "Implement this plan:"))
}
