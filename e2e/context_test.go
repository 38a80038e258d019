package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage/anystore"
)

// TestContextExample compares the views that docs/context.md shows with those that the program prints. `go test ./e2e -run
// ContextExample -update` writes them.
func TestContextExample(t *testing.T) {
	const path = "docs/context.md"
	folder := t.TempDir()
	require.NoError(t, os.Symlink(compactord, filepath.Join(folder, "compactord")))
	addr := startDaemon(t, folder, "compactord serve --listen "+defaultAddress+" --store "+anystore.Place(t))
	cmd := exec.CommandContext(t.Context(), "go", "run", "./examples/context", "--addr", addr, "--session", "shop")
	cmd.Dir = repo
	out, err := cmd.Output()
	require.NoError(t, err)
	var views []string
	for view := range strings.SplitSeq("\n"+strings.TrimSpace(string(out)), "\n== ") {
		if _, lines, found := strings.Cut(view, "\n"); found {
			views = append(views, strings.TrimSpace(lines)+"\n")
		}
	}
	const fence = "```text\n"
	pieces := strings.Split(document(t, path), fence)
	require.Len(t, pieces, len(views)+1, "one view a block")
	for i, view := range views {
		shown, rest, found := strings.Cut(pieces[i+1], "```\n")
		require.True(t, found)
		if *update {
			pieces[i+1] = view + "```\n" + rest
			continue
		}
		require.Equal(t, view, shown, "`go test ./e2e -run %s -update` writes it", t.Name())
	}
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join(repo, path), []byte(strings.Join(pieces, fence)), 0o600))
	}
}
