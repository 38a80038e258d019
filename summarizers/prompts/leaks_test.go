package prompts_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/prompts"
)

// good is a summary without any of our text.
const good = `## Goal
Find out why the export drops the last row. [#2]

## Constraints & Preferences
- Never push to main. (system) [#0]
- Use at most 3 retries. [#2]

## Progress

### Done
- Read ` + "`pager.go`" + `: page() is empty [#4]

### In Progress
(none)

### Blocked
- ` + "`go test ./...`" + ` fails: panic: index out of range [#6]

## Key Decisions
(none)

## Next Steps
1. Clamp in the pager.

## Critical Context
- Code:
` + "```go\nfunc page() {}\n```" + `

## Relevant Files
- pager.go: what the bug is in`

// TestCase109InstructionsOfOursAreTakenOut: instructions that a model copied into its summary are removed, and a
// section that is empty after that says so.
func TestCase109InstructionsOfOursAreTakenOut(t *testing.T) {
	require.Equal(t, good, prompts.WithoutInstructions(good), "what is not ours stays")
	p := prompt(t, request())
	_, rules, _ := strings.Cut(p.Text, "Rules:\n")
	rules, _, _ = strings.Cut(rules, "\n\n")
	leaking := strings.Replace(good, "- Never push to main. (system) [#0]\n- Use at most 3 retries. [#2]", rules, 1)
	require.Contains(t, leaking, "Write terse bullets")
	require.Equal(t, strings.Replace(good, "- Never push to main. (system) [#0]\n- Use at most 3 retries. [#2]", "(none)", 1),
		prompts.WithoutInstructions(leaking))
	// Among the model's own lines, with other marks, and within a line.
	for _, leak := range []string{
		"- **Write terse bullets, one fact each.** Quote no long text word for word; say what it holds and where it is. [#3]",
		"* write terse bullets, one fact each",
		"- Never push to main. (system) [#0]\n- (what the user or the agent's rules demand; say whose it is where it is not the user's)",
		"- Use at most 2,000 tokens, about 1500 words.",
		"<instructions>",
	} {
		got := prompts.WithoutInstructions(strings.Replace(good, "- Use at most 3 retries. [#2]", leak, 1))
		want := strings.Replace(good, "- Use at most 3 retries. [#2]\n", "", 1)
		if strings.HasPrefix(leak, "- Never") {
			want = strings.Replace(good, "- Use at most 3 retries. [#2]", "- Never push to main. (system) [#0]", 1)
		}
		require.Equal(t, want, got, leak)
	}
	got := prompts.WithoutInstructions(strings.Replace(good, "3 retries. [#2]", "3 retries. Add nothing that the output does not say. [#2]", 1))
	require.Contains(t, got, "- Use at most 3 retries.")
	require.NotContains(t, got, "Add nothing")
	// The headings of an empty group stay without text.
	require.Contains(t, prompts.WithoutInstructions("## Progress\n- (what is finished, and its outcome)\n\n### Done\n- x"), "## Progress\n")
}

// TestNoSentenceOfThePromptsIsLeft: each line and each sentence of the prompts is recognized.
func TestNoSentenceOfThePromptsIsLeft(t *testing.T) {
	for name, req := range goldens() {
		p := prompt(t, req)
		_, told, ok := strings.Cut(p.Text, "<instructions>\n")
		require.True(t, ok)
		told, _, _ = strings.Cut(told, "\n</instructions>")
		if req.PromptOverride != "" {
			continue
		}
		for line := range strings.Lines(p.System + "\n" + told) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "#") || len(line) < 24 || strings.HasPrefix(line, "Your last answer was refused") {
				continue
			}
			require.Equal(t, "## Goal\n(none)", prompts.WithoutInstructions("## Goal\n"+line), "%s: %s", name, line)
			for sentence := range strings.SplitSeq(line, ". ") {
				if len(sentence) >= 32 {
					require.Equal(t, "## Goal\n(none)", prompts.WithoutInstructions("## Goal\n- "+sentence+"."), "%s: %s", name, sentence)
				}
			}
		}
	}
}

