package extractive_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive/internal/planted"
)

// growing are budgets of which each is twice the one before.
var growing = []uint32{500, 1000, 2000, 4000, 8000}

// wordOf matches a word, with an apostrophe in it.
var wordOf = regexp.MustCompile(`[\p{L}\p{N}_'’]+`)

// wordsShown counts the words of each of the user's messages in the statements that cite it.
func wordsShown(log []*compactordv1.LoggedMessage, summary string) map[uint32]int {
	said := map[uint32]map[string]bool{}
	for _, m := range log {
		if m.GetMessage().GetRole() == compactordv1.Role_ROLE_USER {
			words := map[string]bool{}
			for _, p := range m.GetMessage().GetParts() {
				for _, w := range wordOf.FindAllString(p.GetText().GetText(), -1) {
					words[w] = true
				}
			}
			said[m.GetIndex()] = words
		}
	}
	shown := map[uint32]int{}
	for line := range strings.Lines(onOneLine(summary)) {
		text := strings.TrimSpace(line)
		at := strings.LastIndex(text, " [#")
		if at < 0 || strings.HasPrefix(text, "- [#") || !strings.HasSuffix(text, "]") {
			continue
		}
		for number := range strings.SplitSeq(strings.Trim(text[at:], " []"), ", ") {
			index, err := strconv.ParseUint(strings.TrimPrefix(number, "#"), 10, 32)
			if err != nil {
				continue
			}
			words := said[uint32(index)]
			for _, w := range wordOf.FindAllString(text[:at], -1) {
				if words[w] {
					shown[uint32(index)]++
					delete(words, w)
				}
			}
		}
	}
	return shown
}

// requireGrowing requires that a larger budget shows at least the words of the user's messages that a smaller one does.
func requireGrowing(t *testing.T, where string, log []*compactordv1.LoggedMessage) {
	t.Helper()
	lead, rest := splitLead(log)
	var before map[uint32]int
	for _, budget := range growing {
		shown := wordsShown(rest, summarize(t, &summarizers.Request{Lead: lead, Messages: rest, MaxTokens: budget}))
		for index, words := range before {
			require.GreaterOrEqual(t, shown[index], words, "%s: message %d with %d tokens", where, index, budget)
		}
		before = shown
	}
}

// A larger budget shows no less of what the user said. In recordings a few messages still break this: a narrative may be
// longer at a smaller budget, where no quotes are left, and a short rest of a message goes with the rule in it.
func TestALargerBudgetShowsNoLessOfTheUser(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		for name, lang := range languages {
			round := planted.Rounds(seed, lang, 1, oneRound)[0]
			requireGrowing(t, fmt.Sprintf("%s, seed %d", name, seed), round.Messages)
		}
		requireGrowing(t, fmt.Sprintf("sentences, seed %d", seed), chat(seed))
	}
}

// chat returns a conversation in which the user's messages have from one to thirty sentences, and code in some of them.
func chat(seed uint64) []*compactordv1.LoggedMessage {
	r := rand.New(rand.NewPCG(seed, 7))
	var c conversation
	for i := range 30 {
		var b strings.Builder
		for range 1 + r.IntN(1+r.IntN(30)) {
			fmt.Fprintf(&b, "Move file%d of module%d behind pager%d and count its rows. ", r.IntN(999), i, r.IntN(99))
			if r.IntN(6) == 0 {
				b.WriteString("\n```\n" + strings.Repeat(fmt.Sprintf("row%d := read(%d)\n", r.IntN(999), i), 1+r.IntN(20)) + "```\n")
			}
		}
		c.user(b.String())
		c.says(fmt.Sprintf("I moved the files of module%d and counted %d rows.", i, r.IntN(999)))
	}
	return c.log
}
