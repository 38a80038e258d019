package extractive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive/evidence"
	"github.com/compactord/compactord/summarizers/extractive/internal/planted"
)

// evidenceOf returns the lines of the section with quotes that begin with a citation, and those that continue them.
func evidenceOf(text string) (lines []string) {
	quoting := false
	for line := range strings.Lines(below(text, "## Critical Context")) {
		line = strings.TrimRight(line, "\n")
		quoting = strings.HasPrefix(line, "- [#") || strings.HasPrefix(line, "> [#") || quoting && (strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "> "))
		if quoting {
			lines = append(lines, line)
		}
	}
	return lines
}

// conversationWithNames is the work on a file whose lines have names that no statement repeats.
func conversationWithNames() *conversation {
	var c conversation
	c.user("Add paging to the export.")
	c.tool("read", `{"path":"export/pager.go"}`, "  12→func pageOf(rows []Row, size int) []Row {\n  13→\tlimit := min(size, maxPageRows)\n  14→}", false)
	c.tool("grep", `{"pattern":"maxPageRows"}`, "export/limits.go:7: const maxPageRows = 500 // rows of one page\nREADME", false)
	c.runs("ls", "limits.go", false)
	c.says("I will look at the callers next.")
	return &c
}

func TestLinesWithNamesAreQuoted(t *testing.T) {
	t.Parallel()
	text := summarize(t, &summarizers.Request{Messages: conversationWithNames().log, MaxTokens: 2000})
	require.Equal(t, []string{
		"> [#2] limit := min(size, maxPageRows)",
		"> [#4] export/limits.go:7: const maxPageRows = 500 // rows of one page",
	}, evidenceOf(text), text)
}

func TestWhatIsKeptIsNotQuoted(t *testing.T) {
	t.Parallel()
	c := conversationWithNames()
	kept := userMessage(9, "Mind that maxPageRows stands in export/limits.go:7.")
	text := summarize(t, &summarizers.Request{Messages: c.log, Kept: []*compactordv1.LoggedMessage{kept}, MaxTokens: 2000})
	require.Empty(t, evidenceOf(text), text)
}

// A summary that quotes most of what it replaces is of no use.
func TestQuotesAreLessThanHalfOfWhatTheyReplace(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Port the parser.")
	for i := range 400 {
		c.says(fmt.Sprintf("parserState%d reads tokenKind%d in src/state%d.go", i, i, i))
	}
	all := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 4000})
	require.Greater(t, chars4(all), uint32(3800))
	half := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 4000, Replaces: 2000})
	require.LessOrEqual(t, chars4(half), uint32(1000))
	require.Greater(t, chars4(half), uint32(900))
}

// A secret that is cut in two is not recognized any more, so its parts must not be quoted.
func TestNoPartOfASecretIsQuoted(t *testing.T) {
	t.Parallel()
	secret := "BEGINKEY\n" + strings.Repeat("partOfKey4711Abc\n", 3) + "ENDKEY"
	var c conversation
	c.user("Port the parser.")
	c.tool("read", `{"path":"key.pem"}`, "keepThisName = 1 of these\n"+secret+"\nkeepThatName = 2 of these", false)
	req := &summarizers.Request{Messages: c.log, MaxTokens: 2000}
	require.Contains(t, summarize(t, req), "partOfKey4711Abc")
	req.Redact = func(text string) string { return strings.ReplaceAll(text, secret, "[REDACTED]") }
	text := summarize(t, req)
	require.NotContains(t, text, "partOfKey")
	require.Contains(t, text, "keepThisName = 1")
	require.Contains(t, text, "keepThatName = 2")
}

