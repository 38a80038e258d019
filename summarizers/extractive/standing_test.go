package extractive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the user wrote into a file for all sessions stays, whatever program adds it to a message and however.
func TestStandingInstructionsAreRead(t *testing.T) {
	t.Parallel()
	const task = "Enter the boats of today, and say which of them stay for longer than a week."
	rules := "## Boats\n\nThe office has two books.\n\n- Never enter a boat by its name.\n- Use ink, not pencil.\n- The clerk comes at nine.\n"
	want := []string{"- (system) Never enter a boat by its name. [#0]", "- (system) Use ink, not pencil. [#0]"}
	reminder := "<system-reminder>\nYou can use what follows:\n# claudeMd\nThe user's instructions are below. Follow these instructions always.\n\nContents of /harbour/CLAUDE.md:\n\n" + rules +
		"\nIMPORTANT: this context may be of no use. Never mention this context.\n</system-reminder>\n"
	for name, text := range map[string]string{
		"reminder":  reminder + task,
		"alone":     reminder,
		"user tags": "<user_instructions>\n" + rules + "</user_instructions>\n\n" + task,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c conversation
			c.user(text)
			c.says("I begin.")
			c.user("What does the crane cost?")
			require.Equal(t, want, strings.Split(below(c.summary(t, ""), rulesHeading), "\n"))
		})
	}
	var c conversation
	c.user("<system-reminder>\n# Boats\n\nThe list of the boats has changed. Never mention this to the clerk.\n</system-reminder>\n" + task)
	c.says("I begin.")
	require.Empty(t, below(c.summary(t, ""), rulesHeading), "what a program says of itself is no standing instruction")
}
