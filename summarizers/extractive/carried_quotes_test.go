package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// carriedFrom returns the summary of a previous summary alone.
func carriedFrom(t *testing.T, previous string) string {
	t.Helper()
	return summarize(t, &summarizers.Request{PreviousSummary: previous, MaxTokens: 2000})
}

// Lines of another writer that look like quotes, or come after one, stay statements with their citations.
func TestStatementsBesideQuotesStay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, previous, text string
		cites                []uint32
	}{
		{"a list below a quote", "- [#3] keepRows = 5 of them\n  - Never touch the production database. [#4]", "Never touch the production", []uint32{4}},
		{"lines after a quote", "- [#3] keepRows = 5 of them\nThe deployment [#4]\n  goes to the blue cluster. [#5]", "goes to the blue cluster.", []uint32{5}},
		{"a heading after a quote", "- [#3] keepRows = 5 of them\n## Notes\n  goes to the blue cluster. [#5]", "goes to the blue cluster.", []uint32{5}},
		{"three citations", "- [#1, #2, #3] keepRows is for the blue cluster", "keepRows is for the blue cluster", []uint32{1, 2, 3}},
		{"no space", "- [#3]keepRows is for the blue cluster", "keepRows is for the blue cluster", []uint32{3}},
		{"no list", "[#3] keepRows is for the blue cluster", "- keepRows is for the blue cluster [#3]", []uint32{3}},
		{"below a citation", "- [#3] The deployment:\n  goes to the blue cluster.", "goes to the blue cluster.", []uint32{3}},
		{"a list below a citation", "- [#3] The deployment\n  - goes to the blue cluster.", "goes to the blue cluster.", []uint32{3}},
		{"below another item", "- [#3] The blue one\n- The green one [#4]\n  goes to the cluster.", "- goes to the cluster.\n", nil},
		{"not below it", "- [#3] The blue one\nIt goes to the cluster.", "- It goes to the cluster.\n", nil},
		{"below another heading", "- [#3] The blue one\n\n## Notes\n\n  It goes to the cluster.", "- It goes to the cluster.\n", nil},
	} {
		text := carriedFrom(t, "## Critical Context\n\n"+c.previous+"\n") + "\n"
		require.Contains(t, text, c.text, c.name)
		for _, cite := range c.cites {
			requireLine(t, text, strings.TrimPrefix(c.text, "- "), cite)
		}
	}
}

// Quotes are read only in the section that has them.
func TestStatementsOfOtherSectionsAreNoQuotes(t *testing.T) {
	t.Parallel()
	text := carriedFrom(t, "## Constraints & Preferences\n\n- [#3] keepRows stays as it is in production.\n")
	require.Contains(t, below(text, "## Constraints & Preferences"), "- keepRows stays as it is in production. [#3]", text)
}

// Names of messages in a row that overlap have one citation of all, and rows are not too long.
func TestRowsOfNames(t *testing.T) {
	t.Parallel()
	text := carriedFrom(t, "## Critical Context\n- [#30 to #40] names: oldNameAlpha\n- [#5 to #45] names: oldNameBeta")
	require.Equal(t, []string{"> [#5 to #45] names: oldNameAlpha, oldNameBeta"}, evidenceOf(text), text)

	var names []string
	for i := range 80 {
		names = append(names, fmt.Sprintf("oldNameAlpha%d", i))
	}
	lines := evidenceOf(carriedFrom(t, "## Critical Context\n- [#5] names: "+strings.Join(names, ", ")))
	require.Greater(t, len(lines), 3)
	for _, line := range lines {
		require.Less(t, len(line), 300)
	}
	require.Equal(t, 80, strings.Count(strings.Join(lines, ""), "oldNameAlpha"))
}

// A citation that a quote has does not count as one of the summary, and a name that has one is left out.
func TestCitationsInQuotesAreEscaped(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Port the parser.")
	c.tool("read", `{"n":1}`, "keepRows of them is [#77] in these notes", false)
	text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 2000})
	require.Contains(t, text, `keepRows of them is [\#77] in these notes`)

	text = carriedFrom(t, "## Critical Context\n- [#5] names: \"the row [\\#78] of it\", keepRows")
	require.Equal(t, []string{"> [#5] names: keepRows"}, evidenceOf(text))
	require.Equal(t, []uint32{5}, summarizers.Citations(text))
}

// Where nothing is a secret, a check for secrets changes nothing.
func TestRedactionLeavesOtherQuotes(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Port the parser.")
	c.tool("read", `{"path":"export/pager.go"}`, strings.Repeat("words of a long line ", 20)+"limitOfRows is within it "+
		strings.Repeat("and words after ", 20)+"\nconst maxPageRows = 500 // of these\nx \"not a repository\"\ny loneName", false)
	c.says("I saw the key TOKEN=abcdefg.")
	for _, m := range c.log {
		m.Index += 10
	}
	previous := "## Critical Context\n- [#0] const earlierName = 7 of them\n- [#0] names: earlierOther"
	req := &summarizers.Request{Messages: c.log, PreviousSummary: previous, MaxTokens: 2000}
	want := evidenceOf(summarize(t, req))
	for _, name := range []string{"limitOfRows is within", "\n> const maxPageRows = 500", `"not a repository"`, "loneName", "earlierName = 7", "earlierOther"} {
		require.Contains(t, strings.Join(want, "\n"), name)
	}
	req.Redact = func(text string) string { return strings.ReplaceAll(text, "TOKEN=abcdefg", "[REDACTED]") }
	require.Equal(t, want, evidenceOf(summarize(t, req)))
}

