package e2e_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/compactord/compactord/storage/anystore"
)

// freeAddress returns an address on which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, free.Close())
	return free.Addr().String()
}

// TestHTTPExample runs what README and docs/http.md show of curl, and compares the answers.
func TestHTTPExample(t *testing.T) {
	for path, sections := range map[string][]string{"docs/http.md": {"Calls", "OpenAPI"}, "README.md": {"With curl"}} {
		t.Run(path, func(t *testing.T) {
			var all []block
			for _, section := range sections {
				all = append(all, blocks(t, document(t, path), section)...)
			}
			runCurlExample(t, path, all)
		})
	}
}

// runCurlExample runs blocks of a document: one that starts the daemon, and those of its client, with their answers.
func runCurlExample(t *testing.T, path string, all []block) {
	t.Helper()
	needs(t, "bash", "curl", "grep", "head", "tail", "jq")
	const documented = "127.0.0.1:7442"
	web, folder := freeAddress(t), t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(repo, "examples"), filepath.Join(folder, "examples")))
	var script strings.Builder
	script.WriteString("set -euo pipefail\n")
	var shown []block
	for _, b := range all {
		switch b.info {
		case "sh daemon":
			require.Contains(t, b.text, "--http-listen "+documented)
			require.NoError(t, os.MkdirAll(filepath.Join(folder, "bin"), 0o750))
			require.NoError(t, os.Symlink(compactord, filepath.Join(folder, "bin", "compactord")))
			anystore.NeedsFile(t, "the document's command names a file")
			startDaemon(t, folder, strings.ReplaceAll(strings.TrimSpace(b.text), documented, web))
		case "sh client":
			script.WriteString(strings.ReplaceAll(b.text, documented, web) + "echo ---\n")
		case "text":
			shown = append(shown, b)
		default:
			t.Fatalf("%s:%d: a block of kind %q", path, b.line, b.info)
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script.String())
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	answers := strings.SplitAfter(string(out), "---\n")
	require.Len(t, answers, len(shown)+1)
	for i, b := range shown {
		require.Equal(t, b.text, strings.TrimSuffix(answers[i], "---\n"), "%s:%d", path, b.line)
	}
}
