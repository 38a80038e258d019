package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// TestStepsInAnInterface: clicks are no achievements. Only the newest one is kept, also over several summaries.
func TestStepsInAnInterface(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Please reserve a berth.")
	c.tool("browser_navigate", `{"url":"https://harbour.example/"}`, "### Result\nPage URL: https://harbour.example/", false)
	c.tool("type", `{"ref":"e7","text":"B-12"}`, "Typed.", false)
	c.tool("computer", `{"action":"left_click","coordinate":[10,20]}`, "ok", false)
	c.tool("reserve_berth", `{"boat":"B-12"}`, "ok", false)
	c.tool("browser_press_key", `{"key":"Enter"}`, "Pressed Enter at 10:20", false)
	text := c.summary(t, "")
	require.Equal(t, "- Called `reserve_berth` boat=B-12 [#7, #8]\n- Called `browser_press_key` key=Enter [#9, #10]", below(text, "### Done"))
	next := conversation{log: c.log[:0:0]}
	next.tool("click", `{"element":"Pay","ref":"e9"}`, "### Result\nClicked.", false)
	for i, m := range next.log {
		m.Index = uint32(20 + i)
	}
	require.Equal(t, "- Called `reserve_berth` boat=B-12 [#7, #8]\n- Called `click` element=Pay ref=e9 [#20, #21]", below(next.summary(t, text), "### Done"))
}

// TestStepsComeLast: where little can be told, calls with an effect are told before the newest step, whether this summary
// or the previous one has it.
func TestStepsComeLast(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Please reserve a berth for each of the boats.")
	for i := range 8 {
		c.tool("reserve_berth", fmt.Sprintf(`{"boat":"B-%d"}`, i), "ok", false)
	}
	c.tool("browser_press_key", `{"key":"Enter"}`, "Pressed Enter at 10:20", false)
	whole := c.summary(t, "")
	require.Contains(t, whole, "Called `browser_press_key`")
	for previous, messages := range map[string][]*compactordv1.LoggedMessage{"": c.log, whole: {userMessage(90, "And for the dinghies.")}} {
		text := summarize(t, &summarizers.Request{Messages: messages, PreviousSummary: previous, MaxTokens: 110})
		require.Contains(t, text, "Called `reserve_berth` boat=B-7", text)
		require.NotContains(t, below(text, "### Done"), "browser_press_key", text)
	}
}

// TestFilesThatOtherToolsWrite: a path that the result repeats was written.
func TestFilesThatOtherToolsWrite(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		tool, arguments, result string
		written                 bool
	}{
		{"plot", `{"kind":"line","path":"out/berths.png"}`, `{"path": "out/berths.png", "width": 800}`, true},
		{"render_chart", `{"output_path":"out/berths.svg"}`, "Wrote out/berths.svg", true},
		{"download_file", `{"url":"https://harbour.example/b","dest":"out/berths.csv"}`, "Saved to out/berths.csv (12 kB)", true},
		{"plot", `{"kind":"line","path":"out/berths.png"}`, `{"queued": true}`, false},
		{"send_fax", `{"file":"out/berths.pdf"}`, "Sent out/berths.pdf", false},
	} {
		var c conversation
		c.user("Draw the berths.")
		c.tool(tt.tool, tt.arguments, tt.result, false)
		require.Equal(t, tt.written, strings.Contains(below(c.summary(t, ""), "## Relevant Files"), "` modified"), "%s %s", tt.tool, tt.result)
	}
}

// TestWhatACallDidIsTold: a line about a call shows what was written, and what came back.
func TestWhatACallDidIsTold(t *testing.T) {
	t.Parallel()
	body := "The ferry of Tuesday leaves the west quay at seven and takes twelve boats at most, so please be there with the ropes half an hour before, and bring the list of the owners."
	for _, tt := range []struct{ tool, arguments, result, told string }{
		{
			"reminder_set", `{"at":"2031-03-04T07:00","text":"Ropes for the ferry"}`, `{"id": "rem_2291", "status": "scheduled", "at": "2031-03-04T07:00"}`,
			"text=Ropes for the ferry at=2031-03-04T07:00: «id=rem_2291 status=scheduled»",
		},
		{
			"send_mail", `{"to":"quay@harbour.example","subject":"Ferry","body":"` + body + `"}`, `{"ok": true}`,
			"body=" + body + " to=quay@harbour.example subject=Ferry",
		},
		{
			"book_berths", "{\"berths\": [ {\"quay\": \"west\",\n \"number\": 4} ], \"days\": [1, 2]}", `{"success": true, "booking": {"code": "BK-77", "total": 81.5, "seen": true, "bytes": 900}}`,
			`berths=[{"quay":"west","number":4}] days=[1,2]: «code=BK-77 total=81.5»`,
		},
		{"renew_loan", `{"loan":"L-771"}`, "### Result\nrenewed until 2031-03-30\n", "loan=L-771: «renewed until 2031-03-30»"},
		{"renew_loan", `{"loan":"L-771"}`, "Done!", "loan=L-771"},
		{"renew_loan", `{"loan":"L-771"}`, `[{"id": 1}]`, "loan=L-771"},
		{"renew_loan", `{"loan":"L-771"}`, "one 1 a\ntwo\nthree\nfour\nfive", "loan=L-771"},
		{"renew_loan", `{"loan":"L-771 of 12"}`, `{"days": 7, "owner": "L-771", "until": "May"}`, "loan=L-771 of 12: «until=May»"},
	} {
		var c conversation
		c.user("Please see to the matter of the boats.")
		c.tool(tt.tool, tt.arguments, tt.result, false)
		require.Equal(t, "- Called `"+tt.tool+"` "+tt.told+" [#1, #2]", below(c.summary(t, ""), "### Done"), tt.tool)
	}
}

