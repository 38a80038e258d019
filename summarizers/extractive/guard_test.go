package extractive_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
	"github.com/compactord/compactord/summarizers/extractive/internal/planted"
)

// failing returns a summarizer with a bug in the steps that the test chooses.
func failing(strikes func(stage string, index uint32, done bool) bool) *extractive.Summarizer {
	return extractive.WithProbe(func(stage string, index uint32, done bool) {
		if strikes(stage, index, done) {
			_ = make([]string, index)[index]
		}
	})
}

// written lets a summarizer with bugs write a summary, and checks what holds for all summaries.
func written(tb testing.TB, s *extractive.Summarizer, req *summarizers.Request) *summarizers.Summary {
	tb.Helper()
	req.Count, req.Replaces = chars4, 1<<30
	var l listener
	summary, err := s.Summarize(tb.Context(), req, &l)
	require.NoError(tb, err)
	require.Equal(tb, strings.Join(l.texts, ""), summary.Text)
	require.NoError(tb, summarizers.Check(req, summary), summary.Text)
	return summary
}

// A message that triggers a bug once made the whole compaction fail.
func TestMessageThatCannotBeReadIsPassedOver(t *testing.T) {
	t.Parallel()
	for _, done := range []bool{false, true} {
		broken := failing(func(stage string, index uint32, after bool) bool {
			return stage == summarizers.StageMessage && index == 2 && after == done
		})
		summary := written(t, broken, &summarizers.Request{MaxTokens: 2000, Messages: []*compactordv1.LoggedMessage{
			userMessage(0, "Port the parser to `parse.go`."),
			userMessage(1, "Never push to the main branch."),
			assistantMessage(2, "I decided on the recursive descent because it is simple."),
			assistantMessage(3, "I decided on the tables of the old parser because they are tested."),
			userMessage(4, "Always run the linter."),
			userMessage(5, "Begin with the lexer of the old files, please."),
		}})
		require.Contains(t, below(summary.Text, "Constraints & Preferences"), "- Never push to the main branch. [#1]\n- Always run the linter. [#4]")
		require.Contains(t, below(summary.Text, "Key Decisions"), "the tables of the old parser because they are tested. [#3]")
		require.Contains(t, below(summary.Text, "Critical Context"), "- 1 message could not be summarized: recall it where it matters [#2]")
		require.Len(t, summary.Faults, 1)
		fault := summary.Faults[0]
		require.Equal(t, summarizers.StageMessage, fault.Stage)
		require.EqualValues(t, 2, fault.Index)
		require.Equal(t, "runtime.boundsError", fault.Cause)
		require.Contains(t, fault.Stack, "guard_test.go")
	}
}

// The user's last message is in the summary even if nothing in it could be interpreted.
func TestRequestThatCannotBeReadIsKeptAsItStands(t *testing.T) {
	t.Parallel()
	log := []*compactordv1.LoggedMessage{userMessage(0, "Port the parser."), userMessage(1, "Now write the tests\nof the lexer.")}
	for _, done := range []bool{false, true} {
		broken := failing(func(stage string, index uint32, after bool) bool {
			return stage == summarizers.StageMessage && index == 1 && after == done
		})
		summary := written(t, broken, &summarizers.Request{Messages: log, MaxTokens: 500})
		require.Contains(t, summary.Text, "Now write the tests\n| of the lexer. [#1]")
		require.Contains(t, summary.Text, "- 1 message could not be summarized: recall it where it matters [#1]")
	}
	broken := failing(func(stage string, _ uint32, _ bool) bool {
		return stage == summarizers.StageMessage || stage == summarizers.StageRequest
	})
	summary := written(t, broken, &summarizers.Request{Messages: log, MaxTokens: 500})
	require.Contains(t, summary.Text, "- 2 messages could not be summarized: recall them where they matter [#0, #1]")
	require.Len(t, summary.Faults, 4)
}

