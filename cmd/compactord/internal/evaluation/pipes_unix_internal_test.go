//go:build unix

package evaluation

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A pipe in a folder is no transcript: to read it would wait for ever.
func TestPipesInFoldersAreNotRead(t *testing.T) {
	folder := t.TempDir()
	talk := filepath.Join(folder, "talk.jsonl")
	require.NoError(t, os.WriteFile(talk, []byte("{}\n"), 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(folder, "pipe.jsonl"), 0o600))
	files, err := transcriptsIn([]string{folder})
	require.NoError(t, err)
	require.Equal(t, []string{talk}, files)
}