func TestTagsAndFencesAroundAnAnswerAreTakenOff(t *testing.T) {
	for _, around := range [][2]string{
		{"<summary>\n", "\n</summary>"},
		{"<summary>", "</summary>"},
		{"<summary>\n", ""},
		{"", "\n</summary>"},
		{"```markdown\n", "\n```"},
		{"```\n", "\n```"},
		{"```md\n<summary>\n", "\n</summary>\n```"},
		{"<previous-summary>\n", "\n</previous-summary>"},
		{"Here is the updated summary of the conversation:\n\n", ""},
		{"Sure! Here's the summary:\n```markdown\n", "\n```"},
		{"<SUMMARY>\n\n", "\n\n</SUMMARY>\n"},
	} {
		require.Equal(t, good, prompts.WithoutInstructions(around[0]+good+around[1]), around[0])
	}
	require.Equal(t, "<think>hm</think>\n"+good, prompts.WithoutInstructions("<think>hm</think>\n```markdown\n"+good+"\n```"))
	for _, stays := range []string{
		"```go\nx\n```\ntext\n```go\ny\n```", "## Goal\nShow a <summary> tag.", "<think>hm</think>\n## Goal\nx", "", "x",
	} {
		require.Equal(t, stays, prompts.WithoutInstructions(stays))
	}
}

func TestCleaningTwiceIsCleaningOnce(t *testing.T) {
	lines := strings.Split(good, "\n")
	for _, name := range []string{"system", "rules", "closing", "role_code"} {
		file, err := os.ReadFile(filepath.Join("texts", name+".txt"))
		require.NoError(t, err)
		lines = append(lines, strings.Split(string(file), "\n")...)
	}
	lines = append(lines, "```", "<summary>", "</summary>", "</conversation>", "Here is the summary:")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 0, 12).Draw(t, "lines"), "\n")
		once := prompts.WithoutInstructions(text)
		require.Equal(t, once, prompts.WithoutInstructions(once))
	})
}

// TestCleaningIsLinear: a provider may answer megabytes of anything. If each line were compared with all others, or
// each pass removed one tag, these tests would not finish.
func TestCleaningIsLinear(t *testing.T) {
	const size = 2 << 20
	times := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	const empty, blank = "# a\n</conversation>\n\n", "</conversation>\n\n"
	const rule = "Write terse bullets, one fact each."
	for name, c := range map[string]struct{ text, want string }{
		"tags on lines":       {"## Goal\nfix it\n" + times("</conversation>\n") + "end", "## Goal\nfix it\nend"},
		"tags below headings": {times(empty), strings.TrimSpace(strings.Repeat("# a\n(none)\n\n", size/len(empty)))},
		"tags on one line":    {times("<summary>") + "x" + times("</summary>"), "x"},
		"introductions":       {times("Here is the summary:\n<summary>\n") + "x", "x"},
		"blank lines":         {"x\n" + times(blank) + "y", "x\n" + strings.Repeat("\n", size/len(blank)) + "y"},
		"sentences":           {"x: " + times(rule+" ") + " y.", "x:  y."},
		"signs":               {times("."), times(".")},
		"fences":              {times("```md\n"), strings.TrimSpace(times("```md\n"))},
	} {
		got := prompts.WithoutInstructions(c.text)
		same := c.want == got
		require.True(t, same, "%s: %d bytes of %d, %.80q", name, len(got), len(c.want), got)
	}
}

// TestAnswerFarOverItsBudgetIsNotCleaned: an answer far over its budget is refused at once. One that is only too long
// because of thinking or copied text is not.
func TestAnswerFarOverItsBudgetIsNotCleaned(t *testing.T) {
	req := request()
	req.MaxTokens = 1000
	most := 4*(4*1000+4096) - len("## Goal\n")
	got, err := prompts.Cleaned(req, "<think>"+strings.Repeat("hm ", 100_000)+"</think>\n## Goal\n"+strings.Repeat("x", most))
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(got, "\n## Goal\n"+strings.Repeat("x", most)))
	_, err = prompts.Cleaned(req, "## Goal\n"+strings.Repeat("x", most+1))
	require.Equal(t, &summarizers.CheckError{
		Check: summarizers.CheckBudget, Detail: "The answer has 8097 tokens; at most 1000 are allowed.",
	}, err)
	got, err = prompts.Cleaned(req, "<summary>\n## Goal\nx\n</summary>")
	require.NoError(t, err)
	require.Equal(t, "## Goal\nx", got)
	// For a shortened result, the recall line below it uses a part of the budget.
	observed := goldens()["observation"]
	_, err = prompts.Cleaned(observed, strings.Repeat("x", 4*int(4*observed.TextTokens()+4096)))
	require.NoError(t, err)
	_, err = prompts.Cleaned(observed, strings.Repeat("x", 4*int(4*observed.TextTokens()+4096)+1))
	require.Error(t, err)
}