// TestLongArgumentsAreCutEachForItself: a line about a call is cut within each argument, and never across two of them.
func TestLongArgumentsAreCutEachForItself(t *testing.T) {
	t.Parallel()
	long := func(word string) string {
		return word + "First " + strings.Repeat("of many words ", 60) + word + "Last"
	}
	var c conversation
	c.user("Please see to the matter of the boats.")
	c.tool("send_mail", `{"to":"quay@harbour.example","subject":"`+long("subject")+`","body":"`+long("body")+`","tags":["one"]}`, `{"id":"m-77"}`, false)
	for _, budget := range []uint32{2000, 300, 250} {
		text := summarize(t, &summarizers.Request{Messages: c.log, Kept: []*compactordv1.LoggedMessage{userMessage(9, "Go on.")}, MaxTokens: budget})
		done := below(text, "### Done")
		require.LessOrEqual(t, len([]rune(done)), 480)
		for _, part := range []string{"body=bodyFirst", "bodyLast to=quay@harbour.example", "subject=subjectFirst", "subjectLast tags=[\"one\"]: «id=m-77» [#1, #2]"} {
			require.Contains(t, done, part, "at %d", budget)
		}
	}
}

// TestNameThatDoesNotFitIsLeftOutOfACall: an argument that is one name is shown as a whole or not at all.
func TestNameThatDoesNotFitIsLeftOutOfACall(t *testing.T) {
	t.Parallel()
	name := "harbour:" + strings.Repeat("quay-", 100) + "west"
	var c conversation
	c.user("Please see to the matter of the boats.")
	c.tool("send_mail", `{"to":"quay@harbour.example","template":"`+name+`"}`, `{"id":"m-77"}`, false)
	done := below(c.summary(t, ""), "### Done")
	require.Contains(t, done, "to=quay@harbour.example")
	require.Contains(t, done, "template=…")
	require.NotContains(t, done, "quay-quay")
}

// TestInstructionsOfOtherAgentsAreShort: what another agent was told is not what was done.
func TestInstructionsOfOtherAgentsAreShort(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Please see to the matter of the boats.")
	c.tool("Task", `{"prompt":"Find all the berths of the west quay. `+strings.Repeat("Then look at the next one. ", 20)+`","description":"Look for berths"}`, "There is none.", false)
	done := below(c.summary(t, ""), "### Done")
	require.Contains(t, done, "- Called `Task` description=Look for berths prompt=Find all the berths")
	require.Less(t, len(done), 140)
}

// TestALittleRoomForACall: where little room is, each argument is cut further, and then the last ones are left out.
func TestALittleRoomForACall(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("of many words ", 30)
	var few, many []string
	for i := range 20 {
		if i < 3 {
			few = append(few, fmt.Sprintf(`"key%02d":"first%02d %slast%02d"`, i, i, long, i))
		}
		many = append(many, fmt.Sprintf(`"key%02d":"first%02d %slast%02d"`, i, i, long, i))
	}
	done := func(arguments []string) string {
		var c conversation
		c.user("Please see to the matter of the boats.")
		c.tool("send_mail", "{"+strings.Join(arguments, ",")+"}", `{"ok":true}`, false)
		return below(summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 90}), "### Done")
	}
	text := done(few)
	for i := range 3 {
		require.Regexp(t, fmt.Sprintf(`key%02d=first%02d .*… .*last%02d`, i, i, i), text)
	}
	text = done(many)
	require.Regexp(t, `^- Called .send_mail. key00=first00 [^=]*last00 key01=first01 [^=]*last01 `, text)
	require.NotContains(t, text, "last19")
}

// The last step repeated a call with its outcome that stands under Done with all of its arguments. Another call of the same
// message is a step.
func TestTheLastStepIsNoCallUnderDone(t *testing.T) {
	t.Parallel()
	const berths = `"boat":"B-12","berths":[{"quay":"north","place":4}]`
	var c conversation
	c.user("Please reserve berths for the boat.")
	c.tool("reserve_berth", "{"+berths+"}", `{"booking_id":"K7721","boat":"B-12"}`, false)
	text := c.summary(t, "")
	require.Contains(t, below(text, "### Done"), `- Called `+"`reserve_berth`"+` boat=B-12 berths=[{"quay":"north","place":4}]: «booking_id=K7721» [#1, #2]`)
	require.NotContains(t, text, "Last step:")

	c.tool("list_boats", `{"quay":"south"}`, `["B-1"]`, false)
	require.Contains(t, c.summary(t, ""), "- Last step: `list_boats` quay=south")
}
