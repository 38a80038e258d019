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
	text := c.summary(t, "")
	goal, _, _ := strings.Cut(below(text, "## Goal"), "\n")
	require.Equal(t, "The export loses a row on every page. It went on like this for a while. … Your task is to find the cause and to repair it. [#0]", goal)
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
