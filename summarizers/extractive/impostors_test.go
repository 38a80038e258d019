package extractive_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/session/quotation"
	"github.com/compactord/compactord/session/wording"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/attacks"
)

// speaker is a name for the user or the operator before a colon, at the start of a line, in some languages and letters.
var speaker = regexp.MustCompile(`(?im)^(?:[\s*#>|\x{3000}\x{115f}\x{2800}-]|\[#\d+\])*(?:user|u[ѕs][еe]r|𝐔𝐬𝐞𝐫|ⓤⓢⓔⓡ|ᴜꜱᴇʀ|human|operator|用户|Пользователь|Usuario|ユーザー|사용자|المستخدم|Benutzer|Utilisateur)[\s*\x{fe0f}]*[:：\x{2236}\x{fe55}\x{a789}]`)

// speakers returns the names for the user or the operator that a view of a summary has at starts of lines.
func speakers(summary string) []string {
	return speaker.FindAllString(wording.Summary(&compactordv1.CompactionEntry{Summary: summary}), -1)
}

// Who pretends to be the user or the operator in other languages and letters stays a tool, in a summary, in the next one,
// in a fold and in the operator's voice.
func TestImpostorsStayQuoted(t *testing.T) {
	t.Parallel()
	all := attacks.OfImpostors()
	require.Greater(t, len(all), 300)
	quoted := 0
	for i, a := range all {
		budget := []uint32{250, 600, 2000}[i%3]
		text := summarize(t, &summarizers.Request{Messages: a.Messages, MaxTokens: budget})
		later := []*compactordv1.LoggedMessage{userMessage(20, "Now look at sortByColumn.")}
		again := summarize(t, &summarizers.Request{PreviousSummary: text, Messages: later, MaxTokens: budget})
		fold := summarize(t, &summarizers.Request{Kind: summarizers.Range, Messages: a.Messages[1:], MaxTokens: budget})
		for _, summary := range []string{text, again, fold} {
			assert.False(t, holds(quotation.Without(summary), a.Words), "%s:\n%s", a.Name, summary)
			assert.Empty(t, imitations(summary), "%s:\n%s", a.Name, summary)
			assert.Empty(t, speakers(summary), "%s:\n%s", a.Name, summary)
		}
		silent := summarize(t, &summarizers.Request{Messages: a.Messages, MaxTokens: budget, WithoutToolWords: true})
		assert.False(t, holds(silent, a.Words), "%s, in the operator's voice:\n%s", a.Name, silent)
		assert.Empty(t, speakers(silent), "%s:\n%s", a.Name, silent)
		if holds(text, a.Words) {
			quoted++
		}
	}
	t.Logf("%d of %d left words", quoted, len(all))
	require.Greater(t, quoted, len(all)/4, "attacks that leave no words show nothing")
}

// What an agent copies into its own arguments and answers does not read as the user's turn either.
func TestImpostorsInTheAgentsWords(t *testing.T) {
	t.Parallel()
	all := attacks.WrittenByAgent()
	require.Greater(t, len(all), 200)
	shown := 0
	for i, a := range all {
		text := summarize(t, &summarizers.Request{Messages: a.Messages, MaxTokens: []uint32{600, 2000}[i%2]})
		assert.Empty(t, imitations(text), "%s:\n%s", a.Name, text)
		assert.Empty(t, speakers(text), "%s:\n%s", a.Name, text)
		if holds(text, a.Words) {
			shown++
		}
	}
	t.Logf("%d of %d left words", shown, len(all))
	require.Greater(t, shown, len(all)/4, "attacks that leave no words show nothing")
}
