package inspect

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// large returns what a file would hold of a session with long texts.
func large() *held {
	long := strings.Repeat("ä", 100_000)
	h := &held{
		name: "session s", older: 3, Session: map[string]any{"session": map[string]any{"sessionId": "s"}},
		Log:      []any{map[string]any{"index": 0, "message": long}},
		Messages: []any{map[string]any{"only": "an earlier view" + long}, map[string]any{"index": 0, "message": long}},
		Views:    []heldView{{Messages: []int{1}}, {AsOf: new(uint32), Messages: []int{0, 1}}},
		Requests: map[string]*renderedRequest{"DIALECT_GEMINI": {Messages: []string{long}}},
	}
	h.describe(true, 2)
	return h
}

// A file that would be too large loses first what a daemon can make again, then the ends of long texts, and says so.
func TestWhatIsLeftOutToFit(t *testing.T) {
	empty, err := (&held{}).page(nil)
	require.NoError(t, err)
	least := len(empty)
	for _, test := range []struct {
		most    int
		without []string
	}{
		{least + 900_000, []string{"the views as of the oldest 3 points"}},
		{least + 700_000, []string{"the views as of the oldest 3 points", "the requests as JSON"}},
		{least + 500_000, []string{"the requests as JSON", "the views as of earlier points"}},
		{least + 300_000, []string{"the requests as JSON", "the views as of earlier points", "what texts have beyond their first 65,536 characters"}},
		{least + 3_000, []string{"the requests as JSON", "the views as of earlier points", "what texts have beyond their first 256 characters"}},
	} {
		page, leftOut, err := large().fit(test.most)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page), test.most)
		require.Equal(t, test.without, leftOut)
		for _, what := range leftOut {
			require.Contains(t, string(page), "Left out, since the file would be too large: "+what+".")
		}
		require.Equal(t, len(leftOut) < 2 || leftOut[1] != "the views as of earlier points", strings.Contains(string(page), "an earlier view"))
	}
	_, _, err = large().fit(1000)
	require.ErrorContains(t, err, "does not fit into a file of 1,000 bytes")
}

func TestCutTextsSayWhatIsLeftOut(t *testing.T) {
	require.Equal(t, "ää … [2 characters left out of this file]", shortenedText("ääää", 2))
	require.Equal(t, "ää … [1 character left out of this file]", shortenedText("äää", 2))
	require.Equal(t, "ää", shortenedText("ää", 2))
}
