package conversation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
)

func TestPlaceOfAMessageInItsFile(t *testing.T) {
	require.Equal(t, "position 7 of its source", (*Transcript)(nil).Place(7))
	for format, want := range map[string]string{"jsonl": "line 8", "pi": "entry 7", "json": "element 7"} {
		content := map[string]string{
			"jsonl": sample.Talk(1),
			"json":  "[" + strings.Join(strings.Split(strings.TrimSpace(sample.Talk(1)), "\n"), ",") + "]",
			"pi":    `{"type":"session","id":"x","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}`,
		}[format]
		read, err := parseTranscript("x", terminal.StandardInput, Reading{}, terminal.NewInput(t.Context(), strings.NewReader(content), nil), true)
		require.NoError(t, err)
		require.Equal(t, want, read.Place(7))
	}
}