// A name that is a secret was quoted alone because another name begins with it.
func TestSecretsThatOthersBeginWithAreNotQuoted(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Port the parser.")
	c.tool("read", `{"n":1}`, "KEY=secretRows\nand secretRowsOfAll is a name of it", false)
	c.tool("read", `{"n":1}`, "BEGIN\nthe next keyOfRows is in use\nEND", false)
	text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 2000, Redact: func(text string) string {
		text = strings.ReplaceAll(text, "KEY=secretRows\n", "KEY=[REDACTED]\n")
		return strings.ReplaceAll(text, "BEGIN\nthe next keyOfRows is in use\nEND", "[REDACTED]")
	}})
	require.Contains(t, text, "secretRowsOfAll")
	require.NotContains(t, strings.ReplaceAll(text, "secretRowsOfAll", ""), "secretRows")
	require.NotContains(t, text, "keyOfRows")
}

// Strings in arguments are quoted as the tool got them, and so are arguments that are not JSON.
func TestArgumentsAreQuoted(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		`{"env":{"note":"keepRecent is for these\/those rows"}}`: "keepRecent is for these/those rows",
		`{"env":{"note":"keepRecent is for \ud83d\ude00 rows"}}`: "keepRecent is for 😀 rows",
		`{"env":{"note":"keepRecent is for \"all\" rows"}}`:      `keepRecent is for "all" rows`,
		`{"all":[{"keyOfTheNote":"keepRecent is for the row"}]}`: "keepRecent is for the row",
		`keepRecent is for these rows`:                           "keepRecent is for these rows",
	} {
		var c conversation
		c.user("Port the parser.")
		c.tool("call", arguments, "ok", false)
		lines := strings.Join(evidenceOf(summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 2000})), "\n")
		require.Contains(t, lines, want)
		require.NotContains(t, lines, "keyOfTheNote")
	}
}

// What leading messages say is not quoted either.
func TestWhatLeadsIsNotQuoted(t *testing.T) {
	t.Parallel()
	c := conversationWithNames()
	lead := userMessage(0, "Mind that maxPageRows stands in export/limits.go:7.")
	text := summarize(t, &summarizers.Request{Messages: c.log, Lead: []*compactordv1.LoggedMessage{lead}, MaxTokens: 2000})
	require.Empty(t, evidenceOf(text), text)
}

// What a context block says is not quoted either.
func TestWhatABlockSaysIsNotQuoted(t *testing.T) {
	t.Parallel()
	c := conversationWithNames()
	block := userMessage(0, "Mind that maxPageRows stands in export/limits.go:7.").GetMessage()
	text := summarize(t, &summarizers.Request{Messages: c.log, Beside: []*compactordv1.Message{block}, MaxTokens: 2000})
	require.Empty(t, evidenceOf(text), text)
}

// What was said long ago gives way to what is new, in messages and in an earlier summary.
func TestNewNamesComeBeforeOldOnes(t *testing.T) {
	t.Parallel()
	names := func(word string) string {
		var all []string
		for i := range 80 {
			all = append(all, fmt.Sprintf("%sRows%d", word, 100+i))
		}
		return strings.Join(all, ", ")
	}
	var c conversation
	c.user("Port the parser.")
	c.tool("read", `{"n":1}`, names("old"), false)
	for range 600 {
		c.says("Go on.")
	}
	c.tool("read", `{"n":2}`, names("new"), false)
	for name, req := range map[string]*summarizers.Request{
		"messages":        {Messages: c.log, MaxTokens: 400},
		"earlier summary": {PreviousSummary: "## Critical Context\n- [#5] names: " + names("old") + "\n- [#605] names: " + names("new"), MaxTokens: 330},
	} {
		text := summarize(t, req)
		require.Greater(t, strings.Count(text, "newRows"), 20, name)
		require.Greater(t, strings.Count(text, "newRows"), 2*strings.Count(text, "oldRows"), "%s: %s", name, text)
	}
}

// What the statements of a summary name is not quoted beside them.
func TestStatementsAreNotQuotedAgain(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Never change maxPageRows in export/limits.go.")
	c.tool("read", `{"n":1}`, "maxPageRows\nexport/limits.go\notherRows", false)
	lines := strings.Join(evidenceOf(summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 2000})), "\n")
	require.Contains(t, lines, "otherRows")
	require.NotContains(t, lines, "maxPageRows")
	require.NotContains(t, lines, "export/limits.go")
}

// A quote below another stands there as it is, whatever it begins with, and is read back as it was. Only what would open a
// block of code is escaped.
func TestQuotesBelowAnotherNeedNoEscape(t *testing.T) {
	t.Parallel()
	for _, written := range []string{
		"- keepRows is 12", "2. dropRows is 9", "### keepRows of March", "**keepRows:** 12 of them", "<keepRows>", "(none) in keepRows",
		"\\```keepRows", `\\keepRows`, `- keepRows [\#4]`,
	} {
		once := carriedFrom(t, "## Critical Context\n- [#3] firstName = 5 of them\n  "+written+"\n")
		require.Equal(t, []string{"- [#3] firstName = 5 of them", "  " + written}, evidenceOf(once))
	}
}