// A secret that only its key shows to be one was quoted without the key.
func TestSecretsUnderAKeyAreNotQuoted(t *testing.T) {
	t.Parallel()
	for arguments, secret := range map[string]string{
		`{"env":{"DB_PASSWORD":"s3cretPassw0rd_Value9"}}`:                "s3cretPassw0rd_Value9",
		`{"headers":{"Authorization":"Basic dXNlck5hbWU6cGFzc1dvcmQx"}}`: "dXNlck5hbWU6cGFzc1dvcmQx",
	} {
		for _, tool := range []string{"lookup", "call"} {
			var c conversation
			c.user("Port the parser.")
			c.tool(tool, arguments, "ok", false)
			req := &summarizers.Request{Messages: c.log, MaxTokens: 2000}
			text := summarize(t, req)
			require.Contains(t, text, secret)
			require.Equal(t, tool == "lookup", strings.Contains(strings.Join(evidenceOf(text), "\n"), secret), "an effect is told, and not quoted")
			req.Redact = func(text string) string {
				if strings.Contains(text, "PASSWORD") || strings.Contains(text, "Authorization") {
					return strings.ReplaceAll(text, secret, "[REDACTED]")
				}
				return text
			}
			require.NotContains(t, summarize(t, req), secret)
		}
	}
}

// Statements of another writer that begin with a citation were taken for quotes and dropped.
func TestStatementsThatBeginWithACitationStay(t *testing.T) {
	t.Parallel()
	previous := "## Constraints\n\n- [#3] Never touch the production database.\n- [#4, #5] Always ask before pushing\n" +
		"\n## Critical Context\n\n- [#7] Deploy goes to the blue cluster\n"
	text := summarize(t, &summarizers.Request{PreviousSummary: previous, MaxTokens: 2000})
	requireLine(t, text, "Never touch the production database.", 3)
	requireLine(t, text, "Always ask before pushing", 5)
	requireLine(t, text, "Deploy goes to the blue cluster", 7)
}

// Names of messages that are far apart are not in one row, and a row whose own ends are far apart stays.
func TestRowsOfNamesStay(t *testing.T) {
	t.Parallel()
	previous := "## Critical Context\n- [#5] names: oldNameAlpha\n- [#900] names: newNameBeta\n- [#901 to #1000] names: wideNameGamma, wideNameDelta"
	text := summarize(t, &summarizers.Request{PreviousSummary: previous, MaxTokens: 2000})
	require.Equal(t, []string{
		"> [#5] names: oldNameAlpha", "> [#900] names: newNameBeta", "> [#901 to #1000] names: wideNameGamma, wideNameDelta",
	}, evidenceOf(text), text)
}

// Quoted lines that look like a part of the summary are read back as they were.
func TestQuotesAreReadBack(t *testing.T) {
	t.Parallel()
	var c conversation
	c.user("Port the parser.")
	for _, line := range []string{"## Next steps of oneName", "- a list of twoNames [#7]", `\backslashName before it is`, "names: threeName is here now", "[#3] fourName is cited here"} {
		c.tool("read", `{"n":1}`, line+"\n"+line+" anotherName too", false)
	}
	text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 2000})
	for _, name := range []string{"oneName", "twoNames", "backslashName", "threeName", "fourName", "anotherName"} {
		require.Contains(t, text, name)
	}
	again := summarize(t, &summarizers.Request{PreviousSummary: text, MaxTokens: 2000})
	requireSameLines(t, text, again)
}

// Each name in the quotes of a summary stands in the message that the line cites.
func TestQuotesStandInTheConversation(t *testing.T) {
	t.Parallel()
	for name, lang := range languages {
		for seed := range uint64(5) {
			round := planted.Rounds(seed, lang, 1, oneRound)[0]
			var said strings.Builder
			for _, m := range round.Messages {
				for _, text := range textsOf(m) {
					said.WriteString(*text + "\n")
				}
				for _, p := range m.GetMessage().GetParts() {
					said.WriteString(p.GetToolCall().GetArguments() + "\n")
				}
			}
			whole := said.String()
			for _, line := range evidenceOf(summarize(t, &summarizers.Request{Messages: round.Messages, MaxTokens: 2000})) {
				if strings.Contains(line, " results of `") {
					continue
				}
				evidence.Names(line, func(n evidence.Name, _ int) { require.Contains(t, whole, n.Text, "%s: %s: %q", name, line, n.Text) })
			}
		}
	}
}
