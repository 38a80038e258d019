package gemini_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/gemini"
)

func TestWrittenAsItWasParsed(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		requireWritten(t, list(t, string(raw)), parse(t, string(raw)).Messages)
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			// Each content is also parsed alone: an agent sends only new ones.
			for _, content := range list(t, string(raw)).Messages {
				parsed, err := gemini.New().Parse(content)
				require.NoError(t, err)
				requireWritten(t, &dialect.List{Messages: []json.RawMessage{content}}, parsed.Messages)
			}
		})
	}
}
