package inspector_test

import (
	"flag"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "make the picture of the inspector in docs again")

// maxPicture is the size of the picture in bytes, which every clone has.
const maxPicture = 200_000

// The picture of the README can be made at any time, and is modest in size. Pixels differ from one browser to the next, so it
// is made again only with -update.
func TestScreenshotOfTheReadme(t *testing.T) {
	t.Parallel()
	shown := inspect(t, filepath.Join("..", "..", "examples", "transcript", "session.jsonl"), "--compact", "--context-window", "60000")
	made, kept := filepath.Join(t.TempDir(), "inspector.png"), filepath.Join("..", "..", "docs", "inspector.png")
	browse(t, "screenshot.mjs", map[string]any{"address": shown, "picture": made})
	if *update {
		content, err := os.ReadFile(made)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(kept, content, 0o644))
	}
	sizes := make(map[string][2]int)
	for _, path := range []string{made, kept} {
		file, err := os.Open(path)
		require.NoError(t, err)
		picture, err := png.DecodeConfig(file)
		require.NoError(t, err)
		info, err := file.Stat()
		require.NoError(t, err)
		require.Less(t, info.Size(), int64(maxPicture), path)
		require.NoError(t, file.Close())
		sizes[path] = [2]int{picture.Width, picture.Height}
	}
	require.Equal(t, sizes[made], sizes[kept])
}
