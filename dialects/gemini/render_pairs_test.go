package gemini_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/gemini"
)

func TestResultsAnswerTheNewestCallWithTheirID(t *testing.T) {
	t.Parallel()
	r, err := gemini.New().Render(messages(t, say, callLs, say, callLs, resultLs), dialect.RenderOptions{})
	require.NoError(t, err)
	require.Len(t, r.Messages, 5)
	require.Contains(t, string(r.Messages[4]), `"id":"1_2"`)
	require.Equal(t, []dialect.Span{{First: 0, End: 1}, {First: 1, End: 2}, {First: 2, End: 3}, {First: 3, End: 4}, {First: 4, End: 5}}, r.From)
}