// TestCase110TheFrameStandsOnce: the text that views put around a summary occurs in the view once, whatever a model
// copies of it, after any number of compactions.
func TestCase110TheFrameStandsOnce(t *testing.T) {
	entry := &compactordv1.CompactionEntry{Summary: good}
	frame := strings.Split(wording.SummaryFrame, ". ")
	require.Len(t, frame, 3)
	for range 5 {
		view := wording.Summary(entry)
		for _, sentence := range frame {
			require.Equal(t, 1, strings.Count(view, sentence), view)
		}
		require.Equal(t, 1, strings.Count(view, "<summary>"))
		// The model copies the whole view, and so does the next prompt.
		req := request()
		req.PreviousSummary = view
		for _, sentence := range frame {
			require.NotContains(t, prompt(t, req).Text, sentence)
		}
		entry.Summary = prompts.WithoutInstructions(summarizers.WithoutThinking(view))
		require.Equal(t, good, entry.GetSummary())
	}
}

// TestCase106TheFocusStandsBehindTheInstructions: the instructions are the same with and without a focus, for both
// parts of a split turn.
func TestCase106TheFocusStandsBehindTheInstructions(t *testing.T) {
	for _, kind := range []summarizers.Kind{summarizers.History, summarizers.TurnPrefix} {
		req := request()
		req.Kind = kind
		without := prompt(t, req)
		req.Focus = "the API changes"
		with := prompt(t, req)
		require.Equal(t, without.System, with.System)
		require.Equal(t, without.Text+"\n\nAdditional focus: the API changes", with.Text)
		require.True(t, strings.HasSuffix(without.Text, "\n</instructions>"))
	}
	req := request()
	without := prompts.Closing(req).Text
	req.Focus = "the API changes"
	require.Equal(t, without+"\n\nAdditional focus: the API changes", prompts.Closing(req).Text)
}

// TestTheSectionsAskedForAreThoseThatAreChecked: a model that follows the instructions passes the check of its
// headings.
func TestTheSectionsAskedForAreThoseThatAreChecked(t *testing.T) {
	lists := sessiontest.SectionLists()
	lists["own"] = []*compactordv1.Section{
		{Title: "目标", Role: compactordv1.SectionRole_SECTION_ROLE_GOAL},
		{Title: "进展", Subsections: []*compactordv1.Section{{Title: "已完成", Role: compactordv1.SectionRole_SECTION_ROLE_DONE}}},
	}
	for _, kind := range []summarizers.Kind{summarizers.History, summarizers.TurnPrefix} {
		for name, set := range lists {
			req := request()
			req.Kind, req.Sections = kind, set
			for _, text := range []string{prompt(t, req).Text, prompts.Closing(req).Text} {
				_, told, _ := strings.Cut(text, "<instructions>\n")
				var got []string
				for line := range strings.Lines(told) {
					if strings.HasPrefix(line, "#") {
						got = append(got, strings.TrimSpace(line))
					}
				}
				var want []string
				for _, h := range summarizers.Headings(kind, set) {
					want = append(want, h.Line())
				}
				require.Equal(t, want, got, name)
			}
		}
	}
}

// TestAnyListOfSectionsMakesAWholePrompt: whatever the sections are, the prompt describes the contents of each, and
// asks for everything that a summary must say, each in one place.
func TestAnyListOfSectionsMakesAWholePrompt(t *testing.T) {
	told := func(name string) string {
		text, err := os.ReadFile(filepath.Join("texts", "role_"+name+".txt"))
		require.NoError(t, err)
		return strings.TrimLeft(strings.TrimSpace(string(text)), "-1. ")
	}
	rapid.Check(t, func(rt *rapid.T) {
		req := request()
		req.Sections = sessiontest.Sections(rt)
		_, text, _ := strings.Cut(prompt(t, req).Text, "<instructions>\n")
		of := map[compactordv1.SectionRole]int{}
		for _, h := range summarizers.Headings(req.Kind, req.Sections) {
			of[h.Role]++
		}
		for number, value := range compactordv1.SectionRole_name {
			role := compactordv1.SectionRole(number)
			switch role {
			case compactordv1.SectionRole_SECTION_ROLE_UNSPECIFIED:
				continue
			case compactordv1.SectionRole_SECTION_ROLE_ENVIRONMENT, compactordv1.SectionRole_SECTION_ROLE_FILES,
				compactordv1.SectionRole_SECTION_ROLE_CODE:
			default:
				of[role] = max(of[role], 1)
			}
			line := told(strings.ToLower(strings.TrimPrefix(value, "SECTION_ROLE_")))
			require.Equal(rt, of[role], strings.Count(text, line), line)
		}
	})
}
