package openaichat_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/openaichat"
)

func TestOneResultIsMovedToItsCall(t *testing.T) {
	t.Parallel()
	rendered := render(t, neutrals(t, neutralCall, neutralUser, neutralResult("a", ""), neutralResult("a", "")), dialect.RenderOptions{})
	require.Equal(t, []dialect.Span{{First: 0, End: 1}, {First: 2, End: 3}, {First: 1, End: 2}, {First: 3, End: 4}}, rendered.From)
}

func TestListsThatAreNotClosedAreRendered(t *testing.T) {
	t.Parallel()
	rendered := render(t, neutrals(t, neutralResult("x", ""), neutralCall, neutralUser, `{"role":"ROLE_TOOL"}`), dialect.RenderOptions{})
	require.Len(t, rendered.Messages, 4)
	var broken []string
	for _, v := range openaichat.New().Validate(&rendered.List, dialect.Request) {
		broken = append(broken, v.Rule)
	}
	require.Equal(t, []string{"openai_chat.results-follow-calls", "openai_chat.calls-answered", "openai_chat.call-id"}, broken)
}
