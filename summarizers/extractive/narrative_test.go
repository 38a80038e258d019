package extractive_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/sessiontest"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
	"github.com/compactord/compactord/summarizers/extractive/evidence"
	"github.com/compactord/compactord/summarizers/extractive/internal/planted"
)

// withQuotes returns a model's summary with quotes.
func withQuotes(tb testing.TB, req *summarizers.Request, narrative string) string {
	tb.Helper()
	if req.Count == nil {
		req.Count = chars4
	}
	text, faults, err := extractive.WithQuotes(tb.Context(), req, narrative)
	require.NoError(tb, err)
	require.Empty(tb, faults)
	return text
}

const modelsNarrative = "## Goal\nAdd paging to the export [#0]\n\n## Critical Context\n- The limit is a constant [#4]\n\n## Relevant Files\n- export/pager.go"

func TestQuotesAreAddedToAModelsSummary(t *testing.T) {
	t.Parallel()
	c := conversationWithNames()
	req := &summarizers.Request{Messages: c.log, MaxTokens: 2000}
	text := withQuotes(t, req, modelsNarrative)
	require.Equal(t, strings.Replace(modelsNarrative, "[#4]\n", "[#4]\n> [#2] limit := min(size, maxPageRows)\n"+
		"> [#4] export/limits.go:7: const maxPageRows = 500 // rows of one page\n", 1), text)
	require.Equal(t, modelsNarrative, extractive.WithoutQuotes(text, nil), "they can be removed")

	// What the model or a kept message says is not quoted.
	all := strings.Replace(modelsNarrative, "a constant", "maxPageRows = 500 in export/limits.go:7", 1)
	require.Equal(t, all, withQuotes(t, req, all))
	req.Kept = []*compactordv1.LoggedMessage{userMessage(9, "Mind that maxPageRows stands in export/limits.go:7.")}
	require.Equal(t, modelsNarrative, withQuotes(t, req, modelsNarrative))
}

// Quotes of the summary before compete with those of the new messages, and the model does not get them.
func TestQuotesOfThePreviousSummaryCompete(t *testing.T) {
	t.Parallel()
	previous := withQuotes(t, &summarizers.Request{Messages: conversationWithNames().log, MaxTokens: 2000}, modelsNarrative)
	later := []*compactordv1.LoggedMessage{userMessage(6, "Now look at sortByColumn."), assistantMessage(7, "sortByColumn reads columnOrder.")}
	req := &summarizers.Request{Messages: later, PreviousSummary: previous, MaxTokens: 2000}
	text := withQuotes(t, req, modelsNarrative)
	require.Equal(t, []string{
		"> [#2] limit := min(size, maxPageRows)",
		"> [#4] export/limits.go:7: const maxPageRows = 500 // rows of one page",
		"- [#6] Now look at sortByColumn.",
		"> [#7] names: columnOrder",
	}, evidenceOf(text), text)

	// A small budget is for the newest.
	req.MaxTokens = chars4(modelsNarrative) + 14
	require.Equal(t, []string{"> [#7] names: sortByColumn"}, evidenceOf(withQuotes(t, req, modelsNarrative)))
}

func TestSummaryWithoutQuotes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ summary, want string }{
		"no quotes":    {"## Goal\nPort it.\n\n## Critical Context\n(none)\n", "## Goal\nPort it.\n\n## Critical Context\n(none)\n"},
		"only a row":   {"## Goal\nPort it.\n\n## Critical Context\n- [#5 to #9] names: oldNameAlpha", "## Goal\nPort it.\n"},
		"nothing else": {"## Critical Context\n- [#5] names: oldNameAlpha", "## Critical Context\n- [#5] names: oldNameAlpha"},
		"quotes between": {
			"## Goal\nPort it.\n## Critical Context\n- one [#1]\n- [#2] limit := maxPageRows\n  return maxPageRows\n## Next Steps\n- two",
			"## Goal\nPort it.\n## Critical Context\n- one [#1]\n## Next Steps\n- two",
		},
		"statements": {
			"## Constraints\n- [#3] Never touch main_test.go.\n\n## Critical Context\n- [#7] Deploy to the blue cluster\n- parseHeader fails [#8]",
			"## Constraints\n- [#3] Never touch main_test.go.\n\n## Critical Context\n- [#7] Deploy to the blue cluster\n- parseHeader fails [#8]",
		},
		"text after quotes": {
			"## Critical Context\n- [#2] limit := maxPageRows\nparseHeader fails.", "## Critical Context\nparseHeader fails.",
		},
	} {
		require.Equal(t, c.want, extractive.WithoutQuotes(c.summary, nil), name)
	}
	sections := []*compactordv1.Section{{Title: "其他", Role: compactordv1.SectionRole_SECTION_ROLE_CONTEXT}}
	require.Equal(t, "## 其他\n- eins", extractive.WithoutQuotes("## 其他\n- eins\n- [#2] limit := maxPageRows", sections))
}

// A model's line must not be taken for a quote.
func TestCitationsOfAModelMoveToTheEnd(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"- [#12] parseHeader fails":            "- parseHeader fails [#12]",
		"  * [#12, #13] parseHeader fails":     "  * parseHeader fails [#12, #13]",
		"2. [#12 to #20] parseHeader fails":    "2. parseHeader fails [#12 to #20]",
		"- parseHeader fails [#12]":            "- parseHeader fails [#12]",
		"[#12] parseHeader fails":              "[#12] parseHeader fails",
		"- [#12]":                              "- [#12]",
		`- [\#12] parseHeader fails`:           `- [\#12] parseHeader fails`,
		"- see [#12] for parseHeader":          "- see [#12] for parseHeader",
		"- [ ] [#12] parseHeader must be read": "- [ ] [#12] parseHeader must be read",
	} {
		require.Equal(t, "## Critical Context\n"+want+"\nend", extractive.CitedAtEnd("## Critical Context\n"+line+"\nend"))
	}
}

