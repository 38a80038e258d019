package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// TestApprovalsHideNoTask: the goal is the user's last task, and the last request is still shown word for word.
func TestApprovalsHideNoTask(t *testing.T) {
	t.Parallel()
	for task, replies := range map[string][]string{
		"FER-124: when the gateway rejects one number, all notices behind it wait for ever.": {
			"Looks right to me, commit.", "Thanks! Commit and go on.", "yes", "ok, go ahead", "LGTM 👍", "Sounds good, let's continue with the next step.", "Perfect, thank you so much!",
			"Yes please, do that.", "👍", "go on", "Great. How long does it take?", "Agreed, separate change. Note it as FER-127b.", "Please continue working on the task.",
			"Thanks! I'll come back once I have tested it on my own machine.", "what did i just execute?", "No, not yet.", "Good night!",
		},
		"给导出功能加上分页，每页五百行。": {
			"好的，继续。", "没问题，提交吧", "谢谢！", "可以", "嗯，就这样做吧。", "看起来不错，推送", "是的", "对，请继续", "执行方案吧", "这个是什么原理？", "谁会被影响",
		},
	} {
		for _, reply := range replies {
			t.Run(reply, func(t *testing.T) {
				t.Parallel()
				var c conversation
				c.user("Tidy up the old branches of the repository, please.")
				c.says("I did.")
				first := c.user(task)
				c.says("I changed the loop, and it works for all that I tried.")
				last := c.user(reply)
				text := c.summary(t, "")
				goal := below(text, "## Goal")
				require.Contains(t, goal, fmt.Sprintf("Tidy up the old branches of the repository, please. [#0]\n- %s [#%d]\n- Last request: ", task, first))
				requireLine(t, goal, "Last request: "+reply, last)
				// A merge keeps both unchanged.
				again := summarize(t, &summarizers.Request{PreviousSummary: text, MaxTokens: 2000})
				require.Equal(t, below(text, "## Goal"), below(again, "## Goal"))
				requireLine(t, again, "Last request: "+reply, last)
			})
		}
	}
}

func TestWhatFollowsAnApprovalIsARequest(t *testing.T) {
	t.Parallel()
	for _, request := range []string{
		"Thanks! Now rename the module to harbour.", "Great, can you add a test for the empty page?", "Yes. The nightly import takes 40 minutes since Monday, find out why.",
		"Fix the parser.", "ok, the next problem is that the list is empty after a reload", "好的，现在把按钮移到右边。", "谢谢！请把日志改成英文的。", "推送。阅读模板，创建合并请求",
		"push, then check the comments of the bot", "lets fix the flaky test first",
	} {
		var c conversation
		c.user("Tidy up the old branches of the repository, please.")
		c.says("I did.")
		last := c.user(request)
		require.Equal(t, fmt.Sprintf("Tidy up the old branches of the repository, please. [#0]\n- Last request: %s [#%d]", request, last),
			below(c.summary(t, ""), "## Goal"))
	}
}

// TestATurnPrefixSaysItsRequestOnce: the request of a split turn is in one line, however long it is.
func TestATurnPrefixSaysItsRequestOnce(t *testing.T) {
	t.Parallel()
	for _, request := range []string{
		"Add paging to the export.",
		"Add paging to the export. " + strings.Repeat("The pages are of many sizes, and some of them are empty by now. ", 8) + "That is the whole of it.",
	} {
		var c conversation
		c.user(request)
		c.says("I look at the pager first.")
		text := summarize(t, &summarizers.Request{Kind: summarizers.TurnPrefix, Messages: c.log, MaxTokens: 800})
		require.Equal(t, strings.TrimSpace(request)+" [#0]", below(text, "## Original Request"))
		require.Equal(t, 1, strings.Count(text, "Add paging"))
	}
}

// TestTheGoalOfALongRequestIsWhatItAsks: the goal consists of whole sentences.
func TestTheGoalOfALongRequestIsWhatItAsks(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("<report>\nThe export loses a row on every page.\n<!-- Please read our guidelines. -->\n" + strings.Repeat("```\nSELECT 1;\n```\nIt went on like this for a while.\n", 30) +
		"\n</report>\nYour task is to find the cause and to repair it.\n" + strings.Repeat("More was said about it. ", 40) + "\n</instructions>")
	text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 200})
	require.True(t, strings.HasPrefix(below(text, "## Goal"), "The export loses a row on every page. …\n| It went on like this for a while. …\n| It went"), text)
	require.True(t, strings.HasSuffix(below(text, "## Goal"), "It went on like this for a while. …\n| Your task is to find the cause and to repair it. … [#0]"), text)
	text = c.summary(t, "")
	require.Equal(t, 1, strings.Count(text, "Your task is"), "it is in one line")
	require.Equal(t, 30, strings.Count(below(text, "## Goal"), "It went on"), "which is whole if it fits")
}

