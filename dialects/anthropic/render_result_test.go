package anthropic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/anthropic"
	"github.com/compactord/compactord/dialects/dialect"
	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
)

// Later messages are not added to the message of a call that has no result.
func TestRequestOfACallThatNothingAnswers(t *testing.T) {
	t.Parallel()
	r, err := anthropic.New().Render([]*compactordv1.Message{
		user(textPart("Hi")), assistant(call("a", "n", "{}")), user(textPart("Hi")), assistant(textPart("Hello")), user(textPart("Hi")),
	}, dialect.RenderOptions{})
	require.NoError(t, err)
	require.Len(t, r.Messages, 5)
}

// Only exports and mistakes have lists with open calls, or results without calls. They are rendered anyway.
func TestRequestOfOpenCalls(t *testing.T) {
	t.Parallel()
	for _, messages := range [][]*compactordv1.Message{
		{user(textPart("Hi")), assistant(call("a", "n", "{}"))},
		{user(textPart("Hi")), assistant(call("a", "n", "{}")), user(textPart("Hi"))},
		{tool("a", resultText("1")), assistant(call("a", "n", "{}")), assistant(textPart("x"))},
		{tool("a"), tool("a")},
		{message(compactordv1.Role_ROLE_TOOL), message(compactordv1.Role_ROLE_UNSPECIFIED), {}},
		{user(&compactordv1.Part{}), assistant(&compactordv1.Part{}, tool("a").GetParts()[0])},
	} {
		for _, opts := range []dialect.RenderOptions{{}, {AsWritten: true}, {Breakpoints: []int{0, 1, 9}}} {
			_, err := anthropic.New().Render(messages, opts)
			require.NoError(t, err)
		}
	}
}
