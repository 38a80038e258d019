package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// evaluated returns what `compactord evaluate` prints.
func evaluated(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), compactord, append([]string{"evaluate", "--quiet"}, args...)...)
	cmd.Dir = repo
	out, err := cmd.Output()
	require.NoError(t, err)
	return "```text\n" + string(out) + "```"
}

// TestEvaluateExample compares the example of docs/evaluation.md with the program's output. `go test ./e2e -run
// EvaluateExample -update` writes it.
func TestEvaluateExample(t *testing.T) {
	generated(t, "docs/evaluation.md", "example", evaluated(t, "examples/transcript/session.jsonl"))
}

// TestEvaluationOnRecordings writes the figures of recorded conversations into docs/evaluation.md. It takes minutes, so
// that it only runs with -update.
func TestEvaluationOnRecordings(t *testing.T) {
	if !*update {
		t.Skip("the figures of recordings are measured only with -update")
	}
	folder := os.Getenv("COMPACTORD_CORPUS")
	if folder == "" {
		folder = filepath.Join(repo, "..", "shared", "corpus")
	}
	if _, err := os.Stat(folder); err != nil {
		t.Skip("no recorded conversations: COMPACTORD_CORPUS names their folder")
	}
	folder, err := filepath.Abs(folder)
	require.NoError(t, err)
	generated(t, "docs/evaluation.md", "recordings", evaluated(t, "--figures-only", folder))
}