// TestTheGoalBeginsWithItsTitle: even if that reads like a rule, and without the tags around it.
func TestTheGoalBeginsWithItsTitle(t *testing.T) {
	t.Parallel()
	title := "The importer must never drop a row of an empty page"
	var c conversation
	c.user("<issue>\n" + title + "\n\n" + strings.Repeat("I get this while the importer reads an empty page of the depot. ", 40) + "\n</issue>")
	c.says("I look at the importer.")
	for _, budget := range []uint32{300, 1000, 4000} {
		goal := below(summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: budget}), "## Goal")
		require.True(t, strings.HasPrefix(goal, title), goal)
		require.NotContains(t, goal, "issue>")
	}
}

// TestTheTitleOfAPlanBeginsTheGoal: where a plan does not fit, its title says most.
func TestTheTitleOfAPlanBeginsTheGoal(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Implement this plan:\n\n# Plan: pages of 500 rows\n\n## Context\n\n" + strings.Repeat("The export of the shop writes all rows to one page. ", 40))
	c.says("I look at the export.")
	c.user("Begin with the pager.")
	c.says("I look at the pager.")
	goal := below(summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 400}), "## Goal")
	require.True(t, strings.HasPrefix(goal, "Implement this plan:\n| # Plan: pages of 500 rows"), goal)
}

// TestALongRequestIsWrittenOnce: a long request is one line, with as much of it as fits, whether it is the last one or not.
func TestALongRequestIsWrittenOnce(t *testing.T) {
	t.Parallel()
	request := "Move the invoices to a table of their own. " + strings.Repeat("Some of them are very old, and the depot reads those once in a year. ", 6) + "That is the whole of it."
	var c conversation
	c.user(request)
	c.says("I look at the invoices first.")
	for _, messages := range []int{2, 4} {
		if messages == 4 {
			c.user("Now write a test for the old ones.")
			c.says("I begin with the test.")
		}
		for _, budget := range []uint32{300, 500, 1000, 4000} {
			text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: budget})
			require.Equal(t, 1, strings.Count(text, "Move the invoices"), "at %d tokens:\n%s", budget, text)
			if budget == 4000 {
				require.True(t, strings.HasPrefix(below(text, "## Goal"), request+" [#0]"), text)
			}
		}
	}
}

// TestInstructionsOfAProgramAreNoTask: what a program puts into a message of the user is not what the user wants.
func TestInstructionsOfAProgramAreNoTask(t *testing.T) {
	t.Parallel()
	steps := "\n## Workflow\n\n1. Enter plan mode first. Read the files, and write a plan of all steps.\n2. Fix the style of all that you touch.\n" +
		strings.Repeat("Look at the other modules before you write a new one. ", 10) + "\n"
	request := "Add paging to the export of the shop."
	instructions := "# AGENTS.md instructions for /home/me/shop\n\n<INSTRUCTIONS>" + steps + "</INSTRUCTIONS>"
	for name, add := range map[string]func(c *conversation){
		"in a message before": func(c *conversation) { c.user(instructions); c.user(request) },
		"in the same text":    func(c *conversation) { c.user(instructions + "\n\n" + request) },
		"in a part before": func(c *conversation) {
			c.add(compactordv1.Role_ROLE_USER, textPart("# Repository guidelines\n"+steps), textPart(request))
		},
		"in tags": func(c *conversation) { c.user("<rules>" + steps + "</rules>\n" + request) },
		"in tags behind it": func(c *conversation) {
			c.user(request + "\n<project-instructions>" + steps + "</project-instructions>")
		},
	} {
		for _, budget := range []uint32{300, 2000} {
			var c conversation
			add(&c)
			c.says("I look at the export.")
			goal := below(summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: budget}), "## Goal")
			require.True(t, strings.HasPrefix(goal, request+" [#"), "%s: %s", name, goal)
			require.NotContains(t, goal, "plan", name)
		}
	}
}

// TestTheGoalOfAReportIsNoCommandOfItsInstructions: a task that is longer than a request is kept leaves out instructions,
// and not the end of the task.
func TestTheGoalOfAReportIsNoCommandOfItsInstructions(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("<issue>\nThe parser fails on an empty page\n\n" + strings.Repeat("```\nread(page)\n```\nIt said that the page ends early.\n", 200) +
		"</issue>\n<instructions>\nSubmit your work with:\n```\necho DONE && cat patch.txt\n```\n</instructions>")
	c.says("I look at the parser.")
	for _, budget := range []uint32{250, 1000, 4000} {
		goal := below(summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: budget}), "## Goal")
		require.Contains(t, goal, "The parser fails on an empty page")
		require.NotContains(t, goal, "echo DONE")
	}
}