func TestManyMessagesThatCannotBeReadAreCounted(t *testing.T) {
	t.Parallel()
	broken := failing(func(stage string, index uint32, done bool) bool {
		return stage == summarizers.StageMessage && index%2 == 1 && done
	})
	var log []*compactordv1.LoggedMessage
	for i := range uint32(100) {
		log = append(log, assistantMessage(i, "The port of the server is 8080."))
	}
	summary := written(t, broken, &summarizers.Request{Messages: log, MaxTokens: 1000})
	require.Contains(t, summary.Text, "- 50 messages could not be summarized: recall them where they matter [#1, #95, #97, #99]")
	require.Len(t, summary.Faults, 50)
	stacks := slices.DeleteFunc(slices.Clone(summary.Faults), func(f summarizers.Fault) bool { return f.Stack == "" })
	require.Len(t, stacks, 8)
}

// Whatever steps have bugs, the summary passes the checks and keeps the user's requests.
func TestNoBugEndsASummary(t *testing.T) {
	t.Parallel()
	stages := []string{
		summarizers.StageFocus, summarizers.StagePrevious, summarizers.StageLead, summarizers.StageMessage, summarizers.StageSettle,
		summarizers.StagePlan,
	}
	rapid.Check(t, func(rt *rapid.T) {
		rounds := planted.Rounds(rapid.Uint64().Draw(rt, "seed"), planted.Language(rapid.IntRange(0, 1).Draw(rt, "language")), 2, smallBudget)
		first := written(t, extractive.New(), &summarizers.Request{Messages: rounds[0].Messages, MaxTokens: 1500})
		at := rapid.SampledFrom(stages).Draw(rt, "stage")
		from, every := rapid.IntRange(0, 5).Draw(rt, "from"), rapid.IntRange(1, 5).Draw(rt, "every")
		step, struck := 0, 0
		broken := failing(func(stage string, _ uint32, _ bool) bool {
			if stage != at {
				return false
			}
			step++
			if step > from && (step-from-1)%every == 0 {
				struck++
				return true
			}
			return false
		})
		req := &summarizers.Request{
			Kind: rapid.SampledFrom(kinds).Draw(rt, "kind"), Lead: rounds[0].Messages[:2], Messages: rounds[1].Messages,
			Sections: sessiontest.Sections(rt), PreviousSummary: first.Text, Focus: "billing",
			MaxTokens: rapid.Uint32Range(64, 6000).Draw(rt, "budget"),
		}
		summary := written(t, broken, req)
		require.Len(rt, summary.Faults, struck)
		require.True(rt, utf8.ValidString(summary.Text))
		requireSections(t, summary.Text, req.Kind, req.Sections)
		again := written(t, extractive.New(), &summarizers.Request{
			Kind: req.Kind, Sections: req.Sections, PreviousSummary: summary.Text, MaxTokens: req.MaxTokens,
		})
		require.Empty(rt, again.Faults)
	})
}

// If no plan could be made, the summary has the last request, the previous summary and earlier requests.
func TestSummaryWithoutAPlanHoldsWhatNeedsNone(t *testing.T) {
	t.Parallel()
	broken := failing(func(stage string, _ uint32, _ bool) bool { return stage == summarizers.StagePlan })
	before := written(t, extractive.New(), &summarizers.Request{MaxTokens: 1000, Messages: []*compactordv1.LoggedMessage{
		userMessage(0, "Port the parser to `parse.go`. Never push to the main branch."),
	}})
	req := &summarizers.Request{
		PreviousSummary: before.Text + "\n## Notes of another tool\n- The port is 8080.\n", MaxTokens: 1000,
		Messages: []*compactordv1.LoggedMessage{
			userMessage(3, "# Write the tests of the lexer.\n- [ ] all of [#9] them"), assistantMessage(4, "I wrote them."), userMessage(5, "# Now the docs."),
		},
	}
	summary := written(t, broken, req)
	require.Equal(t, strings.TrimSpace(`
## Goal
\# Now the docs. [#5]
Port the parser to `+"`parse.go`"+`. [#0]

## Constraints & Preferences
- Never push to the main branch. [#0]

## Critical Context
- The messages could not be summarized: only requests of the user and an earlier summary are here [#3, #5]
- The port is 8080.
- Request: # Write the tests of the lexer. ⏎ - [ ] all of [\#9] them [#3]`), summary.Text)
	for budget := uint32(1); budget < 300; budget++ {
		req.MaxTokens = budget
		req.Count, req.Replaces = chars4, 1<<30
		s, err := broken.Summarize(t.Context(), req, &listener{})
		if err != nil {
			var refused *summarizers.CheckError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, summarizers.CheckBudget, refused.Check)
			require.Less(t, budget, uint32(3))
			continue
		}
		require.NoError(t, summarizers.Check(req, s), "%d: %s", budget, s.Text)
		require.True(t, strings.Contains(s.Text, `\# N`) || budget < 60, "%d: %s", budget, s.Text)
	}
}

