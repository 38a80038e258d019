package extractive_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/summarizers"
)

// TestTheUsersWordsStayAsTheyAre: what the user said stands byte for byte in each digest of ten rounds, with whatever
// marks are in it.
func TestTheUsersWordsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	marks := []string{
		"**now**", "`a**b`", "**", "__x__", "[#3]", `[\#4]`, `\`, "- ", "* ", "1. ", "# ", "(answering: no)", "Request: ", "Last request: ", "[x] ", "→", "…", "“so”", "<b>", "|", "~~no~~", "(none)",
		"(replaces [#2])", "`src/a.go` modified", "**Path:**", "***", "5 * 3 ** 2", "日本語", "Asked and answered: ", "(that is: x)",
	}
	words := strings.Fields("parser grammar pages slowly ports shops index tables column export renders invoices")
	for seed := range uint64(200) {
		draw := rand.New(rand.NewPCG(seed, 17))
		said := []string{}
		var c conversation
		for round := range 10 {
			text := words[draw.IntN(len(words))]
			for range 3 + draw.IntN(8) {
				if draw.IntN(3) == 0 {
					text += " " + marks[draw.IntN(len(marks))]
				}
				text += " " + words[draw.IntN(len(words))]
			}
			if draw.IntN(3) == 0 {
				text = marks[draw.IntN(len(marks))] + text
			}
			text = strings.Join(strings.Fields(fmt.Sprintf("%s %d", text, round)), " ")
			said = append(said, text)
		}
		c.user(said[0])
		c.says("I look at it first.")
		text := summarize(t, &summarizers.Request{Messages: c.log, MaxTokens: 6000})
		for round := 1; round < len(said); round++ {
			from := len(c.log)
			c.user(said[round])
			c.tool("edit", `{"path":"a.go","oldText":"a","newText":"b"}`, "ok", false)
			c.says("I changed the file.")
			text = summarize(t, &summarizers.Request{Messages: c.log[from:], PreviousSummary: text, MaxTokens: 6000})
			for _, earlier := range said[:round+1] {
				require.Contains(t, unescaped(text), earlier, "seed %d, round %d:\n%s", seed, round, text)
			}
		}
	}
}

var (
	escapedCitation = regexp.MustCompile(`\[\\(\\*#)`)
	escapedOpening  = regexp.MustCompile(`(?m)^(- (?:[A-Z][a-z ]+: )?)?\\`)
)

// unescaped removes what protects a text from being read as a part of the summary.
func unescaped(summary string) string {
	return escapedOpening.ReplaceAllString(escapedCitation.ReplaceAllString(summary, "[$1"), "$1")
}
