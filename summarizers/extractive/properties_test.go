package extractive_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
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

// requireSections requires all headings, once and in order, and text below each.
func requireSections(tb testing.TB, text string, kind summarizers.Kind, set []*compactordv1.Section) {
	tb.Helper()
	var got []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	headings := summarizers.Headings(kind, set)
	next := 0
	for i, line := range got {
		at := slices.IndexFunc(headings[next:], func(h summarizers.Heading) bool { return h.Line() == line })
		require.GreaterOrEqual(tb, at, 0, "%s is no section, or not in order: %s", line, text)
		if next += at; summarizers.Groups(headings, next) {
			require.Greater(tb, len(got), i+1, text)
			require.True(tb, strings.HasPrefix(got[i+1], strings.Repeat("#", headings[next].Level+1)), "%s groups none: %s", line, text)
		}
		next++
	}
	require.NotEmpty(tb, got, text)
	require.NotContains(tb, "\n"+strings.TrimPrefix(text, headings[0].Line()+"\n(none)")+"\n", "\n(none)\n")
}

// emptySections is a summary with all headings and nothing below them. Sections of a policy can have titles that are
// longer than the budget. The digest then leaves out the headings.
func emptySections(kind summarizers.Kind, set []*compactordv1.Section) string {
	var lines []string
	for _, h := range summarizers.Headings(kind, set) {
		lines = append(lines, h.Line()+"\n(none)\n")
	}
	return strings.Join(lines, "\n")
}

// requireCited requires that each line except headings cites a message. Of several lines that quote one message, the
// first does.
func requireCited(tb testing.TB, text string) {
	tb.Helper()
	quoted := false
	for line := range strings.Lines(onOneLine(text)) {
		if quoted && (strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "> ") && !strings.HasPrefix(line, "> [#")) {
			continue
		}
		line = strings.TrimSpace(line)
		quoted = strings.HasPrefix(line, "- [#") || strings.HasPrefix(line, "> [#")
		if line == "" || strings.HasPrefix(line, "#") || line == "(none)" {
			continue
		}
		require.NotEmpty(tb, summarizers.Citations(line), "not cited: %s", line)
	}
}

var estimators = map[string]func(string) uint32{
	"chars4": chars4,
	"bytes":  func(s string) uint32 { return uint32((len(s) + 3) / 4) },
	// Close to byte pair encodings for scripts without spaces.
	"dense": func(s string) uint32 {
		n := 0
		for _, r := range s {
			if r < 0x80 {
				n++
			} else {
				n += 5
			}
		}
		return uint32((n + 3) / 4)
	},
	"words": func(s string) uint32 { return uint32(len(strings.Fields(s))) },
	"greedy": func(s string) uint32 {
		return uint32(utf8.RuneCountInString(s))
	},
}

func TestBudgetIsKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		amounts := planted.Amounts{
			User: rapid.IntRange(0, 6).Draw(rt, "user"), Developer: rapid.IntRange(0, 3).Draw(rt, "developer"), System: rapid.IntRange(0, 3).Draw(rt, "system"),
			Decisions: rapid.IntRange(0, 6).Draw(rt, "decisions"), Paths: rapid.IntRange(0, 8).Draw(rt, "paths"), Codes: rapid.IntRange(0, 5).Draw(rt, "codes"),
			Todos: rapid.IntRange(0, 5).Draw(rt, "todos"), Turns: rapid.IntRange(1, 5).Draw(rt, "turns"), Steps: 2, OutputBytes: 2000,
		}
		lang := planted.Language(rapid.IntRange(0, 1).Draw(rt, "language"))
		name := rapid.SampledFrom([]string{"chars4", "bytes", "dense", "words", "greedy"}).Draw(rt, "estimator")
		kind := summarizers.Kind(rapid.IntRange(0, 1).Draw(rt, "kind"))
		set := sessiontest.Sections(rt)
		budget := rapid.Uint32Range(64, 20000).Draw(rt, "budget")
		rounds := planted.Rounds(rapid.Uint64().Draw(rt, "seed"), lang, 2, amounts)
		text := ""
		for _, round := range rounds {
			req := &summarizers.Request{
				Kind: kind, Sections: set, Messages: round.Messages, PreviousSummary: text, MaxTokens: budget, Count: estimators[name],
			}
			s, err := extractive.New().Summarize(t.Context(), req, &listener{})
			require.NoError(rt, err)
			require.Empty(rt, s.Faults)
			text = s.Text
			require.LessOrEqual(rt, req.Count(text), budget)
			require.True(rt, utf8.ValidString(text))
			if req.Count(emptySections(kind, set)) <= budget && (name != "greedy" || budget > 300) {
				requireSections(t, text, kind, set)
				requireCited(t, text)
			}
		}
	})
}