// A line of the previous summary that cannot be parsed is kept unchanged.
func TestLineOfASummaryThatCannotBeReadIsKept(t *testing.T) {
	t.Parallel()
	begun := 0
	broken := failing(func(stage string, _ uint32, done bool) bool {
		if stage != summarizers.StagePrevious || done {
			return false
		}
		begun++
		return begun%2 == 1
	})
	summary := written(t, broken, &summarizers.Request{
		PreviousSummary: "# Notes\n- The **port** is 8080. [#3]\nAnd the host is `a.b`.", MaxTokens: 500,
	})
	require.Equal(t, "- And the host is `a.b`.\n- The **port** is 8080. [#3]", below(summary.Text, "Critical Context"))
	require.Len(t, summary.Faults, 5, "three lines, and two of three steps at the end")
}

// A text without headings that begins like an error was taken for one, and so never accepted.
func TestRequestThatOpensLikeAnErrorIsASummary(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"I cannot log in any more, mend it.", "Error in the parser: mend it.", "抱歉，修一下登录。", "Sorry, mend the parser."} {
		for _, s := range []*extractive.Summarizer{
			extractive.New(), failing(func(stage string, _ uint32, _ bool) bool { return stage == summarizers.StagePlan }),
		} {
			req := &summarizers.Request{
				Messages: []*compactordv1.LoggedMessage{userMessage(0, said)}, MaxTokens: 30, Replaces: 1000, Count: chars4,
			}
			summary, err := s.Summarize(t.Context(), req, &listener{})
			require.NoError(t, err)
			require.NoError(t, summarizers.Check(req, summary), summary.Text)
			require.Contains(t, summary.Text, said[:3])
		}
	}
}

// A bug hides neither the end of the context nor that of the goroutine.
func TestBugsDoNotHideTheEndOfTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	broken := extractive.WithProbe(func(stage string, index uint32, _ bool) {
		if stage == summarizers.StageMessage && index == 1 {
			cancel(errEnough)
			panic(fmt.Errorf("while it was ended: %w", errEnough))
		}
	})
	var l listener
	s, err := broken.Summarize(ctx, &summarizers.Request{
		Messages: []*compactordv1.LoggedMessage{userMessage(0, "a b c d"), userMessage(1, "e f g h"), userMessage(2, "i j k l")}, MaxTokens: 100, Count: chars4,
	}, &l)
	require.ErrorIs(t, err, errEnough)
	require.Nil(t, s)
	require.Len(t, l.read, 2)
	require.Empty(t, l.texts)
}

func TestBugsDoNotHideTheEndOfTheGoroutine(t *testing.T) {
	t.Parallel()
	for _, at := range []string{summarizers.StageMessage, summarizers.StagePlan} {
		returned, ended := false, make(chan struct{})
		leaving := extractive.WithProbe(func(stage string, _ uint32, _ bool) {
			if stage == at {
				runtime.Goexit()
			}
		})
		go func() {
			defer close(ended)
			_, _ = leaving.Summarize(t.Context(), &summarizers.Request{
				Messages: []*compactordv1.LoggedMessage{userMessage(0, "a b c d")}, MaxTokens: 100, Count: chars4,
			}, &listener{})
			returned = true
		}()
		<-ended
		require.False(t, returned, at)
	}
}

