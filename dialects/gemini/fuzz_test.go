package gemini_test

import (
	"os"
	"path/filepath"
	"testing"

	"buf.build/go/protovalidate"
	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialect"
	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/gemini"
	"github.com/compactord/compactord/dialects/internal/rawjson"
)

// FuzzParse parses any input without a panic. What is accepted is exported unchanged, and can go into a request.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.json")
	require.NoError(f, err)
	require.NotEmpty(f, paths)
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(raw)
	}
	for _, c := range ruleCases {
		f.Add([]byte(c.broken))
		f.Add([]byte(c.kept))
	}
	f.Add([]byte(`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1e3}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d := gemini.New()
		split, err := d.Split(raw)
		if err == nil {
			d.Validate(split, dialect.Request)
			d.Validate(split, dialect.History)
		}
		parsed, err := d.Parse(raw)
		if err != nil {
			return
		}
		for _, m := range parsed.Messages {
			require.NoError(t, protovalidate.Validate(m))
		}
		written, err := d.Render(parsed.Messages, dialect.RenderOptions{AsWritten: true})
		require.NoError(t, err)
		require.True(t, rawjson.Equal(d.Document(split), d.Document(&written.List)), "%s\n%s", d.Document(split), d.Document(&written.List))
		dialecttest.RequireRendered(t, d, dialecttest.ViewOf(parsed.Messages))
	})
}
