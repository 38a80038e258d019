package e2e_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCompareExample compares the example of docs/compare.md with the program's output. `go test ./e2e -run
// CompareExample -update` writes it.
func TestCompareExample(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), compactord, "compare", "examples/transcript/session.jsonl", "--quiet")
	cmd.Dir = repo
	out, err := cmd.Output()
	require.NoError(t, err)
	generated(t, "docs/compare.md", "example", "```text\n"+string(out)+"```")
}
