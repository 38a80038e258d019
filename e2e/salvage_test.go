package e2e_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A salvage for which there was no room left an empty file, which refused the next attempt.
func TestSalvageWithoutRoomLeavesNoFile(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell that limits the size of files")
	}
	folder := t.TempDir()
	store, salvaged := filepath.Join(folder, "store.db"), filepath.Join(folder, "salvaged.db")
	run := func(command string, args ...string) ([]byte, error) {
		return exec.CommandContext(t.Context(), command, args...).CombinedOutput()
	}
	out, err := run(compactord, "import", filepath.Join(repo, "examples/transcript/session.jsonl"), "--session", "s", "--store", store)
	require.NoError(t, err, string(out))
	out, err = run("sh", "-c", `ulimit -f 1; exec "$0" salvage "$1" "$2"`, compactord, store, salvaged)
	require.Error(t, err)
	require.NotContains(t, string(out), "exists already")
	require.NoFileExists(t, salvaged)
	out, err = run(compactord, "salvage", store, salvaged)
	require.NoError(t, err, string(out))
}