// If examining the lines of a result fails, the result is reduced to its head and tail.
func TestResultWhoseLinesCannotBeReadIsCut(t *testing.T) {
	t.Parallel()
	for _, from := range []int{0, 1, 2, 3} {
		step := -1
		broken := failing(func(stage string, _ uint32, _ bool) bool {
			step++
			return stage == summarizers.StageResult && step >= from
		})
		req := &summarizers.Request{
			Kind: summarizers.Observation, MaxTokens: 300, Replaces: 20000, Count: chars4,
			Result: &summarizers.ToolResult{Index: 7, Text: output(2000)},
		}
		s, err := broken.Summarize(t.Context(), req, &listener{})
		require.NoError(t, err)
		require.NoError(t, summarizers.Check(req, s))
		require.True(t, strings.HasPrefix(s.Text, "compiling unit 0 of 2000\n"), s.Text)
		require.True(t, strings.HasSuffix(s.Text, "compiling unit 1999 of 2000"), s.Text)
		require.NotEmpty(t, s.Faults)
		require.EqualValues(t, 7, s.Faults[0].Index)
	}
}

// A panic of the caller's counter is the caller's bug, and not hidden.
func TestBugsOfTheCallerAreTheirs(t *testing.T) {
	t.Parallel()
	require.PanicsWithError(t, "no count", func() {
		_, _ = extractive.New().Summarize(t.Context(), &summarizers.Request{
			Messages: []*compactordv1.LoggedMessage{userMessage(0, "a b c d")}, MaxTokens: 100,
			Count: func(string) uint32 { panic(errors.New("no count")) },
		}, &listener{})
	})
}

// If only the goal of the previous summary fits and it is just the title of a section, it does not count as that
// section.
func TestGoalThatIsATitleIsASummary(t *testing.T) {
	t.Parallel()
	for title, set := range map[string][]*compactordv1.Section{
		"Goal:":          session.StandardSections(),
		"Next Steps:":    sessiontest.SectionLists()["without_files"],
		"Current Focus:": sessiontest.CodeSections(),
		"Task Summary:":  sessiontest.SectionLists()["recent_work"],
	} {
		m := userMessage(0, "Done.")
		m.Message.Role = compactordv1.Role_ROLE_ASSISTANT
		req := &summarizers.Request{
			Messages: []*compactordv1.LoggedMessage{m}, PreviousSummary: "## Goal\n" + title, Sections: set,
			MaxTokens: chars4(`\` + title), Replaces: 1000, Count: chars4,
		}
		summary, err := extractive.New().Summarize(t.Context(), req, &listener{})
		require.NoError(t, err)
		require.NoError(t, summarizers.Check(req, summary), summary.Text)
		require.Equal(t, `\`+title, summary.Text)
	}
}

// Quotes are gathered in a goroutine of their own. A bug there leaves out the quotes of one message, and the end of that
// goroutine leaves out the later ones.
func TestBugInGatheringLeavesOutQuotesOnly(t *testing.T) {
	t.Parallel()
	var log []*compactordv1.LoggedMessage
	for i := range uint32(400) {
		log = append(log, userMessage(i, fmt.Sprintf("The table `audit_rows_%d` stays.", i)))
	}
	req := func() *summarizers.Request { return &summarizers.Request{MaxTokens: 1000, Messages: log} }
	broken := failing(func(stage string, index uint32, _ bool) bool { return stage == summarizers.StageQuotes && index > 200 })
	summary := written(t, broken, req())
	require.Len(t, summary.Faults, 199)
	require.Contains(t, summary.Text, "- Last request: The table `audit_rows_399` stays. [#399]")
	require.Contains(t, summary.Text, "audit_rows_199, audit_rows_200")
	require.NotContains(t, summary.Text, "audit_rows_201")
	ends := extractive.WithProbe(func(stage string, index uint32, _ bool) {
		if stage == summarizers.StageQuotes && index == 100 {
			runtime.Goexit()
		}
	})
	summary = written(t, ends, req())
	require.Contains(t, summary.Text, "- Last request: The table `audit_rows_399` stays. [#399]")
	require.Contains(t, summary.Text, "`audit_rows_99` stays. [#99]")
	require.NotContains(t, summary.Text, "audit_rows_100", "and no message after it is quoted")
}