func TestBudgetsOneByOne(t *testing.T) {
	t.Parallel()
	round := planted.Rounds(7, planted.English, 1, smallBudget)[0]
	for budget := uint32(64); budget <= 700; budget += 3 {
		text := summarize(t, &summarizers.Request{Messages: round.Messages, MaxTokens: budget})
		requireSections(t, text, summarizers.History, session.StandardSections())
	}
}

func TestSameRequestSameSummary(t *testing.T) {
	t.Parallel()
	for _, lang := range languages {
		rounds := planted.Rounds(3, lang, 2, fiveRounds)
		write := func() string {
			first := summarize(t, &summarizers.Request{Messages: rounds[0].Messages, MaxTokens: 900})
			return summarize(t, &summarizers.Request{Messages: rounds[1].Messages, PreviousSummary: first, MaxTokens: 900, Focus: "billing"})
		}
		first := write()
		for range 10 {
			require.Equal(t, first, write())
		}
	}
}

func TestConstraintsOutliveAThousandMerges(t *testing.T) {
	t.Parallel()
	rounds := planted.Rounds(11, planted.English, 1, smallBudget)
	text := summarize(t, &summarizers.Request{Messages: rounds[0].Messages, MaxTokens: 2000})
	small := planted.Amounts{Paths: 1, Decisions: 1, Codes: 1, Todos: 1, Turns: 1, Steps: 1, OutputBytes: 500}
	index := uint32(len(rounds[0].Messages))
	for i := range 1000 {
		messages := planted.Rounds(uint64(100+i), planted.Language(i%2), 1, small)[0].Messages
		for _, m := range messages {
			m.Index = index
			index++
		}
		text = summarize(t, &summarizers.Request{Messages: messages, PreviousSummary: text, MaxTokens: 2000})
	}
	for _, f := range rounds[0].Facts {
		if f.Kind == planted.Constraint {
			requireLine(t, text, f.Text, f.Index)
		}
	}
	requireSections(t, text, summarizers.History, session.StandardSections())
}

// requireLine requires a line with the text that cites the message.
func requireLine(t *testing.T, summary, text string, index uint32) {
	t.Helper()
	require.True(t, slices.ContainsFunc(strings.Split(summary, "\n"), func(line string) bool {
		return strings.Contains(line, text) && slices.Contains(summarizers.Citations(line), index)
	}), "no line says %q and cites %d:\n%s", text, index, summary)
}

var sectionSets = [][]*compactordv1.Section{
	session.StandardSections(), sessiontest.CodeSections(),
	sessiontest.SectionLists()["without_files"], sessiontest.SectionLists()["recent_work"],
}

// A session may change its sections between two compactions. A summary with other sections then says the same, and so
// does one with the first sections again.
func TestSectionsMayChangeBetweenCompactions(t *testing.T) {
	t.Parallel()
	for _, lang := range languages {
		for _, first := range sectionSets {
			for _, then := range sectionSets {
				round := planted.Rounds(7, lang, 1, oneRound)[0]
				text := summarize(t, &summarizers.Request{Sections: first, Messages: round.Messages, MaxTokens: 3000})
				changed := summarize(t, &summarizers.Request{Sections: then, PreviousSummary: text, MaxTokens: 4000})
				requireSections(t, changed, summarizers.History, then)
				require.Equal(t, summarizers.Citations(text), summarizers.Citations(changed))
				back := summarize(t, &summarizers.Request{Sections: first, PreviousSummary: changed, MaxTokens: 5000})
				requireSameLines(t, text, back)
			}
		}
	}
}

func TestWithoutMessagesThePreviousSummaryStays(t *testing.T) {
	t.Parallel()
	for _, lang := range languages {
		for _, set := range sectionSets {
			for _, kind := range []summarizers.Kind{summarizers.History, summarizers.TurnPrefix} {
				for seed := range uint64(5) {
					round := planted.Rounds(seed, lang, 1, oneRound)[0]
					text := summarize(t, &summarizers.Request{Kind: kind, Sections: set, Messages: round.Messages, MaxTokens: 3000})
					again := summarize(t, &summarizers.Request{Kind: kind, Sections: set, PreviousSummary: text, MaxTokens: 3500})
					requireSameLines(t, text, again)
				}
			}
		}
	}
}

