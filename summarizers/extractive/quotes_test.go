package extractive_test

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
)

// openLine is about as long as a line and has no final punctuation, so that the next line may continue it.
const openLine = "Always keep what the customers told us about the invoices in mind when you"

func assistantMessage(index uint32, text string) *compactordv1.LoggedMessage {
	return &compactordv1.LoggedMessage{Index: index, Tokens: chars4(text), Message: &compactordv1.Message{
		Role: compactordv1.Role_ROLE_ASSISTANT, Parts: []*compactordv1.Part{textPart(text)},
	}}
}

// A line with only the mark of a quotation caused a panic.
func TestBareQuoteAfterOpenLineIsRead(t *testing.T) {
	t.Parallel()
	for _, bare := range []string{">", "> ", ">>", "> > >", "   >", ">\r", ">\t", ">\u00a0"} {
		text := openLine + "\n" + bare + "\n> port the parser."
		for _, role := range []compactordv1.Role{
			compactordv1.Role_ROLE_USER, compactordv1.Role_ROLE_SYSTEM, compactordv1.Role_ROLE_DEVELOPER, compactordv1.Role_ROLE_ASSISTANT,
		} {
			m := userMessage(1, text)
			m.Message.Role = role
			req := &summarizers.Request{
				Messages: []*compactordv1.LoggedMessage{userMessage(0, "Port the parser."), m}, MaxTokens: 1000, Focus: text,
			}
			summarize(t, req)
			summarize(t, &summarizers.Request{Messages: req.Messages, Lead: req.Messages[1:], PreviousSummary: text, MaxTokens: 1000})
		}
	}
}

// An empty line separates paragraphs in a quotation as it does elsewhere.
func TestEmptyLineOfAQuotationPartsParagraphs(t *testing.T) {
	t.Parallel()
	text := "> Never change the wording of the notes that the customers can read\n>\n> and keep the port at 8080 in all the environments that we have."
	summary := summarize(t, &summarizers.Request{Messages: []*compactordv1.LoggedMessage{userMessage(0, text)}, MaxTokens: 2000})
	requireLine(t, summary, "- Never change the wording of the notes that the customers can read [#0]", 0)
}

// Code, headings and tables in a quotation were taken for prose.
func TestQuotedCodeIsNoStatement(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		"> ```go\n> // You must never call this from the outside of the package.\n> ```\n",
		"> ~~~\n> You must never call this from the outside of the package.\n",
		"> ## You must never call this from the outside of the package\n",
		"> | You must never call this | from the outside of the package |\n",
		"```\n> You must never call this from the outside of the package.\n> ```\nYou must never call this either from the outside.\n```\n",
	} {
		rules := rulesIn(t, code+"\nAlways run the linter before you commit anything.")
		require.NotContains(t, rules, "You must never call", code)
		require.Contains(t, rules, "- Always run the linter before you commit anything. [#1]", code)
	}
}

// rulesIn returns the constraints in the summary of a conversation with this user message.
func rulesIn(t *testing.T, text string) string {
	t.Helper()
	return below(summarize(t, &summarizers.Request{
		Messages:  []*compactordv1.LoggedMessage{userMessage(0, "Port the parser."), userMessage(1, text), userMessage(2, "Go on.")},
		MaxTokens: 2000,
	}), "Constraints & Preferences")
}

// Text in backquotes was listed among identifiers unchanged, with line ends and broken characters.
func TestIdentifiersAreOneLineOfText(t *testing.T) {
	t.Parallel()
	for _, broken := range []string{"src/a.go\r# Not a heading", "src/a.go\u2028x", "src/a.go \x00", "src/a.go \xf0\x9f", "src/a.go\tb"} {
		log := []*compactordv1.LoggedMessage{
			userMessage(0, "Look at these two: `"+broken+"` and `src/whole.go`"), assistantMessage(1, "I saw `"+broken+"` and `src/whole.go`"),
			userMessage(2, "Port the parser of the old tool now."),
		}
		text := summarize(t, &summarizers.Request{Messages: log, MaxTokens: 2000})
		require.True(t, utf8.ValidString(text))
		require.NotContains(t, text, broken)
		require.Contains(t, text, "src/whole.go")
	}
}