// TestARequestBesideTheTaskIsNotTheGoal: the goal keeps its main part, even if that is also a rule.
func TestARequestBesideTheTaskIsNotTheGoal(t *testing.T) {
	t.Parallel()
	for said, main := range map[string]string{
		"we are reviewing the pull request 102. remember that you have the language server.\n\nAlso the lint is broken, let's fix that along the way": "reviewing the pull request 102",
		"Hi! I have a table for two on Friday, and I'd like to move it to a later time if possible. Can you help me with this?":                       "move it to a later time",
	} {
		var c conversation
		c.user(said)
		c.says("I look into it.")
		c.user("I don't have the number of the reservation at the moment.")
		c.says("That is no problem.")
		text := c.summary(t, "")
		goal, _, _ := strings.Cut(below(text, "## Goal"), "\n")
		require.Contains(t, goal, main)
		require.Equal(t, 1, strings.Count(text, main), text)
	}
}

// TestAnsweredQuestionsAreHistory: a question that was answered at once is not listed as a request. One is that the agent
// asked back about, that it did something for, or that set the task.
func TestAnsweredQuestionsAreHistory(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Is the paging of the export correct on the last page?")
	c.says("It is not: the last page is dropped.")
	c.user("where does the list of pages come from?")
	c.runs("grep -rn pages .", "pager.go: pages", false)
	c.says("It comes from the pager.")
	c.user("could we repair them im Lager, too?")
	c.says("Yes. Shall I repair them there?")
	c.user("is the pager used anywhere else?")
	c.says("No, only there. Do you want me to move it?")
	c.user("can you add a test for the last page?")
	c.tool("edit", `{"path":"pager_test.go","oldText":"a","newText":"b"}`, "ok", false)
	c.says("I added it.")
	c.user("The import is slow since Monday.")
	c.says("I look into it.")
	text := c.summary(t, "")
	for range 3 {
		goal := below(text, "## Goal")
		require.True(t, strings.HasPrefix(goal, "Is the paging of the export correct on the last page? [#0]"), goal)
		require.NotContains(t, goal, "where does")
		require.NotContains(t, goal, "anywhere else", "what the agent offers beside its answer is another thing")
		require.Contains(t, goal, "could we repair them")
		require.NotContains(t, goal, "can you add a test", "it was added")
		context := below(text, "## Critical Context")
		require.Contains(t, context, "- Earlier: can you add a test for the last page? [#")
		require.Contains(t, context, "- Asked and answered: where does the list of pages come from? [#2, #5]", "there is room for it")
		text = summarize(t, &summarizers.Request{PreviousSummary: text, MaxTokens: 2000})
	}
}

// TestAHandbookLeavesRoomForWhatWasDone: a message with many rules does not fill a small summary.
func TestAHandbookLeavesRoomForWhatWasDone(t *testing.T) {
	t.Parallel()
	var handbook strings.Builder
	handbook.WriteString("Here is our handbook.\n")
	for i := range 60 {
		fmt.Fprintf(&handbook, "- Never use the pattern number %d in any of the services that we run.\n", i)
	}
	var c conversation
	c.user(handbook.String())
	c.user("Add paging to the export. Don't touch the folder `vendor`.")
	c.tool("edit", `{"path":"export/pager.go","oldText":"a","newText":"b"}`, "ok", false)
	c.runs("go test ./export", "--- FAIL: TestPager\npager_test.go:57: got 499 rows, want 500\nFAIL", true)
	c.says("I decided to clamp in the pager, because the nightly job calls it directly.")
	c.tool("TodoWrite", `{"todos":[{"content":"Clamp the limit","status":"in_progress"},{"content":"Write the docs","status":"pending"}]}`, "ok", false)
	small := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 500})
	for _, kept := range []string{
		"Never use the pattern number 0 ", "Don't touch the folder `vendor`.", "Add paging to the export.", "got 499 rows", "I decided to clamp", "Clamp the limit",
		"`export/pager.go` modified",
	} {
		require.Contains(t, small, kept)
	}
	for i := range 20 {
		c.says(fmt.Sprintf("I decided to keep `page_%d` as it is, because the reports read it every night and nobody knows how.", i))
	}
	small = summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 500})
	require.LessOrEqual(t, strings.Count(small, "Never use the pattern"), 8)
	require.GreaterOrEqual(t, strings.Count(small, "I decided to keep"), 2)
	large := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 3000})
	require.Equal(t, 60, strings.Count(large, "Never use the pattern"), "what waits is served if there is room")
}