// requireSameLines requires that two summaries have the same lines in any order.
func requireSameLines(t *testing.T, a, b string) {
	t.Helper()
	lines := func(s string) []string {
		list := strings.Split(s, "\n")
		slices.Sort(list)
		return list
	}
	require.Equal(t, lines(a), lines(b))
}

func TestProgressNeverFalls(t *testing.T) {
	t.Parallel()
	round := planted.Rounds(1, planted.English, 1, fiveRounds)[0]
	var l listener
	total := uint32(0)
	for _, m := range round.Messages {
		total += m.GetTokens()
	}
	_, err := extractive.New().Summarize(t.Context(), &summarizers.Request{Messages: round.Messages, MaxTokens: 500, Count: chars4}, &l)
	require.NoError(t, err)
	require.True(t, slices.IsSorted(l.read))
	require.Equal(t, total, l.read[len(l.read)-1])
	headings := 0
	for line := range strings.Lines(strings.Join(l.texts, "")) {
		if strings.HasPrefix(line, "#") && strings.TrimSpace(line) != "## Progress" {
			headings++
		}
	}
	require.Len(t, l.texts, headings, "one piece a section, with the heading above a group before its first")
}

// canceller ends the context after a number of tokens were read.
type canceller struct {
	listener
	cancel context.CancelCauseFunc
	after  int
}

var errEnough = errors.New("enough")

func (c *canceller) Read(tokens uint32) {
	c.listener.Read(tokens)
	if len(c.read) == c.after {
		c.cancel(errEnough)
	}
}

func TestCancelWithinOneMessage(t *testing.T) {
	t.Parallel()
	round := planted.Rounds(1, planted.English, 1, fiveRounds)[0]
	for _, after := range []int{1, 5, len(round.Messages)} {
		ctx, cancel := context.WithCancelCause(t.Context())
		c := &canceller{cancel: cancel, after: after}
		s, err := extractive.New().Summarize(ctx, &summarizers.Request{Messages: round.Messages, MaxTokens: 500, Count: chars4}, c)
		require.ErrorIs(t, err, errEnough)
		require.Nil(t, s)
		require.Len(t, c.read, after)
		require.Empty(t, c.texts)
	}
}

func TestTheEstimatorIsAskedSparingly(t *testing.T) {
	t.Parallel()
	round := planted.Rounds(1, planted.Chinese, 1, oneRound)[0]
	for name, count := range estimators {
		asked := 0
		summarize(t, &summarizers.Request{Messages: round.Messages, MaxTokens: 2000, Count: func(s string) uint32 {
			asked++
			return count(s)
		}})
		require.LessOrEqual(t, asked, 10, name) // One of them is the test's own.
	}
}

func TestABudgetThatHoldsNothingIsAnError(t *testing.T) {
	t.Parallel()
	req := &summarizers.Request{
		Messages: []*compactordv1.LoggedMessage{userMessage(0, "Fix the parser.")}, MaxTokens: 64, Count: func(string) uint32 { return 65 },
	}
	_, err := extractive.New().Summarize(t.Context(), req, &listener{})
	require.ErrorContains(t, err, "64")
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	for _, path := range corpusFiles(t) {
		log, _ := loadConversation(t, path)
		lead, log := splitLead(log)
		for _, budget := range []uint32{64, 500, 2000} {
			text := summarize(t, &summarizers.Request{Lead: lead, Messages: log, MaxTokens: budget})
			where := fmt.Sprintf("%s at %d", path, budget)
			requireSections(t, text, summarizers.History, session.StandardSections())
			requireCited(t, text)
			last := -1
			for i, m := range log {
				if m.GetMessage().GetRole() == compactordv1.Role_ROLE_USER && len(m.GetMessage().GetParts()) > 0 {
					last = i
				}
			}
			if last >= 0 && budget >= 500 {
				require.Contains(t, summarizers.Citations(text), log[last].GetIndex(), where)
			}
			requireFixedPoint(t, where, text, budget)
		}
		for _, kind := range []summarizers.Kind{summarizers.History, summarizers.TurnPrefix} {
			text := summarize(t, &summarizers.Request{Kind: kind, Sections: sessiontest.CodeSections(), Messages: log, MaxTokens: 700})
			requireSections(t, text, kind, sessiontest.CodeSections())
		}
	}
}

