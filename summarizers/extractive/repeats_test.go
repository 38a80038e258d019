package extractive_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive/internal/planted"
)

var (
	aroundText = regexp.MustCompile(`^\s*(- )?(\[#\d+( to #\d+)?\] )?(\[ \] )?((Last request|Last user message|Request|Constraint|Done|Last step|In progress|Open error|Decision|Next|Note|File|Asked and answered|Earlier): )?(\((developer|system)\) )?\\?`)
	atItsEnd   = regexp.MustCompile(`( \(replaces \[#\d+\]\))? \[#[\d, #]+\]$`)
)

// bodyOf returns the text of a line of a digest, with single spaces and without marks.
func bodyOf(line string) string {
	body := atItsEnd.ReplaceAllString(aroundText.ReplaceAllString(line, ""), "")
	body = strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(body, "⏎", " "), "**", ""), `[\#`, "[#")
	return strings.Join(strings.Fields(body), " ")
}

// requireNoRepeats requires that no line of a digest of three words or more stands within another one.
func requireNoRepeats(tb testing.TB, where, text string) {
	tb.Helper()
	var bodies []string
	for line := range strings.Lines(onOneLine(text)) {
		if body := bodyOf(strings.TrimSuffix(line, "\n")); body != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(body, "names: ") {
			bodies = append(bodies, body)
		}
	}
	for i, body := range bodies {
		for j, other := range bodies {
			if i == j || strings.Count(body, " ") < 2 {
				continue
			}
			if at := strings.Index(other, body); at == 0 || at > 0 && other[at-1] == ' ' {
				require.Fail(tb, "a line stands twice", "%s: %q within %q in:\n%s", where, body, other, text)
			}
		}
	}
}

// TestNoLineStandsTwice: neither as a statement nor as a quote.
func TestNoLineStandsTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		amounts := planted.Amounts{
			User: rapid.IntRange(0, 6).Draw(rt, "user"), Developer: rapid.IntRange(0, 3).Draw(rt, "developer"), System: rapid.IntRange(0, 3).Draw(rt, "system"),
			Decisions: rapid.IntRange(0, 6).Draw(rt, "decisions"), Paths: rapid.IntRange(0, 8).Draw(rt, "paths"), Codes: rapid.IntRange(0, 5).Draw(rt, "codes"),
			Todos: rapid.IntRange(0, 5).Draw(rt, "todos"), Turns: rapid.IntRange(1, 5).Draw(rt, "turns"), Steps: 2, OutputBytes: 2000,
		}
		rounds := planted.Rounds(rapid.Uint64().Draw(rt, "seed"), planted.Language(rapid.IntRange(0, 1).Draw(rt, "language")), 3, amounts)
		budget := rapid.Uint32Range(200, 12000).Draw(rt, "budget")
		text := ""
		for i, round := range rounds {
			text = summarize(t, &summarizers.Request{Messages: round.Messages, PreviousSummary: text, MaxTokens: budget})
			requireNoRepeats(t, fmt.Sprintf("round %d", i), text)
		}
	})
}

func TestNoLineOfTheCorpusStandsTwice(t *testing.T) {
	t.Parallel()
	for _, path := range corpusFiles(t) {
		log, _ := loadConversation(t, path)
		lead, log := splitLead(log)
		half := len(log) / 2
		for _, budget := range []uint32{400, 1000, 4000, 20000} {
			text := summarize(t, &summarizers.Request{Lead: lead, Messages: log[:half], MaxTokens: budget})
			requireNoRepeats(t, fmt.Sprintf("%s at %d", path, budget), text)
			text = summarize(t, &summarizers.Request{Lead: lead, Messages: log[half:], PreviousSummary: text, MaxTokens: budget})
			requireNoRepeats(t, fmt.Sprintf("%s at %d, merged", path, budget), text)
		}
	}
}

// TestARuleWithinTheLastRequestIsNotLost: a rule that only the line of the last request says has a line of its own once
// another request is the last one.
func TestARuleWithinTheLastRequestIsNotLost(t *testing.T) {
	t.Parallel()
	rule := "Never touch the folder `vendor`, and the tests must stay as they are."
	var c conversation
	c.user("Add paging to the export of the shop.")
	c.says("Done.")
	c.user(rule)
	text := c.summary(t, "")
	require.Contains(t, below(text, "## Goal"), "- Last request: "+rule)
	for round := range 3 {
		from := len(c.log)
		c.user([]string{"Now rename the button.", "Then write the docs for it.", "And translate the label."}[round])
		c.says("Done.")
		text = summarize(t, &summarizers.Request{Messages: c.log[from:], PreviousSummary: text, MaxTokens: 2000})
		require.Contains(t, below(text, "## Constraints & Preferences"), "- "+rule+" [#2]")
		require.Equal(t, 1, strings.Count(text, rule))
	}
}

// TestAWordBesideARuleStaysIfItIsAValue: of a request that is a rule otherwise, a task and a value stay.
func TestAWordBesideARuleStaysIfItIsAValue(t *testing.T) {
	t.Parallel()
	for said, left := range map[string]string{
		"Room 8080. Never use semicolons in any of the scripts that we run for the shop and the depot.":        "Room 8080.",
		"Fix the pager. Never use semicolons in any of the scripts that we run for the shop and the depot.":    "Fix the pager.",
		"Seriously, folks! Never use semicolons in any of the scripts that we run for the shop and the depot.": "",
	} {
		var c conversation
		c.user("Add paging to the export of the shop.")
		c.says("Done.")
		c.user("Never use semicolons in any of the scripts that we run for the shop and the depot.")
		c.says("Good.")
		c.user(said)
		c.says("Done.")
		c.user("Now rename the button of the export.")
		c.says("Done.")
		text := c.summary(t, "")
		require.Contains(t, below(text, "## Constraints & Preferences"), "Never use semicolons in any of the scripts that we run for the shop and the depot.")
		earlier := "- Earlier: "
		if left != "" {
			require.Contains(t, text, earlier+left+" [#4]")
		} else {
			require.NotContains(t, text, earlier)
		}
	}
}