// TestNoSentenceStandsTwice: a rule is among the constraints and nowhere else.
func TestNoSentenceStandsTwice(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Add paging to the export of the shop. Never run the migrations against staging.")
	c.says("Done.")
	c.user("Port the parser to the new grammar, and never change the old one.")
	c.says("Done.")
	c.user("Rename the export button on the page.\n\n- All labels must be translated.\n- I prefer small commits.")
	for _, kind := range []summarizers.Kind{summarizers.History, summarizers.TurnPrefix} {
		text := summarize(t, &summarizers.Request{Kind: kind, Messages: c.log, MaxTokens: 2000})
		for range 3 {
			for sentence, index := range map[string]uint32{
				"Never run the migrations against staging.": 0, "Add paging to the export of the shop.": 0, "never change the old one.": 2, "Port the parser": 2,
				"All labels must be translated.": 4, "I prefer small commits.": 4, "Rename the export button on the page.": 4,
			} {
				require.Equal(t, 1, strings.Count(text, sentence), "%q in:\n%s", sentence, text)
				requireLine(t, text, sentence, index)
			}
			text = summarize(t, &summarizers.Request{Kind: kind, PreviousSummary: text, MaxTokens: 2000})
		}
	}
}

// TestManyRulesLeaveRoomForWhatWasDone: neither do rules of many messages.
func TestManyRulesLeaveRoomForWhatWasDone(t *testing.T) {
	t.Parallel()
	var c conversation
	for i := range 40 {
		c.user(fmt.Sprintf("Never use the pattern number %d in any of the services that we run.", i))
		c.user(fmt.Sprintf("I prefer the pattern number %d in those of the others.", i))
		c.add(compactordv1.Role_ROLE_DEVELOPER, textPart(fmt.Sprintf("Always write a test for the pattern number %d.", i)))
	}
	c.user("Add paging to the export.")
	c.runs("go test ./export", "--- FAIL: TestPager\npager_test.go:57: got 499 rows, want 500\nFAIL", true)
	c.tool("TodoWrite", `{"todos":[{"content":"Clamp the limit","status":"in_progress"}]}`, "ok", false)
	text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 500})
	for _, kept := range []string{"Never use the pattern number 0 ", "Add paging to the export.", "got 499 rows", "Clamp the limit"} {
		require.Contains(t, text, kept)
	}
}

// TestWhereARuleDoesNotFitTheRequestKeepsIt: a request keeps a rule that has no line of its own.
func TestWhereARuleDoesNotFitTheRequestKeepsIt(t *testing.T) {
	t.Parallel()
	var c conversation
	for i := range 40 {
		c.user(fmt.Sprintf("Never use the pattern number %d in any of the services that we run.", i))
		c.says("Understood.")
	}
	c.user("Add paging to the export. Never run the migrations.")
	for budget := uint32(100); budget < 2000; budget += 20 {
		text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: budget})
		require.Contains(t, text, "Never run the migrations.", "at %d tokens", budget)
	}
}

// TestATaskAfterADemonstrationIsARequest: two user messages in a row are both the user's, whatever their ends.
func TestATaskAfterADemonstrationIsARequest(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Here is a demonstration of how it is done.\n(Current directory: /x)\nbash-$ ls")
	c.user("Repair the importer of this repository.\n(Current directory: /shop)\nbash-$")
	c.says("I look around.\n```\nls\n```")
	c.user("importer.py\n(Current directory: /shop)\nbash-$")
	require.Contains(t, below(c.summary(t, ""), "## Goal"), "Repair the importer of this repository.")
}

// TestMarksAreNoRules: tags and markers for programs are not constraints.
func TestMarksAreNoRules(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("<IMPORTANT>\nLook at the importer and tell me what is slow.\n</IMPORTANT>\n###STOP###\ncan we use `a` instead of `b` here")
	require.Empty(t, below(c.summary(t, ""), "## Constraints & Preferences"))
}

// TestTheUsersWordsComeBeforeWhatTheyQuote: of a message that does not fit, what the user asks stays, and not what it is
// about.
func TestTheUsersWordsComeBeforeWhatTheyQuote(t *testing.T) {
	t.Parallel()
	for said, own := range map[string]string{
		"can we change\n\"" + strings.Repeat("Both shops will see the export, but its pages will be mixed. ", 5) + "\"\n\nTo something more that mentions that there is another shop.":   "To something more that mentions",
		"+ // Get the pages of the shop, or make them if there are none yet\n" + strings.Repeat("+ page, err := shop.NextPage(number, size)\n", 8) + "\nisn't this trying it twice now?": "isn't this trying it twice now?",
	} {
		var c conversation
		c.user("Bring the depot of the shop to the new version.")
		c.says("The depot is on the new version.")
		c.user(said)
		c.says("I look at it.")
		require.Contains(t, below(summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 120}), "## Goal"), own)
	}
}