func TestNoPartOfASecretIsQuotedBesideAModelsSummary(t *testing.T) {
	t.Parallel()
	secret := "BEGINKEY\n" + strings.Repeat("partOfKey4711Abc\n", 3) + "ENDKEY"
	var c conversation
	c.tool("read", `{"path":"key.pem"}`, "keepThisName = 1 of these\n"+secret+"\nkeepThatName = 2 of these", false)
	req := &summarizers.Request{Messages: c.log, MaxTokens: 2000}
	require.Contains(t, withQuotes(t, req, modelsNarrative), "partOfKey4711Abc")
	req.Redact = func(text string) string { return strings.ReplaceAll(text, secret, "[REDACTED]") }
	text := withQuotes(t, req, modelsNarrative)
	require.NotContains(t, text, "partOfKey")
	require.Contains(t, text, "keepThisName = 1")
	require.Contains(t, text, "keepThatName = 2")
}

func TestQuotesBesideAModelsSummaryAreHalfOfWhatTheyReplace(t *testing.T) {
	t.Parallel()
	var c conversation
	for i := range 400 {
		c.says(fmt.Sprintf("parserState%d reads tokenKind%d in src/state%d.go", i, i, i))
	}
	all := withQuotes(t, &summarizers.Request{Messages: c.log, MaxTokens: 4000}, modelsNarrative)
	require.LessOrEqual(t, chars4(all), uint32(4000))
	require.Greater(t, chars4(all), uint32(3800), "the budget is used")
	half := withQuotes(t, &summarizers.Request{Messages: c.log, MaxTokens: 4000, Replaces: 2000}, modelsNarrative)
	require.LessOrEqual(t, chars4(half), uint32(1000))
	require.Greater(t, chars4(half), uint32(900))
	none := &summarizers.Request{Messages: c.log, MaxTokens: chars4(modelsNarrative)}
	require.Equal(t, modelsNarrative, withQuotes(t, none, modelsNarrative))
}

func TestAddingQuotesEndsWithTheContext(t *testing.T) {
	t.Parallel()
	cause := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	req := &summarizers.Request{Messages: conversationWithNames().log, MaxTokens: 2000, Count: chars4}
	_, _, err := extractive.WithQuotes(ctx, req, modelsNarrative)
	require.ErrorIs(t, err, cause)
}

// fewTurns is a short conversation.
var fewTurns = planted.Amounts{User: 2, System: 1, Decisions: 2, Paths: 4, Codes: 3, Todos: 2, Turns: 3, Steps: 2, OutputBytes: 500}

// Whatever the sections, the budget and the model's text: over several rounds each name that is quoted is in the
// conversation, the narrative is unchanged, the budget is kept, and the model never gets a quote.
func TestQuotesBesideAModelsSummary(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		set := sessiontest.Sections(rt)
		kind := summarizers.Kind(rapid.IntRange(0, 1).Draw(rt, "kind"))
		count := estimators[rapid.SampledFrom([]string{"chars4", "bytes", "dense"}).Draw(rt, "estimator")]
		lang := planted.Language(rapid.IntRange(0, 1).Draw(rt, "language"))
		rounds := planted.Rounds(rapid.Uint64().Draw(rt, "seed"), lang, 3, fewTurns)
		var said strings.Builder
		previous := ""
		for i, round := range rounds {
			said.WriteString(saidIn(round.Messages))
			narrative := strings.Replace(emptySections(kind, set), "(none)", fmt.Sprintf("- Round %d is done [#1]", i), 1)
			req := &summarizers.Request{
				Kind: kind, Sections: set, Messages: round.Messages, PreviousSummary: previous, PreviousSections: set, Count: count,
				MaxTokens: count(narrative) + rapid.Uint32Range(0, 3000).Draw(rt, "room"),
			}
			text, faults, err := extractive.WithQuotes(t.Context(), req, narrative)
			require.NoError(rt, err)
			require.Empty(rt, faults)
			require.LessOrEqual(rt, count(text), max(req.MaxTokens, count(narrative)))
			again, _, _ := extractive.WithQuotes(t.Context(), req, narrative)
			require.Equal(rt, text, again, "the same request gives the same quotes")

			rest := text
			for line := range strings.Lines(narrative) {
				if line = strings.TrimSpace(line); line != "" && line != "(none)" {
					_, after, found := strings.Cut(rest, line)
					require.True(rt, found, "%q is not in %q", line, rest)
					rest = after
				}
			}
			plain := extractive.WithoutQuotes(text, set)
			for _, line := range strings.Split(text, "\n") {
				if !strings.HasPrefix(line, "#") && !strings.Contains(plain, line) {
					evidence.Names(line, func(n evidence.Name, _ int) { require.Contains(rt, said.String(), n.Text, line) })
				}
			}
			if kind == summarizers.History {
				require.NotContains(rt, plain, "names: ")
				require.Empty(rt, leadingCitations(plain))
			}
			previous = text
		}
	})
}

// leadingCitations returns the lines of a summary that begin with a citation.
func leadingCitations(summary string) (lines []string) {
	for line := range strings.Lines(summary) {
		if strings.HasPrefix(line, "- [#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// saidIn returns all texts of messages.
func saidIn(messages []*compactordv1.LoggedMessage) string {
	var said strings.Builder
	for _, m := range messages {
		for _, text := range textsOf(m) {
			said.WriteString(*text + "\n")
		}
		for _, p := range m.GetMessage().GetParts() {
			said.WriteString(p.GetToolCall().GetArguments() + "\n")
		}
	}
	return said.String()
}
