package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestClientModelLoop compares the loop in docs/client-model.md with the example program. `go test ./e2e -run
// ClientModelLoop -update` writes it.
func TestClientModelLoop(t *testing.T) {
	_, loop, found := strings.Cut(document(t, "examples/clientmodel/compact.go"), "// model asks")
	require.True(t, found)
	generated(t, "docs/client-model.md", "loop", "```go\n// model asks"+strings.TrimRight(loop, "\n")+"\n```\n")
}
