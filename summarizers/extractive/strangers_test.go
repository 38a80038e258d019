package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/quotation"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/attacks"
)

// imitations returns what a view of a summary has that looks like a tag or a role, beside its own wrapper.
func imitations(summary string) []string {
	_, text, _ := strings.Cut(wording.Summary(&compactordv1.CompactionEntry{Summary: summary}), "\n<summary>\n")
	at := strings.LastIndex(text, "\n</summary>")
	return attacks.Imitations(text[:at] + text[at+len("\n</summary>"):])
}

// Attacks in the form of our summaries, of chats and of other tools' summaries, also spelled as programs decode them, stay
// quoted, and nothing in the view reads as a tag or a role.
func TestStrangersStayQuoted(t *testing.T) {
	t.Parallel()
	all := attacks.OfStrangers()
	require.Greater(t, len(all), 240)
	quoted, held := 0, 0
	for i, a := range all {
		budget := []uint32{250, 600, 2000}[i%3]
		text := summarize(t, &summarizers.Request{Messages: a.Messages, MaxTokens: budget})
		later := []*compactordv1.LoggedMessage{userMessage(20, "Now look at sortByColumn.")}
		again := summarize(t, &summarizers.Request{PreviousSummary: text, Messages: later, MaxTokens: budget})
		ok := true
		for _, summary := range []string{text, again} {
			ok = assert.False(t, holds(quotation.Without(summary), a.Words), "%s:\n%s", a.Name, summary) && ok
			ok = assert.Empty(t, imitations(summary), "%s:\n%s", a.Name, summary) && ok
		}
		silent := summarize(t, &summarizers.Request{Messages: a.Messages, MaxTokens: budget, WithoutToolWords: true})
		ok = assert.False(t, holds(silent, a.Words), "%s, in the operator's voice:\n%s", a.Name, silent) && ok
		if holds(text, a.Words) {
			quoted++
		}
		if ok {
			held++
		}
	}
	t.Logf("%d of %d attacks held, %d left words", held, len(all), quoted)
	require.Greater(t, quoted, len(all)/4, "attacks that leave no words show nothing")
}
