//go:build unix

package sessions_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/cmd/compactord/internal/programtest"
	"github.com/compactord/compactord/cmd/compactord/internal/sample"
	"github.com/compactord/compactord/cmd/compactord/internal/terminal"
	"github.com/compactord/compactord/storage/anystore"
)

// Each command that opens the file of a store says so where other users can open it, except with -q.
func TestAStoreThatOthersCanOpenIsReported(t *testing.T) {
	store := anystore.File(t)
	programtest.Ran(t, "import", sample.TalkFile(t), "--session", "s", "--store", store).Ends(t, terminal.ExitDone)
	salvaged := filepath.Join(t.TempDir(), "salvaged.db")
	for _, args := range [][]string{
		{"check", "--store", store},
		{"view", "--session", "s", "--store", store},
		{"sessions", "--store", store},
		{"records", "--session", "s", "--store", store},
		{"search", "anything", "--session", "s", "--store", store},
		{"salvage", store, salvaged},
	} {
		const warning = "compactord: warning: other users can open the store"
		for _, mode := range []os.FileMode{0o600, 0o640, 0o644} {
			require.NoError(t, os.Chmod(store, mode))
			require.NoError(t, os.RemoveAll(salvaged))
			answer := programtest.Ran(t, args...)
			require.NotEqual(t, terminal.ExitUsage, answer.Code, "%s: %s", args, answer.Err)
			if mode == 0o600 {
				require.NotContains(t, answer.Err, warning, "%s", args)
			} else {
				require.Contains(t, answer.Err, warning, "%s", args)
			}
		}
	}
	programtest.Ran(t, "check", "--store", store, "-q").Ends(t, terminal.ExitDone)
	require.NotContains(t, programtest.Ran(t, "check", "--store", store, "-q").Err, "other users")
}