// requireFixedPoint requires that a summary merged with nothing keeps its structure and has no new citations.
func requireFixedPoint(t *testing.T, where, text string, budget uint32) {
	t.Helper()
	again := summarize(t, &summarizers.Request{PreviousSummary: text, MaxTokens: budget})
	requireSections(t, again, summarizers.History, session.StandardSections())
	require.Subset(t, append(summarizers.Citations(text), 0), append(summarizers.Citations(again), 0), where)
}

// userMessage returns a request of the user.
func userMessage(index uint32, text string) *compactordv1.LoggedMessage {
	return &compactordv1.LoggedMessage{Index: index, Tokens: chars4(text), Message: &compactordv1.Message{
		Role: compactordv1.Role_ROLE_USER, Origin: compactordv1.Origin_ORIGIN_CLIENT, Parts: []*compactordv1.Part{textPart(text)},
	}}
}

// Whatever the titles and roles of a policy's sections, a summary has exactly these and passes the checks. The next
// summary says the same, with these sections and with others.
func TestOwnSections(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		first, then := sessiontest.Sections(rt), sessiontest.Sections(rt)
		lang := languages[rapid.SampledFrom(slices.Sorted(maps.Keys(languages))).Draw(rt, "language")]
		round := planted.Rounds(rapid.Uint64Range(0, 5).Draw(rt, "seed"), lang, 1, oneRound)[0]
		write := func(req *summarizers.Request) string {
			req.Replaces, req.Count = 1<<20, chars4
			s, err := extractive.New().Summarize(t.Context(), req, &listener{})
			require.NoError(rt, err)
			require.Empty(rt, s.Faults)
			require.NoError(rt, summarizers.Check(req, s), s.Text)
			require.Equal(rt, s.Text, summarizers.Stored(req, s.Text), "it is stored as it was written")
			requireSections(t, s.Text, summarizers.History, req.Sections)
			return s.Text
		}
		text := write(&summarizers.Request{Sections: first, Messages: round.Messages, MaxTokens: 6000})
		again := write(&summarizers.Request{Sections: first, PreviousSummary: text, PreviousSections: first, MaxTokens: 8000})
		requireSameLines(t, text, again)
		changed := write(&summarizers.Request{Sections: then, PreviousSummary: text, PreviousSections: first, MaxTokens: 8000})
		require.Equal(rt, summarizers.Citations(text), summarizers.Citations(changed), "%s\n\n%s", text, changed)
		back := write(&summarizers.Request{Sections: first, PreviousSummary: changed, PreviousSections: then, MaxTokens: 10_000})
		requireSameLines(t, text, back)
	})
}

// If no section begins with the goal, the goal has a label, and the next summary reads it as a request again. This also
// holds if the lines could not be chosen.
func TestGoalHasALabelInASectionForElse(t *testing.T) {
	t.Parallel()
	notes := []*compactordv1.Section{{Title: "Notizen", Role: compactordv1.SectionRole_SECTION_ROLE_CONTEXT}}
	messages := []*compactordv1.LoggedMessage{userMessage(0, "Please fix the parser in src/parse.go.")}
	text := summarize(t, &summarizers.Request{Sections: notes, Messages: messages, MaxTokens: 500})
	require.Equal(t, "## Notizen\n- Request: Please fix the parser in src/parse.go. [#0]", text)
	require.Equal(t, text, summarize(t, &summarizers.Request{
		Sections: notes, PreviousSummary: text, PreviousSections: notes, MaxTokens: 500,
	}))
	noPlan := failing(func(stage string, _ uint32, _ bool) bool { return stage == summarizers.StagePlan })
	text = written(t, noPlan, &summarizers.Request{
		Sections: append(notes, &compactordv1.Section{Title: "Beschlüsse", Role: compactordv1.SectionRole_SECTION_ROLE_DECISIONS}),
		Messages: messages, PreviousSummary: "## beschlüsse:\n- Port 8080 it is.", MaxTokens: 500,
	}).Text
	require.True(t, strings.HasPrefix(text, "## Notizen\n- Last request: Please fix the parser in src/parse.go. [#0]\n"), text)
	require.True(t, strings.HasSuffix(text, "## Beschlüsse\n- Port 8080 it is."), text)
}
