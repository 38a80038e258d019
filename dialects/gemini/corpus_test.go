package gemini_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/dialects/dialecttest"
	"github.com/compactord/compactord/dialects/gemini"
	"github.com/compactord/compactord/dialects/transcript"
)

// corpus returns the folder of recorded transcripts, which is not part of the repository.
func corpus(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("COMPACTORD_CORPUS")
	if dir != "" {
		require.DirExists(t, dir, "COMPACTORD_CORPUS")
		return dir
	}
	dir = filepath.Join("..", "..", "..", "shared", "corpus")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the corpus of recorded transcripts is not here; set COMPACTORD_CORPUS to its folder")
	}
	return dir
}

func TestRecordings(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join(corpus(t), "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			f, err := os.Open(path)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, f.Close()) })
			r, err := transcript.Open(f)
			require.NoError(t, err)
			recorded, err := r.ReadAll()
			require.NoError(t, err)
			require.NotEmpty(t, recorded)

			rendered := dialecttest.RequireRendered(t, gemini.New(), dialecttest.ViewOf(recorded))
			parsed, err := gemini.New().Parse(gemini.New().Document(&rendered.List))
			require.NoError(t, err)
			again := dialecttest.RequireRendered(t, gemini.New(), parsed.Messages)
			dialecttest.RequireSame(t, gemini.New(), &rendered.List, &again.List)
		})
	}
}
