package extractive_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	compactordv1 "github.com/compactord/compactord/proto/compactord/v1"
	"github.com/compactord/compactord/summarizers"
	"github.com/compactord/compactord/summarizers/extractive"
)

// A value that the user replaces is dropped from the quotes, though they are gathered in another goroutine.
func TestReplacedValueIsNotQuoted(t *testing.T) {
	t.Parallel()
	summary := written(t, extractive.New(), &summarizers.Request{MaxTokens: 1000, Messages: []*compactordv1.LoggedMessage{
		userMessage(0, "Port the parser to `parse.go`."),
		userMessage(1, "DEADLINE: ship `exportPager` on 2026-11-23"),
		assistantMessage(2, "I work on it."),
		userMessage(3, "DEADLINE: ship `exportPager` on 2026-12-01"),
	}})
	require.Contains(t, summary.Text, "2026-12-01")
	require.NotContains(t, summary.Text, "2026-11-23")
}
